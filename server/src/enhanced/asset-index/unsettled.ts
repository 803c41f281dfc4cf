import type { UnsettledReading } from "../../ledger/index.ts";

interface Waiting {
  readonly reading: UnsettledReading;
  /** Monotonic ms before which it is not read again. */
  readonly notBeforeMs: number;
}

/**
 * Readings that a finalized one has to follow, since their block may leave the chain, or nodes refuse to tell a part of
 * them. The index has them too: after a start they are read from there.
 */
export class Unsettled {
  readonly #waiting = new Map<string, Waiting>();

  get size(): number {
    return this.#waiting.size;
  }

  /** Those that wait for their time. */
  postponed(nowMs: number): number {
    let count = 0;
    for (const { notBeforeMs } of this.#waiting.values()) if (notBeforeMs > nowMs) count += 1;
    return count;
  }

  add(reading: UnsettledReading): void {
    const before = this.#waiting.get(reading.asset);
    if (before !== undefined && before.reading.slot >= reading.slot) return;
    this.#put(reading, Number.NEGATIVE_INFINITY);
  }

  /** Some of those whose slot is final and whose time has come, at most `limit`. */
  due(finalizedSlot: bigint, nowMs: number, limit: number): readonly UnsettledReading[] {
    const due: UnsettledReading[] = [];
    for (const { reading, notBeforeMs } of this.#waiting.values()) {
      if (reading.slot <= finalizedSlot && notBeforeMs <= nowMs) due.push(reading);
      if (due.length >= limit) break;
    }
    return due;
  }

  /** The reading is settled, unless a later one has come. */
  settled({ asset, slot }: UnsettledReading): void {
    if (this.#waiting.get(asset)?.reading.slot === slot) this.#waiting.delete(asset);
  }

  /** The reading is not due before a time, unless a later one has come. */
  postpone(reading: UnsettledReading, notBeforeMs: number): void {
    if (this.#waiting.get(reading.asset)?.reading.slot === reading.slot) this.#put(reading, notBeforeMs);
  }

  #put(reading: UnsettledReading, notBeforeMs: number): void {
    this.#waiting.delete(reading.asset);
    this.#waiting.set(reading.asset, { reading, notBeforeMs });
  }
}
