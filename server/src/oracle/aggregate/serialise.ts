import { type Decimal, formatDecimal } from "../decimal.ts";
import type { Round } from "../round.ts";
import type { Input } from "./input.ts";

/**
 * One line of JSON for a round or an input, its members in one fixed order and its decimals as text: what two runs over
 * the same inputs are compared by, and what a ledger may keep.
 */
export function serialiseRound(round: Round): string {
  if (round.kind === "refused") {
    const { kind, symbol, atMs, reason, sources } = round;
    return JSON.stringify({ kind, symbol, atMs, reason, sources });
  }
  return JSON.stringify({
    kind: round.kind,
    symbol: round.symbol,
    atMs: round.atMs,
    price: formatDecimal(round.price),
    confidence: formatDecimal(round.confidence),
    band: formatDecimal(round.band),
    sources: round.sources.map(({ source, price, weight, asOfMs }) => ({
      source,
      price: formatDecimal(price),
      weight: formatDecimal(weight),
      asOfMs,
    })),
    volume24h: formatDecimal(round.volume24h),
    change24h: textOf(round.change24h),
    high24h: textOf(round.high24h),
    low24h: textOf(round.low24h),
  });
}

export function serialiseInput(input: Input): string {
  if (input.kind === "time") return JSON.stringify({ kind: input.kind, atMs: input.atMs });
  const { tick } = input;
  return JSON.stringify({
    kind: input.kind,
    source: tick.source,
    base: tick.base,
    quote: tick.quote,
    price: formatDecimal(tick.price),
    bid: textOf(tick.bid),
    ask: textOf(tick.ask),
    open24h: textOf(tick.open24h),
    high24h: textOf(tick.high24h),
    low24h: textOf(tick.low24h),
    baseVolume24h: textOf(tick.baseVolume24h),
    quoteVolume24h: textOf(tick.quoteVolume24h),
    asOfMs: tick.asOfMs,
    receivedAtMs: tick.receivedAtMs,
  });
}

const textOf = (value: Decimal | null): string | null => (value === null ? null : formatDecimal(value));
