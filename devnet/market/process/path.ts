import { mix, normal } from "../model/hash.ts";

const yearSeconds = 31_557_600;
/** Knots lie 2^22 seconds apart, which is 48 and a half days. */
const knotSeconds = 4_194_304;
/** A block is what is computed at once. */
export const blockSeconds = 4_096;

/**
 * A random walk in closed form: its value at any second of any year follows from the seed alone, so history needs no
 * store. Knots are independent draws around 0 whose deviation makes two neighbours differ as a Brownian motion would;
 * between them each midpoint is the mean of its ends plus a draw of half the deviation of that stretch (Lévy's
 * construction of the Brownian bridge). Up to 48 days the path therefore moves like a Brownian motion with
 * `deviationPerYear`; beyond, it keeps near 0, so that a price stays near what the table says.
 */
export class Path {
  readonly #seed: number;
  readonly #deviationPerSecond: number;

  constructor(options: { readonly seed: number; readonly deviationPerYear: number }) {
    this.#seed = options.seed;
    this.#deviationPerSecond = options.deviationPerYear / Math.sqrt(yearSeconds);
  }

  /**
   * The values at each second from `index` blocks after the Unix epoch on, and at the first second of the next block.
   */
  block(index: number): Float64Array {
    const start = index * blockSeconds;
    let left = Math.floor(start / knotSeconds) * knotSeconds;
    let length = knotSeconds;
    let from = this.#knot(left / knotSeconds);
    let to = this.#knot(left / knotSeconds + 1);
    while (length > blockSeconds) {
      const middle = this.#middle(left, length, from, to);
      length /= 2;
      if (start < left + length) to = middle;
      else {
        left += length;
        from = middle;
      }
    }
    const values = new Float64Array(blockSeconds + 1);
    values[0] = from;
    values[blockSeconds] = to;
    for (let stretch = blockSeconds; stretch > 1; stretch /= 2) {
      for (let at = 0; at < blockSeconds; at += stretch) {
        values[at + stretch / 2] = this.#middle(start + at, stretch, values[at] ?? 0, values[at + stretch] ?? 0);
      }
    }
    return values;
  }

  #knot(index: number): number {
    return this.#deviationPerSecond * Math.sqrt(knotSeconds / 2) * normal(mix(this.#seed, index, -1));
  }

  #middle(left: number, length: number, from: number, to: number): number {
    // Each second is the middle of exactly one stretch, so the second itself names the draw.
    const draw = normal(mix(this.#seed, left + length / 2, 0));
    return (from + to) / 2 + this.#deviationPerSecond * Math.sqrt(length / 4) * draw;
  }
}
