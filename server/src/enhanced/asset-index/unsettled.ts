import type { UnsettledReading } from "../../ledger/index.ts";

/**
 * Readings that a finalized one has to follow, since their block may leave the chain. The index has them too: after a
 * start they are read from there.
 */
export class Unsettled {
  readonly #readings = new Map<string, UnsettledReading>();

  get size(): number {
    return this.#readings.size;
  }

  add(reading: UnsettledReading): void {
    const before = this.#readings.get(reading.asset);
    if (before !== undefined && before.slot > reading.slot) return;
    this.#readings.delete(reading.asset);
    this.#readings.set(reading.asset, reading);
  }

  /** Some of those whose slot is final, at most `limit`. */
  due(finalizedSlot: bigint, limit: number): readonly UnsettledReading[] {
    const due: UnsettledReading[] = [];
    for (const reading of this.#readings.values()) {
      if (reading.slot <= finalizedSlot) due.push(reading);
      if (due.length >= limit) break;
    }
    return due;
  }

  /** The reading is settled, unless a later one has come. */
  settled({ asset, slot }: UnsettledReading): void {
    if (this.#readings.get(asset)?.slot === slot) this.#readings.delete(asset);
  }
}
