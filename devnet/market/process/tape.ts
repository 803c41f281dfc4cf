import { fraction, mix, seedOf } from "../model/hash.ts";
import { type Listing, sizeSpread } from "../model/listings.ts";
import { Bar, HourBars } from "./bar.ts";
import { QuoteCurve, type Quotes, type Shift } from "./quotes.ts";
import type { Recent } from "./recent.ts";
import type { Truth } from "./truth.ts";

const minuteMs = 60_000;
const hourMs = 3_600_000;
/** Trade ids count from about here. */
const firstSlotMs = Date.UTC(2020, 0, 1);

export interface Trade {
  readonly id: number;
  readonly timeMs: number;
  /** In units of price, size in units of size. */
  readonly price: number;
  readonly size: number;
  /** Whether the buyer took: the price is then the ask of its moment, else the bid. */
  readonly isBuy: boolean;
}

/**
 * All trades that ever happen in one market. Time is cut into slots, and each slot holds exactly one trade at its
 * own moment, so that ids, times, prices and sizes follow from the slot's number: any trade of any day can be computed
 * without the ones before it. Minutes are kept once they are over, in the `hours` that are handed in.
 */
export class Tape {
  readonly listing: Listing;
  readonly #quotes: QuoteCurve;
  readonly #seed: number;
  readonly #slotMs: number;
  readonly #hours: Recent<HourBars>;
  readonly #idBase: number;

  constructor(
    options: { readonly seed: string; readonly listing: Listing },
    dependencies: { readonly truth: Truth; readonly hours: Recent<HourBars>; readonly shifts: () => readonly Shift[] },
  ) {
    this.listing = options.listing;
    this.#quotes = new QuoteCurve(options, dependencies);
    this.#seed = seedOf(`${options.seed}/trades/${options.listing.index}`);
    this.#slotMs = options.listing.slotSeconds * 1_000;
    this.#hours = dependencies.hours;
    this.#idBase = (this.#seed % 1_000_000) - Math.floor(firstSlotMs / this.#slotMs);
  }

  quotes(atMs: number): Quotes {
    return this.#quotes.at(atMs);
  }

  /** Sizes that stand at the best bid and ask. */
  depth(atMs: number): { readonly bid: number; readonly ask: number } {
    const second = Math.floor(atMs / 1_000);
    const size = (salt: number): number =>
      Math.max(1, Math.round(this.listing.sizeMean * sizeSpread * fraction(mix(this.#seed, second, salt))));
    return { bid: size(5), ask: size(6) };
  }

  /** The newest trade at or before a moment. */
  last(atMs: number): Trade {
    return this.#trade(this.#slotAt(atMs));
  }

  /** The newest trades after `afterMs` and until `untilMs`, oldest first, at most `max`. */
  between(afterMs: number, untilMs: number, max: number): Trade[] {
    const last = this.#slotAt(untilMs);
    const first = Math.max(this.#slotAt(afterMs) + 1, last - max + 1);
    return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => this.#trade(first + index));
  }

  /** The sums of the trades from `fromMs` to `untilMs`, exclusive. Both lie in the past, or else are now. */
  bar(fromMs: number, untilMs: number): Bar {
    const bar = new Bar();
    const firstMinute = Math.ceil(fromMs / minuteMs);
    const lastMinute = Math.floor(untilMs / minuteMs);
    if (firstMinute >= lastMinute) {
      this.#walk(bar, fromMs, untilMs);
      return bar;
    }
    this.#walk(bar, fromMs, firstMinute * minuteMs);
    for (let minute = firstMinute; minute < lastMinute; ) {
      const hour = Math.floor(minute / 60);
      const end = Math.min(lastMinute, (hour + 1) * 60);
      const known = this.#hours.get(this.listing.index * 10_000_000 + hour, () => new HourBars());
      known.joinTo(bar, minute - hour * 60, end - hour * 60, (at) => this.#minute(hour * hourMs + at * minuteMs));
      minute = end;
    }
    this.#walk(bar, lastMinute * minuteMs, untilMs);
    return bar;
  }

  #minute(startMs: number): Bar {
    const bar = new Bar();
    this.#walk(bar, startMs, startMs + minuteMs);
    return bar;
  }

  /** Adds single trades; a stretch of at most a minute or two. */
  #walk(bar: Bar, fromMs: number, untilMs: number): void {
    if (fromMs >= untilMs) return;
    const last = this.#slotAt(untilMs - 1);
    for (let slot = this.#slotAt(fromMs - 1) + 1; slot <= last; slot += 1) {
      const { price, size, isBuy } = this.#trade(slot);
      if (bar.count === 0) {
        bar.open = price;
        bar.high = price;
        bar.low = price;
      } else if (price > bar.high) bar.high = price;
      else if (price < bar.low) bar.low = price;
      bar.close = price;
      bar.count += 1;
      bar.base += size;
      const amount = BigInt(price * size);
      bar.quote += amount;
      if (!isBuy) continue;
      bar.buyBase += size;
      bar.buyQuote += amount;
    }
  }

  #timeOf(slot: number): number {
    return slot * this.#slotMs + (mix(this.#seed, slot, 3) % this.#slotMs);
  }

  #slotAt(atMs: number): number {
    const slot = Math.floor(atMs / this.#slotMs);
    return this.#timeOf(slot) <= atMs ? slot : slot - 1;
  }

  #trade(slot: number): Trade {
    const timeMs = this.#timeOf(slot);
    const draw = mix(this.#seed, slot, 4);
    const isBuy = (draw & 1) === 1;
    const { bid, ask } = this.#quotes.at(timeMs);
    // The cube of an even draw has a mean of a quarter: many small trades and few large ones.
    const even = fraction(draw);
    const size = Math.max(1, Math.round(this.listing.sizeMean * sizeSpread * even * even * even));
    return { id: slot + this.#idBase, timeMs, price: isBuy ? ask : bid, size, isBuy };
  }
}
