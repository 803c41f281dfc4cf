const SLOTS_MIN = 1_024;

/**
 * Numbers of records by a hash of their signature: open addressing, eight bytes a slot, three in five used at most. It
 * holds the low 32 bits of a number; whoever asks tells whether a number is the one that he means.
 */
export class SignatureTable {
  /** Two words a slot: the hash, 0 where the slot is free, and the number. */
  #slots = new Uint32Array(SLOTS_MIN * 2);
  #count = 0;

  /** The number for which `isIt` holds among those with this hash; null when there is none. */
  find(hash: number, isIt: (number: number) => boolean): number | null {
    const wanted = hash || 1;
    const mask = this.#slots.length / 2 - 1;
    for (let slot = wanted & mask; ; slot = (slot + 1) & mask) {
      const held = this.#slots[slot * 2];
      if (held === 0) return null;
      const number = this.#slots[slot * 2 + 1] ?? 0;
      if (held === wanted && isIt(number)) return number;
    }
  }

  add(hash: number, number: number): void {
    this.#count += 1;
    if (this.#count * 10 > this.#slots.length * 3) {
      const old = this.#slots;
      this.#slots = new Uint32Array(old.length * 2);
      for (let at = 0; at < old.length; at += 2) {
        const held = old[at] ?? 0;
        if (held !== 0) this.#place(held, old[at + 1] ?? 0);
      }
    }
    this.#place(hash || 1, number);
  }

  #place(held: number, number: number): void {
    const mask = this.#slots.length / 2 - 1;
    let slot = held & mask;
    while (this.#slots[slot * 2] !== 0) slot = (slot + 1) & mask;
    this.#slots[slot * 2] = held;
    this.#slots[slot * 2 + 1] = number;
  }

  /** Removes a number and closes the gap that its slot leaves in the run behind it. */
  remove(hash: number, number: number): void {
    const slots = this.#slots;
    const mask = slots.length / 2 - 1;
    const low = number >>> 0;
    let gap = (hash || 1) & mask;
    while (slots[gap * 2] !== (hash || 1) || slots[gap * 2 + 1] !== low) {
      if (slots[gap * 2] === 0) throw new RangeError(`no signature has number ${number}`);
      gap = (gap + 1) & mask;
    }
    for (let slot = (gap + 1) & mask; slots[slot * 2] !== 0; slot = (slot + 1) & mask) {
      const home = (slots[slot * 2] ?? 0) & mask;
      if (((slot - home) & mask) >= ((slot - gap) & mask)) {
        slots[gap * 2] = slots[slot * 2] ?? 0;
        slots[gap * 2 + 1] = slots[slot * 2 + 1] ?? 0;
        gap = slot;
      }
    }
    slots[gap * 2] = 0;
    this.#count -= 1;
  }
}
