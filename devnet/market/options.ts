import { parseArgs } from "node:util";
import { marketAssets } from "./model/assets.ts";
import { exchangeIds } from "./model/listings.ts";

export interface MarketOptions {
  readonly host: string;
  /** Of the first exchange; the others follow it. 0 takes free ports. */
  readonly port: number;
  readonly adminPort: number;
  /** Any text: every price and trade of every day follows from it. */
  readonly seed: string;
  /** Interval of updates to listeners; 0 leaves them to the owner of the market. */
  readonly tickMs: number;
  /** Base assets that are listed. */
  readonly symbols: readonly string[];
  /** Whether the exchanges' request limits hold. */
  readonly limits: boolean;
}

const assetSymbols: readonly string[] = marketAssets.map((asset) => asset.symbol);

export const defaultOptions: MarketOptions = {
  host: "127.0.0.1",
  port: 0,
  adminPort: 0,
  seed: "sluice",
  tickMs: 1_000,
  symbols: assetSymbols,
  limits: true,
};

export type ParsedCommandLine =
  | { readonly ok: true; readonly options: MarketOptions; readonly exitWithParent: boolean }
  | { readonly ok: false; readonly faults: readonly string[] };

/** Reads the command line; all faults are reported at once. */
export function parseCommandLine(argv: readonly string[]): ParsedCommandLine {
  const text = { type: "string" } as const;
  const flag = { type: "boolean" } as const;
  let values: ReturnType<typeof read>;
  const read = (args: string[]) =>
    parseArgs({
      args,
      options: {
        ...{ host: text, port: text, "admin-port": text, seed: text, "tick-ms": text, symbols: text },
        ...{ "no-limits": flag, "exit-with-parent": flag },
      },
      strict: true,
    }).values;
  try {
    values = read([...argv]);
  } catch (error) {
    return { ok: false, faults: [error instanceof Error ? error.message : String(error)] };
  }
  const faults: string[] = [];
  const whole = (name: "port" | "admin-port" | "tick-ms", highest: number, otherwise: number): number => {
    const value = values[name];
    if (value === undefined) return otherwise;
    if (/^\d{1,6}$/.test(value) && Number(value) <= highest) return Number(value);
    faults.push(`--${name} must be a whole number from 0 to ${highest}`);
    return otherwise;
  };
  const symbols = values.symbols?.split(",") ?? assetSymbols;
  const unknown = symbols.filter((symbol) => !assetSymbols.includes(symbol));
  if (unknown.length > 0) faults.push(`--symbols knows no ${unknown.join(", ")}; there are ${assetSymbols.join(", ")}`);
  const options: MarketOptions = {
    host: values.host ?? defaultOptions.host,
    port: whole("port", 65_536 - exchangeIds.length, defaultOptions.port),
    adminPort: whole("admin-port", 65_535, defaultOptions.adminPort),
    seed: values.seed ?? defaultOptions.seed,
    tickMs: whole("tick-ms", 60_000, defaultOptions.tickMs),
    symbols,
    limits: values["no-limits"] !== true,
  };
  if (faults.length > 0) return { ok: false, faults };
  return { ok: true, options, exitWithParent: values["exit-with-parent"] === true };
}
