import { createHash } from "node:crypto";
import type { Random } from "@sluice/lib";

/** Numbers that follow from a text: the same text gives the same numbers. Generator: sfc32, seeded by SHA-256. */
export class TextRandom implements Random {
  readonly #state: Uint32Array;

  constructor(seed: string) {
    const digest = createHash("sha256").update(seed).digest();
    this.#state = new Uint32Array(4);
    for (let word = 0; word < 4; word += 1) this.#state[word] = digest.readUInt32LE(word * 4);
  }

  #next32(): number {
    const state = this.#state;
    const [a = 0, b = 0, c = 0, counter = 0] = state;
    const result = (a + b + counter) >>> 0;
    state[0] = b ^ (b >>> 9);
    state[1] = c + (c << 3);
    state[2] = ((c << 21) | (c >>> 11)) + result;
    state[3] = counter + 1;
    return result;
  }

  /** A fraction from 0 to below 1. */
  next(): number {
    return this.#next32() / 0x1_0000_0000;
  }

  bytes(length: number): Uint8Array {
    return Uint8Array.from({ length }, () => this.below(256));
  }

  /** True for a share of the draws, from 0 (never) to 1 (always). */
  falls(share: number): boolean {
    return this.next() < share;
  }

  /** A whole number from 0 to below `end`, which must be positive. */
  below(end: number): number {
    return Math.floor(this.next() * end);
  }

  /** One of a list; null when it is empty. */
  pick<T>(list: readonly T[]): T | null {
    return list[this.below(list.length)] ?? null;
  }

  /** A part of `whole` between two shares of it, in thousandths, and at least 1. */
  part(whole: bigint, fewest: number, most: number): bigint {
    const thousandths = fewest + this.next() * (most - fewest);
    const amount = (whole * BigInt(Math.round(thousandths * 1_000))) / 1_000_000n;
    return amount > 0n ? amount : 1n;
  }

  /** A whole number between powers of ten, small ones as likely as great ones. */
  magnitude(fewestDigits: number, mostDigits: number): number {
    return Math.round(10 ** (fewestDigits + this.next() * (mostDigits - fewestDigits)));
  }
}
