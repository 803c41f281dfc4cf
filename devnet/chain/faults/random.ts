import { createHash } from "node:crypto";

/** Numbers that look random and follow from a text: xoshiro128** of Blackman and Vigna, seeded by the text's SHA-256. */
export class SeededRandom {
  readonly #state: Uint32Array;

  constructor(seed: string) {
    const digest = createHash("sha256").update(`sluice devnet faults/${seed}`).digest();
    this.#state = Uint32Array.from([0, 4, 8, 12], (offset) => digest.readUInt32LE(offset));
  }

  /** From 0, inclusive, to 1, exclusive, in steps of 2^-32. */
  next(): number {
    const state = this.#state;
    const [a = 0, b = 0, c = 0, d = 0] = state;
    const scrambled = Math.imul(b, 5);
    const result = Math.imul((scrambled << 7) | (scrambled >>> 25), 9) >>> 0;
    const x = c ^ a;
    const y = d ^ b;
    state[0] = a ^ y;
    state[1] = b ^ x;
    state[2] = x ^ (b << 9);
    state[3] = (y << 11) | (y >>> 21);
    return result / 0x1_0000_0000;
  }

  /** A whole number below `bound`, which is at least 1. */
  below(bound: number): number {
    return Math.floor(this.next() * bound);
  }

  /** True for a share of the draws, from 0 (never) to 1 (always). */
  falls(share: number): boolean {
    return this.next() < share;
  }
}
