import { marketAssets } from "../model/assets.ts";
import { fraction, mix, normal, seedOf } from "../model/hash.ts";
import type { Listing } from "../model/listings.ts";
import { blockSeconds } from "./path.ts";
import type { Truth } from "./truth.ts";

/** Seconds between the knots of an exchange's own noise: it is correlated over about this long. */
const noiseSeconds = 16;

/**
 * A market's prices are multiplied by `factor` for every moment after `fromMs` until `untilMs`, rising over `rampMs`.
 */
export interface Shift {
  readonly fromMs: number;
  readonly untilMs: number;
  readonly rampMs: number;
  readonly factor: number;
}

/** Best bid and ask in units of price. */
export interface Quotes {
  readonly bid: number;
  readonly ask: number;
}

/**
 * What one market quotes at any second: the truth in the market's own quote, times the exchange's basis and its noise,
 * with half the spread to either side, rounded outward. The pair of assets is divided, so that a market in USDT moves
 * when USDT does.
 */
export class QuoteCurve {
  readonly #truth: Truth;
  readonly #seed: number;
  readonly #base: number;
  readonly #quote: number;
  readonly #basis: number;
  readonly #noise: number;
  readonly #halfSpread: number;
  readonly #unit: number;
  readonly #shifts: () => readonly Shift[];
  #blockIndex = -1;
  #baseBlock: Float64Array = new Float64Array();
  #quoteBlock: Float64Array | null = null;

  constructor(
    options: { readonly seed: string; readonly listing: Listing },
    dependencies: { readonly truth: Truth; readonly shifts: () => readonly Shift[] },
  ) {
    const { listing, seed } = options;
    this.#truth = dependencies.truth;
    this.#shifts = dependencies.shifts;
    this.#seed = seedOf(`${seed}/quotes/${listing.index}`);
    this.#base = marketAssets.findIndex((asset) => asset.symbol === listing.base);
    this.#quote = marketAssets.findIndex((asset) => asset.symbol === listing.quote);
    const isStable = listing.base === "USDT" || listing.base === "USDC";
    const noiseBps = isStable ? 0.3 : Math.min(4, Math.max(0.5, listing.spreadBps / 3));
    this.#noise = noiseBps / 10_000;
    // Honest exchanges differ a little for good.
    this.#basis = 1 + (this.#noise * normal(seedOf(`${seed}/basis/${listing.index}`))) / 2;
    this.#halfSpread = (isStable ? 0.3 : listing.spreadBps) / 20_000;
    this.#unit = 10 ** listing.pricePlaces;
  }

  /** `atMs` decides only which shifts apply. */
  at(atMs: number): Quotes {
    const second = Math.floor(atMs / 1_000);
    const middle = this.#middle(second) * this.#factor(atMs) * this.#unit;
    const half = Math.max(0.5, middle * this.#halfSpread);
    const bid = Math.max(1, Math.floor(middle - half));
    return { bid, ask: Math.max(bid + 1, Math.ceil(middle + half)) };
  }

  #middle(second: number): number {
    const index = Math.floor(second / blockSeconds);
    if (index !== this.#blockIndex) {
      this.#baseBlock = this.#truth.block(this.#base, index);
      this.#quoteBlock = this.#quote < 0 ? null : this.#truth.block(this.#quote, index);
      this.#blockIndex = index;
    }
    const at = second - index * blockSeconds;
    const base = this.#baseBlock[at] ?? 0;
    const quote = this.#quoteBlock === null ? 1 : (this.#quoteBlock[at] ?? 1);
    return (base / quote) * this.#basis * (1 + this.#noise * this.#noiseAt(second));
  }

  #noiseAt(second: number): number {
    const knot = Math.floor(second / noiseSeconds);
    const part = second / noiseSeconds - knot;
    const from = normal(mix(this.#seed, knot, 1));
    const to = normal(mix(this.#seed, knot + 1, 1));
    return from + (to - from) * part + 0.3 * (2 * fraction(mix(this.#seed, second, 2)) - 1);
  }

  #factor(atMs: number): number {
    let factor = 1;
    for (const shift of this.#shifts()) {
      if (atMs <= shift.fromMs || atMs > shift.untilMs) continue;
      const grown = shift.rampMs === 0 ? 1 : Math.min(1, (atMs - shift.fromMs) / shift.rampMs);
      factor *= 1 + (shift.factor - 1) * grown;
    }
    return factor;
  }
}
