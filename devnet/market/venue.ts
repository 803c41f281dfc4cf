import type { Faults } from "./faults/faults.ts";
import type { ExchangeId, Listing } from "./model/listings.ts";
import type { Bar, HourBars } from "./process/bar.ts";
import type { Recent } from "./process/recent.ts";
import { Tape, type Trade } from "./process/tape.ts";
import type { Truth } from "./process/truth.ts";
import { dayMs, today, todayInSingapore, type View, viewOf } from "./process/view.ts";

/** An exchange knows no trade that is older than this. */
const historyMs = 30 * dayMs;

/** A market with the name that its exchange gives it. */
export interface Market {
  readonly listing: Listing;
  readonly symbol: string;
  readonly tape: Tape;
}

/** The trades of a stretch of time. */
export interface Candle {
  readonly startMs: number;
  /** Exclusive. */
  readonly endMs: number;
  readonly bar: Bar;
  /** Close of the newest trade before it, for exchanges that show a flat row where nothing happened. */
  readonly previousClose: number;
  readonly isOver: boolean;
}

/** How candles of one kind are cut: a fixed length from an anchor on, or calendar months. */
export type Interval =
  | { readonly lengthMs: number; readonly anchorMs: number }
  | { readonly months: number; readonly anchorMs: number };

interface VenueDeps {
  readonly truth: Truth;
  readonly hours: Recent<HourBars>;
  readonly faults: Faults;
  readonly now: () => number;
}

/** One exchange's markets as its endpoints show them, with the faults that are set. */
export class Venue {
  readonly id: ExchangeId;
  readonly seed: string;
  readonly #markets: readonly Market[];
  readonly #faults: Faults;
  readonly #now: () => number;

  constructor(
    options: {
      readonly id: ExchangeId;
      readonly seed: string;
      readonly listings: readonly Listing[];
      readonly symbolOf: (listing: Listing) => string;
    },
    dependencies: VenueDeps,
  ) {
    this.id = options.id;
    this.seed = options.seed;
    this.#faults = dependencies.faults;
    this.#now = dependencies.now;
    this.#markets = options.listings
      .filter((listing) => listing.exchange === options.id)
      .map((listing) => ({
        listing,
        symbol: options.symbolOf(listing),
        tape: new Tape(
          { seed: options.seed, listing },
          { truth: dependencies.truth, hours: dependencies.hours, shifts: () => dependencies.faults.shiftsOf(listing) },
        ),
      }));
  }

  /**
   * The process's clock, by which lengths of time are measured: a fault that sets an exchange's clock leaves it alone.
   */
  clock(): number {
    return this.#now();
  }

  /** The exchange's own clock, which it shows. */
  now(): number {
    return this.#now() + (this.#faults.ofExchange("skew", this.id)?.ms ?? 0);
  }

  markets(): readonly Market[] {
    return this.#markets.filter((market) => this.#faults.ofMarket("drop", market.listing) === null);
  }

  find(symbol: string): Market | undefined {
    return this.markets().find((market) => market.symbol === symbol);
  }

  /** Of which moment the exchange speaks for a market, and which moment it puts on it. */
  moment(market: Market): { readonly contentMs: number; readonly stampMs: number } {
    const now = this.#now();
    const skew = this.#faults.ofMarket("skew", market.listing)?.ms ?? 0;
    const lag = this.#faults.ofMarket("lag", market.listing)?.ms ?? 0;
    const fault = this.#faults.ofMarket("freeze", market.listing);
    // A stream that has gone quiet leaves everything else as it is.
    const freeze = fault?.mode === "stream" ? null : fault;
    const contentMs = (freeze === null ? now : Math.min(now, freeze.sinceMs)) - lag;
    const stampMs = freeze?.mode === "content" ? now - lag : contentMs;
    return { contentMs, stampMs: stampMs + skew };
  }

  /** Whether the stream of a market has gone quiet while everything else about it goes on. */
  isMuted(market: Market): boolean {
    return this.#faults.ofMarket("freeze", market.listing)?.mode === "stream";
  }

