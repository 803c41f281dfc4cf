import { type OracleSymbol, oraclePair } from "@sluice/contract/oracle";
import { jsonText, WrittenJson } from "../model/json.ts";
import { isoTime, type Quotation } from "../model/quotation.ts";
import type { NoPrice, PriceStore, Served } from "../store/price-store.ts";
import { OracleError } from "./oracle-error.ts";
import type { OracleRequest } from "./route.ts";

/** Sources send again within seconds; an earlier request would get the same answer. */
const unavailableRetrySeconds = 5;

/** The text and the details of a symbol without a price: the age of the last good price, never that price. */
export function unavailableFacts(none: NoPrice, request: Pick<OracleRequest, "variant" | "nowMs">) {
  const { last, reason } = none;
  const symbol = request.variant === "v1" ? none.symbol : oraclePair(none.symbol);
  return {
    message: `There is no price of ${symbol} that enough sources agree on`,
    details: {
      symbol,
      reason,
      last_price_at: last === null ? null : isoTime(last.atMs),
      last_price_age_seconds: last === null ? null : Math.max(0, Math.round((request.nowMs - last.atMs) / 1_000)),
    },
  };
}

const unavailable = (none: NoPrice, request: OracleRequest): OracleError =>
  new OracleError("PRICE_UNAVAILABLE", {
    ...unavailableFacts(none, request),
    retryAfterSeconds: unavailableRetrySeconds,
  });

/**
 * The record of one symbol in the form of the variant.
 * @throws {OracleError} PRICE_UNAVAILABLE
 */
export function onePrice(priceStore: PriceStore, request: OracleRequest, symbol: OracleSymbol): string {
  const served = priceStore.served(symbol, request.terms.updateFrequencySeconds);
  if (served.kind === "none") throw unavailable(served, request);
  return textOf(served.quotation, request);
}

const textOf = (quotation: Quotation, { variant }: Pick<OracleRequest, "variant">): string =>
  variant === "v1" ? quotation.record : quotation.pair;

/** Prices of several symbols, and the symbols without one. */
export interface SeveralPrices {
  readonly records: readonly WrittenJson[];
  readonly quotations: readonly Quotation[];
  readonly missing: readonly NoPrice[];
}

/**
 * As `severalPrices`, for answers that need at least one price.
 * @throws {OracleError} PRICE_UNAVAILABLE when no symbol has a price
 */
export function requiredPrices(
  priceStore: PriceStore,
  request: OracleRequest,
  symbols: readonly OracleSymbol[],
): SeveralPrices {
  const found = severalPrices(priceStore, request, symbols);
  const [first] = found.missing;
  if (found.records.length === 0 && first !== undefined) throw unavailable(first, request);
  return found;
}

export function severalPrices(
  priceStore: PriceStore,
  request: OracleRequest,
  symbols: readonly OracleSymbol[],
): SeveralPrices {
  const served = symbols.map((symbol): Served => priceStore.served(symbol, request.terms.updateFrequencySeconds));
  const quotations = served.flatMap((one) => (one.kind === "price" ? [one.quotation] : []));
  return {
    quotations,
    records: quotations.map((quotation) => new WrittenJson(textOf(quotation, request))),
    missing: served.flatMap((one) => (one.kind === "none" ? [one] : [])),
  };
}

/**
 * The members of an answer that name the missing prices, so that they are not taken for symbols that were not
 * requested.
 */
export function missingMembers(
  prices: SeveralPrices,
  request: OracleRequest,
): { unavailable?: readonly WrittenJson[] } {
  if (prices.missing.length === 0) return {};
  const missing = prices.missing.map((none) => new WrittenJson(jsonText(unavailableFacts(none, request).details)));
  return { unavailable: missing };
}

const dayMs = 86_400_000;

/** @throws {OracleError} INSUFFICIENT_TIER when the span is longer than the history of the tier */
export function requireRetention({ terms }: OracleRequest, spanMs: number): void {
  const days = terms.historyRetentionDays;
  if (days === null || spanMs <= days * dayMs) return;
  throw new OracleError("INSUFFICIENT_TIER", {
    message: `${terms.name} sees ${days === 1 ? "1 day" : `${days} days`} of history`,
    details: { tier: terms.name, history_retention_days: days },
  });
}
