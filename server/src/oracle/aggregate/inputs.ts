import { type Decimal, formatDecimal } from "../model/decimal.ts";
import type { Round } from "../model/round.ts";
import type { Tick } from "../model/tick.ts";

/**
 * The inputs of rounds, in one total order: ticks as they arrived, and marks of the server's clock. Ticks only change
 * the market table; the rounds of all symbols that changed are computed at the next mark, together, so that a burst of
 * ticks costs one round a symbol. The same inputs in the same order give the same rounds to the byte, so marks are
 * logged with the ticks.
 */
export type Input = TickInput | TimeInput;

export interface TickInput {
  readonly kind: "tick";
  readonly tick: Tick;
}

export interface TimeInput {
  readonly kind: "time";
  /**
   * Unix milliseconds by the server's clock. Up to five seconds before an earlier input it counts as that input's time;
   * a larger step back means that the clock was set, and all quotes are dropped.
   */
  readonly atMs: number;
}

/**
 * One line of JSON for a round or an input, with its members in one fixed order and its decimals as text. Two runs over
 * the same inputs are compared by these lines, and the tick log keeps them.
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
    sources: round.sources.map(({ source, price, weight, asOfMs }) => ({
      source,
      price: formatDecimal(price),
      weight: formatDecimal(weight),
      asOfMs,
    })),
    volume24h: textOf(round.volume24h),
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