  /** Whether a market stands still while messages about it go on. */
  isFrozen(market: Market): boolean {
    const mode = this.#faults.ofMarket("freeze", market.listing)?.mode;
    return mode === "content" || mode === "whole";
  }

  /** Whether a fault makes every token of the stream worthless. */
  refusesTokens(): boolean {
    return this.#faults.ofExchange("tokens", this.id) !== null;
  }

  view(market: Market): View {
    const { contentMs, stampMs } = this.moment(market);
    const view = viewOf(market.tape, contentMs, stampMs);
    const volume = this.#faults.ofMarket("volume", market.listing)?.factor;
    if (volume !== undefined) inflate(view.day, volume);
    if (this.#faults.ofMarket("crossed", market.listing) === null) return view;
    return { ...view, bid: view.ask, ask: view.bid };
  }

  today(market: Market): Bar {
    return today(market.tape, this.moment(market).contentMs);
  }

  todayInSingapore(market: Market): Bar {
    return todayInSingapore(market.tape, this.moment(market).contentMs);
  }

  /** The newest trades after one moment, of those that the exchange shows. */
  tradesAfter(market: Market, afterMs: number, max: number): Trade[] {
    return market.tape.between(afterMs, this.moment(market).contentMs, max);
  }

  /**
   * At most `max` candles that start from `fromMs` to `untilMs`, oldest first: the newest of them, or the oldest.
   * Whatever lies before the history's beginning, or after the moment of which the exchange speaks, has no row.
   */
  candles(
    market: Market,
    interval: Interval,
    range: { readonly fromMs?: number | undefined; readonly untilMs?: number | undefined; readonly oldest?: boolean },
    max: number,
  ): Candle[] {
    const { contentMs } = this.moment(market);
    const volume = this.#faults.ofMarket("volume", market.listing)?.factor;
    const oldest = Math.max(range.fromMs ?? 0, contentMs - historyMs);
    let untilMs = Math.min(range.untilMs ?? contentMs, contentMs);
    if (range.oldest === true && "lengthMs" in interval) {
      untilMs = Math.min(untilMs, startOf(interval, oldest - 1) + max * interval.lengthMs);
    }
    const candles: Candle[] = [];
    let startMs = startOf(interval, untilMs);
    while (candles.length < max && startMs >= oldest) {
      const endMs = endOf(interval, startMs);
      const bar = market.tape.bar(startMs, Math.min(endMs, contentMs + 1));
      if (volume !== undefined) inflate(bar, volume);
      const previousClose = bar.count > 0 ? bar.open : market.tape.last(startMs - 1).price;
      candles.push({ startMs, endMs, bar, previousClose, isOver: endMs <= contentMs });
      startMs = startOf(interval, startMs - 1);
    }
    return candles.toReversed();
  }
}

/** `bar` belongs to the caller alone. */
function inflate(bar: Bar, factor: number): void {
  const times = (amount: bigint): bigint => (amount * BigInt(Math.round(factor * 1_000))) / 1_000n;
  bar.base = Math.round(bar.base * factor);
  bar.quote = times(bar.quote);
  bar.buyBase = Math.round(bar.buyBase * factor);
  bar.buyQuote = times(bar.buyQuote);
}

function startOf(interval: Interval, atMs: number): number {
  if ("lengthMs" in interval) {
    return Math.floor((atMs - interval.anchorMs) / interval.lengthMs) * interval.lengthMs + interval.anchorMs;
  }
  const at = new Date(atMs - interval.anchorMs);
  const month = Math.floor((at.getUTCFullYear() * 12 + at.getUTCMonth()) / interval.months) * interval.months;
  return Date.UTC(Math.floor(month / 12), month % 12, 1) + interval.anchorMs;
}

function endOf(interval: Interval, startMs: number): number {
  if ("lengthMs" in interval) return startMs + interval.lengthMs;
  const at = new Date(startMs - interval.anchorMs);
  return Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + interval.months, 1) + interval.anchorMs;
}
