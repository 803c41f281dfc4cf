import type { Listing } from "../model/listings.ts";
import type { Bar } from "./bar.ts";
import type { Tape, Trade } from "./tape.ts";

export const dayMs = 86_400_000;
const eightHoursMs = 28_800_000;

/** Everything that an exchange can say of one market at one moment. */
export interface View {
  readonly listing: Listing;
  /** The moment that the exchange puts on it; it differs from the content's only under a fault. */
  readonly stampMs: number;
  /** The moment of which it is true. */
  readonly contentMs: number;
  readonly last: Trade;
  readonly bid: number;
  readonly ask: number;
  readonly bidSize: number;
  readonly askSize: number;
  /** The last 24 hours. */
  readonly day: Bar;
  /** Id of the first trade of the 24 hours; the last one's is `last.id`. */
  readonly firstId: number;
  /** Price of the last trade before the 24 hours. */
  readonly previousClose: number;
}

export function viewOf(tape: Tape, contentMs: number, stampMs: number): View {
  const last = tape.last(contentMs);
  const quotes = tape.quotes(contentMs);
  const depth = tape.depth(contentMs);
  const fromMs = contentMs - dayMs + 1;
  const day = tape.bar(fromMs, contentMs + 1);
  return {
    listing: tape.listing,
    stampMs,
    contentMs,
    last,
    bid: quotes.bid,
    ask: quotes.ask,
    bidSize: depth.bid,
    askSize: depth.ask,
    day,
    firstId: last.id - day.count + 1,
    previousClose: tape.last(fromMs - 1).price,
  };
}

/**
 * The trades since 00:00 UTC, or since midnight `offsetMs` east of it; before the first one the day opened as it ended.
 */
export function today(tape: Tape, contentMs: number, offsetMs = 0): Bar {
  const start = Math.floor((contentMs + offsetMs) / dayMs) * dayMs - offsetMs;
  const bar = tape.bar(start, contentMs + 1);
  if (bar.count > 0) return bar;
  const { price } = tape.last(start - 1);
  bar.open = price;
  bar.high = price;
  bar.low = price;
  bar.close = price;
  return bar;
}

export const todayInSingapore = (tape: Tape, contentMs: number): Bar => today(tape, contentMs, eightHoursMs);
