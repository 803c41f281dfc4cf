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
import { echoed, pairNamed, symbolNamed } from "../model/symbol-text.ts";
import { OracleError, type Variant } from "./oracle-error.ts";

const supported: Readonly<Record<Variant, readonly string[]>> = {
  v1: oracleSymbols,
  v2: oracleSymbols.map(oraclePair),
};

const invalid = (parameter: string, expected: string): OracleError =>
  new OracleError("INVALID_PARAMETER", {
    message: `${parameter} must be ${expected}`,
    details: { parameter, expected },
  });

/**
 * A symbol in the variant's own form (BTC, or BTC-USD), in any letter case.
 * @throws {OracleError} INVALID_SYMBOL
 */
export function readSymbol(text: string, variant: Variant): OracleSymbol {
  const symbol = variant === "v1" ? symbolNamed(text) : pairNamed(text);
  if (symbol !== undefined) return symbol;
  const shown = echoed(text);
  throw new OracleError("INVALID_SYMBOL", {
    message: `The symbol ${shown} is not supported`,
    details: { symbol: shown, supported: supported[variant] },
  });
}

/**
 * The parameter of a path, decoded; `pattern` has its name.
 * @throws {OracleError} INVALID_PARAMETER when it is no percent-encoded UTF-8
 */
export function decodedParameter(pattern: string, parameter: string): string {
  if (!parameter.includes("%")) return parameter;
  try {
    return decodeURIComponent(parameter);
  } catch {
    throw invalid(/:(\w+)/.exec(pattern)?.[1] ?? "path", "percent-encoded UTF-8");
  }
}

/** The query of a request, each parameter at most once. Unknown parameters are ignored. */
export class Query {
  readonly #url: string;
  #values: URLSearchParams | null = null;

  constructor(url: string) {
    this.#url = url;
  }

  /** @throws {OracleError} INVALID_PARAMETER when the parameter occurs more than once */
  text(name: string): string | null {
    const start = this.#url.indexOf("?");
    if (start < 0) return null;
    this.#values ??= new URLSearchParams(this.#url.slice(start + 1));
    const [value, ...others] = this.#values.getAll(name);
    if (others.length > 0) throw invalid(name, "given once");
    return value ?? null;
  }
}

/**
 * A whole number within bounds; the default where the parameter is absent.
 * @throws {OracleError} INVALID_PARAMETER
 */
export function readWhole(
  query: Query,
  name: string,
  bounds: { readonly preset: number; readonly max: number },
): number {
  const text = query.text(name);
  if (text === null) return bounds.preset;
  const value = /^\d{1,6}$/.test(text) ? Number(text) : 0;
  if (value < 1 || value > bounds.max) throw invalid(name, `a whole number from 1 to ${bounds.max}`);
  return value;
}

/**
 * `symbols`: 1 to 50 of them, separated by commas. A repeated one is answered once, in its first place.
 * @throws {OracleError} INVALID_PARAMETER, TOO_MANY_SYMBOLS, INVALID_SYMBOL
 */
export function readSymbols(query: Query, variant: Variant): readonly OracleSymbol[] {
  const text = query.text("symbols");
  if (text === null || text.trim() === "") throw invalid("symbols", "symbols separated by commas");
  const items = text.split(",", oracleBounds.symbolsMax + 1).map((item) => item.trim());
  if (items.length > oracleBounds.symbolsMax) {
    throw new OracleError("TOO_MANY_SYMBOLS", {
      message: `At most ${oracleBounds.symbolsMax} symbols can be asked for at once`,
      details: { max: oracleBounds.symbolsMax },
    });
  }
  if (items.includes("")) throw invalid("symbols", "symbols separated by commas, none of them empty");
  return [...new Set(items.map((item) => readSymbol(item, variant)))];
}

const isPeriod = (text: string): text is OraclePeriod => Object.hasOwn(oraclePeriods, text);
const isInterval = (text: string): text is OracleInterval => Object.hasOwn(oracleIntervals, text);

/** @throws {OracleError} INVALID_PARAMETER */
export function readPeriod(query: Query): OraclePeriod {
  const text = query.text("period") ?? oraclePeriodDefault;
  if (!isPeriod(text)) throw invalid("period", `one of ${Object.keys(oraclePeriods).join(", ")}`);
  return text;
}

/** @throws {OracleError} INVALID_PARAMETER */
export function readInterval(query: Query): OracleInterval {
  const text = query.text("interval") ?? oracleIntervalDefault;
  if (!isInterval(text)) throw invalid("interval", `one of ${Object.keys(oracleIntervals).join(", ")}`);
  return text;
}
