import { type Decimal, decimal, divide, multiply, subtract, unit } from "../model/decimal.ts";
import type { WeightedQuote } from "./quotes.ts";

/** A price is compared with the one at least this long ago: over shorter times its own noise outweighs its movement. */
const stepMs = 10_000;
/** After a longer silence the estimate starts anew. */
const silenceMs = 600_000;
/** Each step counts one sixteenth: a memory of about three minutes. */
const memory = 16n;
/** A step counts as at most this share: what is larger is a jump, and not how fast the price moves afterwards. */
const stepMax = decimal("0.005");
/** Turns the band's half width into a standard deviation. */
const twoThirds = decimal("0.9674");

/** How fast a symbol's price moves: its variance a second as a share squared, estimated from the rounds themselves. */
export class Movement {
  #from: { price: Decimal; atMs: number } | null = null;
  #variance = 0n;

  /** Takes a good round; `noise` is half the width of the band that the differences of its quotes give. */
  learn(price: Decimal, noise: Decimal, atMs: number): void {
    const from = this.#from;
    const sinceMs = from === null ? silenceMs : atMs - from.atMs;
    if (sinceMs >= 0 && sinceMs < stepMs) return;
    this.#from = { price, atMs };
    // After a clock that was set back, or a long silence, a step has no meaning.
    if (from === null || sinceMs < 0 || sinceMs > silenceMs) return;
    const change = divide(subtract(price, from.price), from.price);
    const step = change > stepMax ? stepMax : change < -stepMax ? (-stepMax as Decimal) : change;
    const deviation = divide(divide(noise, price), twoThirds);
    // Both ends contain the noise, which is not movement.
    const moved = multiply(step, step) - 2n * multiply(deviation, deviation);
    const variance = (moved * 1_000n) / BigInt(sinceMs);
    this.#variance += (variance - this.#variance) / memory;
  }

  /** After a jump the next step is counted from where the price is then. */
  interrupt(): void {
    this.#from = null;
  }

  /**
   * The variance that all quotes share because the price has moved since their time: two of them share the movement
   * since the younger one. Their differences do not show it.
   */
  sharedVariance(quotes: readonly WeightedQuote[], atMs: number): Decimal {
    if (this.#variance <= 0n || quotes.length < 2) return 0n as Decimal;
    const byAge = quotes.toSorted((left, right) => right.quote.asOfMs - left.quote.asOfMs);
    let older = byAge.reduce((sum, { weight }) => sum + weight, 0n);
    let pairs = 0n;
    let shared = 0n;
    for (const { weight, quote } of byAge) {
      older -= weight;
      const pair = (weight * older) / unit;
      pairs += pair;
      shared += pair * BigInt(Math.max(0, atMs - quote.asOfMs));
    }
    if (pairs === 0n) return 0n as Decimal;
    return ((this.#variance * shared) / (pairs * 1_000n)) as Decimal;
  }
}
