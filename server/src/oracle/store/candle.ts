import { type Decimal, formatDecimal, greaterOf, lesserOf } from "../model/decimal.ts";
import type { PricedRound } from "../model/round.ts";
import type { SourceId } from "../model/tick.ts";
import { minuteMs, minuteOf } from "../model/traded-minute.ts";

/**
 * A round that comes this much before those already taken is not late: the clock was set back, and time begins there
 * anew.
 */
export const clockBackMs = 2 * minuteMs;

/** What was agreed within one minute, or within the part of it that one process saw. */
export interface Candle {
  readonly symbol: string;
  /** The minute's beginning, Unix milliseconds. */
  readonly atMs: number;
  readonly firstAtMs: number;
  lastAtMs: number;
  readonly open: Decimal;
  high: Decimal;
  low: Decimal;
  close: Decimal;
  /** US dollars in the 24 hours before its last round; null where no source says. */
  volume24h: Decimal | null;
  confidence: Decimal;
  sources: readonly SourceId[];
}

export function newCandle(round: PricedRound): Candle {
  return {
    symbol: round.symbol,
    atMs: minuteOf(round.atMs),
    firstAtMs: round.atMs,
    lastAtMs: round.atMs,
    open: round.price,
    high: round.price,
    low: round.price,
    close: round.price,
    volume24h: round.volume24h,
    confidence: round.confidence,
    sources: round.sources.map(({ source }) => source),
  };
}

/** A round that comes late belongs to the minute that is open: a candle that is closed may have been written. */
export function addRound(candle: Candle, round: PricedRound): void {
  if (round.price > candle.high) candle.high = round.price;
  if (round.price < candle.low) candle.low = round.price;
  candle.close = round.price;
  candle.volume24h = round.volume24h;
  candle.confidence = round.confidence;
  candle.sources = round.sources.map(({ source }) => source);
  candle.lastAtMs = Math.max(candle.lastAtMs, round.atMs);
}

/**
 * Two parts of one minute as one: the first open, the last close, the widest range. Parts that overlap, as of two
 * processes that ran at once, give the same as one that saw it all.
 */
export function joinCandles(left: Candle, right: Candle): Candle {
  const first = right.firstAtMs < left.firstAtMs ? right : left;
  const last = right.lastAtMs > left.lastAtMs ? right : left;
  return {
    ...last,
    firstAtMs: first.firstAtMs,
    open: first.open,
    high: greaterOf(left.high, right.high),
    low: lesserOf(left.low, right.low),
  };
}

/** The row of `oracle_candles_by_minute`: of several for one minute the one that covers most of it stands. */
export function candleRow(candle: Candle): Readonly<Record<string, unknown>> {
  return {
    at: candle.atMs,
    symbol: candle.symbol,
    first_at: candle.firstAtMs,
    last_at: candle.lastAtMs,
    covered: candle.lastAtMs - candle.firstAtMs,
    open: formatDecimal(candle.open),
    high: formatDecimal(candle.high),
    low: formatDecimal(candle.low),
    close: formatDecimal(candle.close),
    volume_24h: candle.volume24h === null ? null : formatDecimal(candle.volume24h),
    confidence: formatDecimal(candle.confidence),
    sources: candle.sources,
  };
}
