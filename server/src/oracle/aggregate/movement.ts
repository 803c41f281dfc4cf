import { type Decimal, decimal, divide, multiply, subtract, unit } from "../decimal.ts";
import type { Vote } from "./voice.ts";

/** A price is compared with the one at least this long ago: over shorter times its own noise outweighs its movement. */
const stepMs = 10_000;
/** After a longer silence a price begins anew. */
const silenceMs = 600_000;
/** Each step counts one sixteenth: a memory of about three minutes. */
const memory = 16n;
/** Turns the band's half width into a standard deviation. */
const twoThirds = decimal("0.9674");

/** How fast a symbol's price moves: its variance a second as a share squared, learnt from the rounds themselves. */
export class Movement {
  #from: { price: Decimal; atMs: number } | null = null;
  #variance = 0n;

  /** Takes in a good round; `noise` is half the width of the band that its votes' differences leave. */
  learn(price: Decimal, noise: Decimal, atMs: number): void {
    const from = this.#from;
    const sinceMs = from === null ? silenceMs : atMs - from.atMs;
    if (sinceMs >= 0 && sinceMs < stepMs) return;
    this.#from = { price, atMs };
    // The clock was set back, or nothing was heard for long: a step would mean nothing.
    if (from === null || sinceMs < 0 || sinceMs > silenceMs) return;
    const step = divide(subtract(price, from.price), from.price);
    const deviation = divide(divide(noise, price), twoThirds);
    // Both ends carry the noise, which is no movement.
    const moved = multiply(step, step) - 2n * multiply(deviation, deviation);
    const variance = (moved * 1_000n) / BigInt(sinceMs);
    this.#variance += (variance - this.#variance) / memory;
  }

  /**
   * The variance that all votes share because the price has moved since they were given: two of them share what moved
   * since the younger one. It cannot be seen in their differences.
   */
  sharedVariance(votes: readonly Vote[], atMs: number): Decimal {
    if (this.#variance <= 0n || votes.length < 2) return 0n as Decimal;
    const byAge = votes.toSorted((left, right) => right.voice.asOfMs - left.voice.asOfMs);
    let older = byAge.reduce((sum, { weight }) => sum + weight, 0n);
    let pairs = 0n;
    let shared = 0n;
    for (const { weight, voice } of byAge) {
      older -= weight;
      const pair = (weight * older) / unit;
      pairs += pair;
      shared += pair * BigInt(Math.max(0, atMs - voice.asOfMs));
    }
    if (pairs === 0n) return 0n as Decimal;
    return ((this.#variance * shared) / (pairs * 1_000n)) as Decimal;
  }
}
