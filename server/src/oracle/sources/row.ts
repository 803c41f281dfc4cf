import type { Decimal } from "../model/decimal.ts";
import type { SourceValue } from "./source-json.ts";

/** Why something that a source sent is not believed. */
export const dropReasons = [
  "not-json",
  "binary-frame",
  "oversized",
  "flood",
  "unknown-frame",
  "unknown-market",
  "wrong-kind",
  "missing-field",
  "not-a-number",
  "not-positive",
  "absurd",
  "empty-side",
  "crossed",
  "wide-spread",
  "far-from-book",
  "outside-day-range",
  "volume-columns",
  "time-unit",
  "future",
  "older",
  "not-a-minute",
  "out-of-order",
  "shallow-pool",
  "pool-moved",
] as const;
export type DropReason = (typeof dropReasons)[number];

export type Field = SourceValue | undefined;
export type TimeUnit = "iso" | "s" | "ms" | "us" | "ns";

/** A time as the exchange wrote it. */
export interface WrittenTime {
  readonly value: Field;
  readonly unit: TimeUnit;
}

/** One row as the exchange wrote it, its columns named by us; nothing in it is checked yet. */
export interface Row {
  /** The market, by the exchange's name. */
  readonly name: string;
  /** What it must hold: `ticker` last, bid and ask; `last` and `book` one of these; `day` only figures of 24 hours. */
  readonly part: "ticker" | "last" | "book" | "day";
  readonly last?: Field;
  readonly bid?: Field;
  readonly ask?: Field;
  readonly open?: Field;
  readonly high?: Field;
  readonly low?: Field;
  readonly baseVolume?: Field;
  readonly quoteVolume?: Field;
  /** Mean price of 24 hours by volume; stands in for the quote volume. */
  readonly vwap?: Field;
  /** Change in 24 hours, absolute or in percent; stands in for the open. */
  readonly change?: Field;
  readonly changePercent?: Field;
  /** `trade` is the time of the last trade, `generated` the time of the row. */
  readonly time?: WrittenTime & { readonly means: "generated" | "trade" };
  /** Rises from row to row, with gaps. */
  readonly sequence?: Field;
  readonly tradeId?: Field;
  /** Columns that do not move by themselves: a row in which they stand still vouches for nothing new. */
  readonly witness: readonly Field[];
}

/** An exchange's word that a market's newest trade is still the newest. */
export interface Heartbeat {
  readonly name: string;
  readonly tradeId: Field;
  readonly sequence: Field;
  readonly time: WrittenTime;
}

/** A candle of one minute as the exchange wrote it: all that was traded in it so far. Nothing is checked yet. */
export interface CandleRow {
  /** The market, by the exchange's name. */
  readonly name: string;
  /** The minute's beginning. */
  readonly start: WrittenTime;
  readonly open: Field;
  readonly high: Field;
  readonly low: Field;
  readonly close: Field;
  readonly baseVolume: Field;
  readonly quoteVolume?: Field;
  /** Mean price of the minute by volume; stands in for the quote volume. */
  readonly vwap?: Field;
  /** When the exchange wrote it; its arrival where it does not say. */
  readonly time?: WrittenTime;
}

export interface DayFigures {
  readonly open: Decimal | null;
  readonly high: Decimal | null;
  readonly low: Decimal | null;
  readonly baseVolume: Decimal | null;
  readonly quoteVolume: Decimal | null;
}

/** A row that holds what it must and contradicts neither itself nor the clock. */
export interface Observation {
  readonly part: Row["part"];
  readonly last: Decimal | null;
  readonly bid: Decimal | null;
  readonly ask: Decimal | null;
  /** Null where the row speaks of no day at all. */
  readonly day: DayFigures | null;
  /** Unix milliseconds, not after receipt; null where the row reports no time. */
  readonly timeMs: number | null;
  readonly timeMeans: "generated" | "trade";
  readonly sequence: bigint | null;
  readonly tradeId: bigint | null;
  readonly witness: string;
}

export type Reading<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly reason: DropReason };
