import type { Hash64 } from "../model/index.ts";

const rowsBits = 12;
const chunkRows = 1 << rowsBits;
/** Words of a row's link: the row after it, the row before it, its list and one. */
const nextWord = 0;
const beforeWord = 1;
const listWord = 2;
const linkWords = 3;
/** Words of a list: both halves of its hash, its first row, how many it has. */
const hashAWord = 0;
const hashBWord = 1;
const firstWord = 2;
const countWord = 3;
const listWords = 4;
const listsMin = 64;

/**
 * Rows by a hash of what they say: each row is in at most one list, newest first. Lists are linked through the rows, so
 * that a row is added and removed in constant time whatever the length of its list: 12 bytes a row, and about 26 for
 * each list. Two values with one hash share a list; readers compare.
 */
export class PostingTable {
  /** By chunk of rows; absent where no row was ever linked. */
  readonly #links: (Uint32Array | undefined)[] = [];
  #lists = new Uint32Array(listsMin * listWords);
  /** Open addressing: a list's number and one, 0 where there is none. */
  #slots = new Uint32Array(listsMin * 2);
  #listsMade = 0;
  #listsUsed = 0;
  readonly #released: number[] = [];

  /** How many rows say what hashes to this. */
  count({ a, b }: Hash64): number {
    const slot = this.#find(a, b);
    return slot < 0 ? 0 : (this.#lists[this.#listAt(slot) + countWord] ?? 0);
  }

  /** The first row that says it; 0 is none. */
  first({ a, b }: Hash64): number {
    const slot = this.#find(a, b);
    return slot < 0 ? 0 : (this.#lists[this.#listAt(slot) + firstWord] ?? 0);
  }

  /** The row after this one in its list; 0 is none. */
  next(row: number): number {
    return this.#links[row >>> rowsBits]?.[(row & (chunkRows - 1)) * linkWords + nextWord] ?? 0;
  }

  /** Whether the row is in a list. */
  has(row: number): boolean {
    return (this.#links[row >>> rowsBits]?.[(row & (chunkRows - 1)) * linkWords + listWord] ?? 0) !== 0;
  }

  add(row: number, hash: Hash64): void {
    const list = this.#listOf(hash);
    const lists = this.#lists;
    const second = lists[list * listWords + firstWord] ?? 0;
    const links = this.#chunk(row);
    const at = (row & (chunkRows - 1)) * linkWords;
    links[at + nextWord] = second;
    links[at + beforeWord] = 0;
    links[at + listWord] = list + 1;
    if (second !== 0) this.#chunk(second)[(second & (chunkRows - 1)) * linkWords + beforeWord] = row;
    lists[list * listWords + firstWord] = row;
    lists[list * listWords + countWord] = (lists[list * listWords + countWord] ?? 0) + 1;
  }

  /** Takes a row out of its list, if it is in one. */
  remove(row: number): void {
    const links = this.#links[row >>> rowsBits];
    if (links === undefined) return;
    const at = (row & (chunkRows - 1)) * linkWords;
    const list = (links[at + listWord] ?? 0) - 1;
    if (list < 0) return;
    const next = links[at + nextWord] ?? 0;
    const before = links[at + beforeWord] ?? 0;
    links[at + listWord] = 0;
    if (next !== 0) this.#chunk(next)[(next & (chunkRows - 1)) * linkWords + beforeWord] = before;
    if (before !== 0) this.#chunk(before)[(before & (chunkRows - 1)) * linkWords + nextWord] = next;
    else this.#lists[list * listWords + firstWord] = next;
    const count = (this.#lists[list * listWords + countWord] ?? 1) - 1;
    this.#lists[list * listWords + countWord] = count;
    if (count === 0) this.#drop(list);
  }

  #chunk(row: number): Uint32Array {
    const index = row >>> rowsBits;
    let links = this.#links[index];
    if (links === undefined) {
      links = new Uint32Array(chunkRows * linkWords);
      this.#links[index] = links;
    }
    return links;
  }

  #listAt(slot: number): number {
    return ((this.#slots[slot] ?? 1) - 1) * listWords;
  }

  /** The slot of the list with this hash, or -1. */
  #find(a: number, b: number): number {
    const mask = this.#slots.length - 1;
    for (let slot = a & mask; ; slot = (slot + 1) & mask) {
      const list = this.#slots[slot] ?? 0;
      if (list === 0) return -1;
      const at = (list - 1) * listWords;
      if (this.#lists[at + hashAWord] === a && this.#lists[at + hashBWord] === b) return slot;
    }
  }

  #listOf({ a, b }: Hash64): number {
    const found = this.#find(a, b);
    if (found >= 0) return (this.#slots[found] ?? 1) - 1;
    const list = this.#released.pop() ?? this.#listsMade++;
    if ((list + 1) * listWords > this.#lists.length) {
      const grown = new Uint32Array(this.#lists.length * 2);
      grown.set(this.#lists);
      this.#lists = grown;
    }
    this.#lists.set([a, b, 0, 0], list * listWords);
    this.#listsUsed += 1;
    if (this.#listsUsed * 5 > this.#slots.length * 3) this.#growSlots();
    this.#place(a, list + 1);
    return list;
  }

  #place(a: number, value: number): void {
    const mask = this.#slots.length - 1;
    let slot = a & mask;
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
    this.#slots[slot] = value;
  }

  #growSlots(): void {
    const old = this.#slots;
    this.#slots = new Uint32Array(old.length * 2);
    for (const value of old) if (value !== 0) this.#place(this.#lists[(value - 1) * listWords + hashAWord] ?? 0, value);
  }

  /** Removes an empty list and closes the gap that its slot leaves in the run behind it. */
  #drop(list: number): void {
    const at = list * listWords;
    const slots = this.#slots;
    const mask = slots.length - 1;
    let gap = this.#find(this.#lists[at + hashAWord] ?? 0, this.#lists[at + hashBWord] ?? 0);
    for (let slot = (gap + 1) & mask; slots[slot] !== 0; slot = (slot + 1) & mask) {
      const home = (this.#lists[this.#listAt(slot) + hashAWord] ?? 0) & mask;
      if (((slot - home) & mask) >= ((slot - gap) & mask)) {
        slots[gap] = slots[slot] ?? 0;
        gap = slot;
      }
    }
    slots[gap] = 0;
    this.#listsUsed -= 1;
    this.#released.push(list);
  }
}
