import {
  type OracleInterval,
  type OraclePeriod,
  type OracleSymbol,
  oracleBounds,
  oracleIntervalDefault,
  oracleIntervals,
  oraclePair,
  oraclePeriodDefault,
  oraclePeriods,
  oracleSymbols,
} from "@sluice/contract/oracle";
import { OracleFailure, type Variant } from "./failure.ts";

/** More of what a caller sent is not repeated to him. */
const echoMax = 32;
const bySymbol: ReadonlyMap<string, OracleSymbol> = new Map(oracleSymbols.map((symbol) => [symbol, symbol]));
const byPair: ReadonlyMap<string, OracleSymbol> = new Map(oracleSymbols.map((symbol) => [oraclePair(symbol), symbol]));
const supported: Readonly<Record<Variant, readonly string[]>> = {
  v1: oracleSymbols,
  v2: oracleSymbols.map(oraclePair),
};

const invalid = (parameter: string, expected: string): OracleFailure =>
  new OracleFailure("INVALID_PARAMETER", {
    message: `${parameter} must be ${expected}`,
    details: { parameter, expected },
  });

/** A symbol in the variant's own form (BTC, or BTC-USD), in any letter case. */
export function readSymbol(text: string, variant: Variant): OracleSymbol | OracleFailure {
  const symbol = (variant === "v1" ? bySymbol : byPair).get(text.toUpperCase());
  if (symbol !== undefined) return symbol;
  const shown = text.slice(0, echoMax);
  return new OracleFailure("INVALID_SYMBOL", {
    message: `The symbol ${shown} is not supported`,
    details: { symbol: shown, supported: supported[variant] },
  });
}

/** The query of a request, each parameter at most once. Parameters that nobody asks for are ignored. */
export class Query {
  readonly #url: string;
  #values: URLSearchParams | null = null;

  constructor(url: string) {
    this.#url = url;
  }

  text(name: string): string | null | OracleFailure {
    const start = this.#url.indexOf("?");
    if (start < 0) return null;
    this.#values ??= new URLSearchParams(this.#url.slice(start + 1));
    const given = this.#values.getAll(name);
    if (given.length > 1) return invalid(name, "given once");
    return given[0] ?? null;
  }
}

/** A whole number within bounds; the default where the parameter is absent. */
export function readWhole(
  query: Query,
  name: string,
  bounds: { readonly preset: number; readonly max: number },
): number | OracleFailure {
  const text = query.text(name);
  if (text === null) return bounds.preset;
  if (text instanceof OracleFailure) return text;
  const value = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  return value >= 1 && value <= bounds.max ? value : invalid(name, `a whole number from 1 to ${bounds.max}`);
}

/** `symbols`: 1 to 50 of them, separated by commas. One that is named twice is answered once, in its first place. */
export function readSymbols(query: Query, variant: Variant): readonly OracleSymbol[] | OracleFailure {
  const text = query.text("symbols");
  if (text instanceof OracleFailure) return text;
  if (text === null || text.trim() === "") return invalid("symbols", "symbols separated by commas");
  const items = text.split(",", oracleBounds.symbolsMax + 1).map((item) => item.trim());
  if (items.length > oracleBounds.symbolsMax) {
    return new OracleFailure("TOO_MANY_SYMBOLS", {
      message: `At most ${oracleBounds.symbolsMax} symbols can be asked for at once`,
      details: { max: oracleBounds.symbolsMax },
    });
  }
  if (items.includes("")) return invalid("symbols", "symbols separated by commas, none of them empty");
  const symbols = new Set<OracleSymbol>();
  for (const item of items) {
    const symbol = readSymbol(item, variant);
    if (symbol instanceof OracleFailure) return symbol;
    symbols.add(symbol);
  }
  return [...symbols];
}

const isPeriod = (text: string): text is OraclePeriod => Object.hasOwn(oraclePeriods, text);
const isInterval = (text: string): text is OracleInterval => Object.hasOwn(oracleIntervals, text);

export function readPeriod(query: Query): OraclePeriod | OracleFailure {
  const text = query.text("period") ?? oraclePeriodDefault;
  if (text instanceof OracleFailure) return text;
  return isPeriod(text) ? text : invalid("period", `one of ${Object.keys(oraclePeriods).join(", ")}`);
}

export function readInterval(query: Query): OracleInterval | OracleFailure {
  const text = query.text("interval") ?? oracleIntervalDefault;
  if (text instanceof OracleFailure) return text;
  return isInterval(text) ? text : invalid("interval", `one of ${Object.keys(oracleIntervals).join(", ")}`);
}
