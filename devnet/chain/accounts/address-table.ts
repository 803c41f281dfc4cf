import type { AccountRows } from "./account-rows.ts";

const slotsMin = 1_024;

/**
 * The newest row of each address, by a hash of the address: open addressing, 4 bytes a slot, three in five used at
 * most.
 */
export class AddressTable {
  readonly #rows: AccountRows;
  #slots = new Uint32Array(slotsMin);
  #count = 0;

  constructor(rows: AccountRows) {
    this.#rows = rows;
  }

  get size(): number {
    return this.#count;
  }

  /** The newest row of an address, given as its eight words; 0 is none. */
  find(words: Uint32Array, hash: number): number {
    const mask = this.#slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const row = this.#slots[slot] ?? 0;
      if (row === 0 || (this.#rows.hash(row) === hash && this.#rows.hasAddress(row, words))) return row;
    }
  }

  add(row: number): void {
    this.#count += 1;
    if (this.#count * 5 > this.#slots.length * 3) {
      const old = this.#slots;
      this.#slots = new Uint32Array(old.length * 2);
      for (const kept of old) if (kept !== 0) this.#place(kept);
    }
    this.#place(row);
  }

  #place(row: number): void {
    const mask = this.#slots.length - 1;
    let slot = this.#rows.hash(row) & mask;
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
    this.#slots[slot] = row;
  }

  #slotOf(row: number): number {
    const mask = this.#slots.length - 1;
    let slot = this.#rows.hash(row) & mask;
    while (this.#slots[slot] !== row) {
      if (this.#slots[slot] === 0) throw new RangeError(`row ${row} is not the newest of its address`);
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  /** Puts another version of the same address in a row's place. */
  replace(row: number, other: number): void {
    this.#slots[this.#slotOf(row)] = other;
  }

  /** Removes an address and closes the gap that its slot leaves in the run behind it. */
  remove(row: number): void {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let gap = this.#slotOf(row);
    for (let slot = (gap + 1) & mask; slots[slot] !== 0; slot = (slot + 1) & mask) {
      const home = this.#rows.hash(slots[slot] ?? 0) & mask;
      if (((slot - home) & mask) >= ((slot - gap) & mask)) {
        slots[gap] = slots[slot] ?? 0;
        gap = slot;
      }
    }
    slots[gap] = 0;
    this.#count -= 1;
  }
}
