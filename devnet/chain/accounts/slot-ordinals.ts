/**
 * Numbers the slots that are written, oldest first, so that a version names its slot in four bytes: four thousand million
 * of them, 54 years of slots of 400 ms. Slots up to the root count as one, the lowest.
 */
export class SlotOrdinals {
  /** Slots above the root that were written, oldest first; the first of them has the ordinal `#first`. */
  readonly #slots: bigint[] = [];
  #first = 1;

  /** The ordinal of the slot that is written now, which must not lie below one that was written. */
  writing(slot: bigint): number {
    const newest = this.#slots.at(-1);
    if (newest === undefined || slot > newest) this.#slots.push(slot);
    else if (slot < newest) throw new RangeError(`slot ${slot} is written after ${newest}`);
    return this.newest;
  }

  get newest(): number {
    return this.#first + this.#slots.length - 1;
  }

  /** The highest ordinal that counts for a reader of `slot`; readers below the root see the root. */
  limit(slot: bigint): number {
    const newest = this.#slots.at(-1);
    if (newest === undefined || slot >= newest) return this.newest;
    let low = 0;
    let high = this.#slots.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#slots[middle] ?? 0n) <= slot) low = middle + 1;
      else high = middle;
    }
    return this.#first + low - 1;
  }

  /** Counts the oldest slot as rooted. */
  rootOldest(): void {
    this.#slots.shift();
    this.#first += 1;
  }

  /** Forgets the slots above `slot`. */
  rollback(slot: bigint): void {
    while ((this.#slots.at(-1) ?? slot) > slot) this.#slots.pop();
  }
}
