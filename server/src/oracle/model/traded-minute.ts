import type { Decimal } from "./decimal.ts";
import type { QuoteCurrency, SourceId } from "./tick.ts";

export const minuteMs = 60_000;

export const minuteOf = (atMs: number): number => Math.floor(atMs / minuteMs) * minuteMs;

/**
 * What one exchange says was traded in one of its markets within one minute: all of it so far, and never a difference,
 * so that a message which is lost, repeated or late changes nothing once another one came.
 */
export interface TradedMinute {
  readonly source: SourceId;
  readonly base: string;
  readonly quote: QuoteCurrency;
  /** The minute's beginning, Unix milliseconds. */
  readonly atMs: number;
  readonly baseVolume: Decimal;
  /** In the market's quote; from the mean price where the exchange gives no quote volume. */
  readonly quoteVolume: Decimal;
  /** Unix milliseconds at which it was so, by the exchange's clock, at most our time of receipt. */
  readonly statedAtMs: number;
}
