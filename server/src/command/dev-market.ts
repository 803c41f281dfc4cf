import { fileURLToPath } from "node:url";
import type { Clock, Log, Random } from "@sluice/lib";
import { freePortRange } from "../net/index.ts";
import { type SupervisedChild, superviseChild } from "../processes/index.ts";

/** Where the development market's exchanges answer, by their ids. */
export interface MarketAddress {
  readonly exchanges: Readonly<Record<string, { readonly rest: string; readonly ws: string }>>;
  /** Where faults are set: one of them is `POST <admin>/faults`. */
  readonly admin: string;
}

const entry = fileURLToPath(new URL("../../../devnet/market/main.ts", import.meta.url));
/** The exchanges listen on as many consecutive ports, and the administration on one more. */
const exchangePorts = 8;

/**
 * Starts the development market as a child: eight exchanges that agree within their spreads. Its ports are chosen once,
 * so that a market that is started again is found where the one before was.
 */
export async function startDevMarket(dependencies: {
  clock: Clock;
  random: Random;
  log: Pick<Log, "info" | "warn">;
}): Promise<SupervisedChild<MarketAddress>> {
  const first = await freePortRange(exchangePorts + 1);
  const ports = ["--port", String(first), "--admin-port", String(first + exchangePorts)];
  return await superviseChild<MarketAddress>(
    {
      name: "market",
      command: [process.execPath, entry, "--exit-with-parent", ...ports],
      env: {},
      readReady: readMarketReady,
      readyTimeoutMs: 30_000,
      stopTimeoutMs: 3_000,
    },
    dependencies,
  );
}

function readMarketReady(line: string): MarketAddress | null {
  if (!line.startsWith("{")) return null;
  const said: { ready?: unknown; exchanges?: unknown; admin?: unknown } = JSON.parse(line);
  if (
    said.ready !== true ||
    typeof said.admin !== "string" ||
    typeof said.exchanges !== "object" ||
    said.exchanges === null
  )
    return null;
  const exchanges: Record<string, { rest: string; ws: string }> = {};
  for (const [id, address] of Object.entries<{ rest?: unknown; ws?: unknown }>({ ...said.exchanges })) {
    if (typeof address.rest === "string" && typeof address.ws === "string") {
      exchanges[id] = { rest: address.rest, ws: address.ws };
    }
  }
  return { exchanges, admin: said.admin };
}
