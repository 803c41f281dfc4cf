import { type OracleSymbol, oraclePair } from "@sluice/contract/oracle";
import { jsonText, WrittenJson } from "../model/json.ts";
import { isoTime, type Quotation } from "../model/quotation.ts";
import type { NoPrice, PriceStore, Served } from "../store/price-store.ts";
import { OracleFailure } from "./failure.ts";
import type { OracleRequest, Outcome } from "./route.ts";

/** Sources speak again within seconds; asking sooner would find the same. */
const unavailableRetrySeconds = 5;

/** A symbol without a price, with how old the last good one is; the price itself is not repeated. */
export function unavailable(none: NoPrice, request: Pick<OracleRequest, "variant" | "nowMs">): OracleFailure {
  const { last, reason } = none;
  const symbol = request.variant === "v1" ? none.symbol : oraclePair(none.symbol);
  return new OracleFailure("PRICE_UNAVAILABLE", {
    message: `There is no price of ${symbol} that enough sources agree on`,
    details: {
      symbol,
      reason,
      last_price_at: last === null ? null : isoTime(last.atMs),
      last_price_age_seconds: last === null ? null : Math.max(0, Math.round((request.nowMs - last.atMs) / 1_000)),
    },
    retryAfterSeconds: unavailableRetrySeconds,
  });
}

/** The record of one symbol in the form of the variant. */
export function onePrice(book: PriceStore, request: OracleRequest, symbol: OracleSymbol): Outcome {
  const served = book.served(symbol, request.terms.updateFrequencySeconds);
  if (served.kind === "none") return unavailable(served, request);
  return textOf(served.quotation, request);
}

const textOf = (quotation: Quotation, { variant }: Pick<OracleRequest, "variant">): string =>
  variant === "v1" ? quotation.record : quotation.pair;

/** Prices of several symbols: those there are, and by name those there are none of. */
export interface SeveralPrices {
  readonly records: readonly WrittenJson[];
  readonly quotations: readonly Quotation[];
  readonly missing: readonly NoPrice[];
}

export function severalPrices(
  book: PriceStore,
  request: OracleRequest,
  symbols: readonly OracleSymbol[],
): SeveralPrices {
  const served = symbols.map((symbol): Served => book.served(symbol, request.terms.updateFrequencySeconds));
  const quotations = served.flatMap((one) => (one.kind === "price" ? [one.quotation] : []));
  return {
    quotations,
    records: quotations.map((quotation) => new WrittenJson(textOf(quotation, request))),
    missing: served.flatMap((one) => (one.kind === "none" ? [one] : [])),
  };
}

/**
 * Members that an answer has beside the prices when some are missing: silence about them would read as if they had not
 * been asked for.
 */
export function missingMembers(
  prices: SeveralPrices,
  request: OracleRequest,
): { unavailable?: readonly WrittenJson[] } {
  if (prices.missing.length === 0) return {};
  const told = prices.missing.map((none) => new WrittenJson(jsonText(unavailable(none, request).details)));
  return { unavailable: told };
}

const dayMs = 86_400_000;

/** Refuses what reaches further back than the tier's history does. */
export function beyondRetention({ terms }: OracleRequest, spanMs: number): OracleFailure | null {
  const days = terms.historyRetentionDays;
  if (days === null || spanMs <= days * dayMs) return null;
  return new OracleFailure("INSUFFICIENT_TIER", {
    message: `${terms.name} sees ${days === 1 ? "1 day" : `${days} days`} of history`,
    details: { tier: terms.name, history_retention_days: days },
  });
}
