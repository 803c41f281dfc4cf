import { decodeAddress, encodeBase58 } from "@sluice/wire/base58";
import { type Hash64, hashBytes } from "../model/index.ts";

/** Lists up to this many numbers share arrays; a longer one has its own. */
const sharedMax = 1_024;
const listChunkBits = 16;
const chunkWords = 1 << listChunkBits;
const capacityMin = 2;

/** What is known of one list: four words. */
const startWord = 0;
const capacityWord = 1;
const headWord = 2;
const lengthWord = 3;
const wordsOfList = 4;

/**
 * Many lists of numbers of 32 bits, each in one piece so that it can be searched: appended at the end, shortened at
 * both ends. A list has room for at most four times what it holds and eight more.
 */
class NumberLists {
  #lists = new Uint32Array(chunkWords);
  readonly #chunks: Uint32Array[] = [];
  readonly #own = new Map<number, Uint32Array>();
  /** Released pieces by their length's logarithm. */
  readonly #released: number[][] = [];
  #nextWord = 0;

  length(list: number): number {
    return this.#lists[list * wordsOfList + lengthWord] ?? 0;
  }

  at(list: number, position: number): number {
    const words = this.#lists;
    const offset = (words[list * wordsOfList + headWord] ?? 0) + position;
    if ((words[list * wordsOfList + capacityWord] ?? 0) > sharedMax) return this.#own.get(list)?.[offset] ?? 0;
    const start = words[list * wordsOfList + startWord] ?? 0;
    return this.#chunks[start >>> listChunkBits]?.[(start & (chunkWords - 1)) + offset] ?? 0;
  }

  append(list: number, value: number): void {
    if ((list + 1) * wordsOfList > this.#lists.length) {
      const grown = new Uint32Array(this.#lists.length * 2);
      grown.set(this.#lists);
      this.#lists = grown;
    }
    const at = list * wordsOfList;
    const length = this.length(list);
    if ((this.#lists[at + headWord] ?? 0) + length === (this.#lists[at + capacityWord] ?? 0)) {
      this.#move(list, Math.max(capacityMin, 2 ** Math.ceil(Math.log2((length + 1) * 1.25))));
    }
    const offset = (this.#lists[at + headWord] ?? 0) + length;
    const { words, start } = this.#piece(list);
    words[start + offset] = value;
    this.#lists[at + lengthWord] = length + 1;
  }

  dropFirst(list: number): void {
    const at = list * wordsOfList;
    this.#lists[at + headWord] = (this.#lists[at + headWord] ?? 0) + 1;
    this.#shortened(list);
  }

  dropLast(list: number): void {
    this.#shortened(list);
  }

  #shortened(list: number): void {
    const at = list * wordsOfList;
    const length = this.length(list) - 1;
    this.#lists[at + lengthWord] = length;
    if (length === 0) this.#free(list);
    else if ((this.#lists[at + capacityWord] ?? 0) > length * 4 + 8)
      this.#move(list, 2 ** Math.ceil(Math.log2(length * 2)));
  }

  #piece(list: number): { words: Uint32Array; start: number } {
    const at = list * wordsOfList;
    const own = (this.#lists[at + capacityWord] ?? 0) > sharedMax ? this.#own.get(list) : undefined;
    if (own !== undefined) return { words: own, start: 0 };
    const start = this.#lists[at + startWord] ?? 0;
    const words = this.#chunks[start >>> listChunkBits];
    if (words === undefined) throw new RangeError(`no list ${list}`);
    return { words, start: start & (chunkWords - 1) };
  }

  /** Moves a list to a piece of another capacity, its first number to the front. */
  #move(list: number, capacity: number): void {
    const at = list * wordsOfList;
    const length = this.length(list);
    let held = new Uint32Array();
    if (length > 0) {
      const { words, start } = this.#piece(list);
      const head = start + (this.#lists[at + headWord] ?? 0);
      held = words.slice(head, head + length);
    }
    this.#free(list);
    this.#lists[at + capacityWord] = capacity;
    if (capacity > sharedMax) this.#own.set(list, new Uint32Array(capacity));
    else this.#lists[at + startWord] = this.#allocate(capacity);
    const { words, start } = this.#piece(list);
    words.set(held, start);
    this.#lists[at + lengthWord] = length;
  }

  #allocate(capacity: number): number {
    const reused = this.#released[Math.log2(capacity)]?.pop();
    if (reused !== undefined) return reused;
    const used = this.#nextWord & (chunkWords - 1);
    if (used === 0 || used + capacity > chunkWords) {
      this.#nextWord = this.#chunks.length << listChunkBits;
      this.#chunks.push(new Uint32Array(chunkWords));
    }
    const start = this.#nextWord;
    this.#nextWord += capacity;
    return start >>> 0;
  }

  #free(list: number): void {
    const at = list * wordsOfList;
    const capacity = this.#lists[at + capacityWord] ?? 0;
    if (capacity > sharedMax) this.#own.delete(list);
    else if (capacity > 0) {
      const logarithm = Math.log2(capacity);
      let pieces = this.#released[logarithm];
      if (pieces === undefined) {
        pieces = [];
        this.#released[logarithm] = pieces;
      }
      pieces.push(this.#lists[at + startWord] ?? 0);
    }
    this.#lists.fill(0, at, at + wordsOfList);
  }
}

const addressChunkBits = 12;
const chunkAddresses = 1 << addressChunkBits;
const addressBytes = 32;
const slotsMin = 1_024;

/**
 * Addresses that transactions name, each with an id of 32 bits and the numbers of the records that name it, oldest
 * first. An address whose last record goes leaves nothing behind, and its id is given to another.
 */
export class NamedAddresses {
  readonly #chunks: Uint8Array[] = [];
  /** Hash by id, so that the table can be rebuilt without reading addresses. */
  #hashes = new Uint32Array(chunkAddresses);
  readonly #lists = new NumberLists();
  /** Open addressing: an id and one, 0 where there is none. */
  #slots = new Uint32Array(slotsMin);
  #count = 0;
  #made = 0;
  readonly #released: number[] = [];
  readonly #hash: Hash64 = { a: 0, b: 0 };

  /** The id of an address, given as 32 bytes from `start` on; null when no record names it. */
  find(bytes: Uint8Array, start = 0): number | null {
    hashBytes(bytes, start, addressBytes, this.#hash);
    return this.#find(bytes, start, this.#hash.a);
  }

  #find(bytes: Uint8Array, start: number, hash: number): number | null {
    const mask = this.#slots.length - 1;
    for (let slot = hash & mask; ; slot = (slot + 1) & mask) {
      const id = (this.#slots[slot] ?? 0) - 1;
      if (id < 0) return null;
      if (this.#hashes[id] === hash && this.#is(id, bytes, start)) return id;
    }
  }

  #is(id: number, bytes: Uint8Array, start: number): boolean {
    const chunk = this.#chunk(id);
    const at = (id & (chunkAddresses - 1)) * addressBytes;
    for (let byte = 0; byte < addressBytes; byte += 1) if (chunk[at + byte] !== bytes[start + byte]) return false;
    return true;
  }

  /** Says that a record names an address, and gives the address's id. The number must be above all that were said. */
  name(bytes: Uint8Array, start: number, number: number): number {
    hashBytes(bytes, start, addressBytes, this.#hash);
    const id = this.#find(bytes, start, this.#hash.a) ?? this.#add(bytes, start, this.#hash.a);
    const low = number >>> 0;
    const length = this.#lists.length(id);
    if (length === 0 || this.#lists.at(id, length - 1) !== low) this.#lists.append(id, low);
    return id;
  }

  /** The same of an address given as text. */
  nameText(address: string, number: number): number {
    const bytes = decodeAddress(address);
    if (bytes === null) throw new TypeError(`not an address: ${address}`);
    return this.name(bytes, 0, number);
  }

  #add(bytes: Uint8Array, start: number, hash: number): number {
    const id = this.#released.pop() ?? this.#made++;
    if (id >>> addressChunkBits >= this.#chunks.length)
      this.#chunks.push(new Uint8Array(chunkAddresses * addressBytes));
    if (id >= this.#hashes.length) {
      const grown = new Uint32Array(this.#hashes.length * 2);
      grown.set(this.#hashes);
      this.#hashes = grown;
    }
    this.#chunk(id).set(bytes.subarray(start, start + addressBytes), (id & (chunkAddresses - 1)) * addressBytes);
    this.#hashes[id] = hash;
    this.#count += 1;
    if (this.#count * 5 > this.#slots.length * 3) {
      const old = this.#slots;
      this.#slots = new Uint32Array(old.length * 2);
      for (const kept of old) if (kept !== 0) this.#place(kept);
    }
    this.#place(id + 1);
    return id;
  }

  #place(value: number): void {
    const mask = this.#slots.length - 1;
    let slot = (this.#hashes[value - 1] ?? 0) & mask;
    while (this.#slots[slot] !== 0) slot = (slot + 1) & mask;
    this.#slots[slot] = value;
  }

  /** Says that the oldest record, or the newest, that names an address is gone. */
  forget(id: number, number: number, end: "first" | "last"): void {
    const length = this.#lists.length(id);
    if (length === 0 || this.#lists.at(id, end === "first" ? 0 : length - 1) !== number >>> 0) return;
    if (end === "first") this.#lists.dropFirst(id);
    else this.#lists.dropLast(id);
    if (length === 1) this.#remove(id);
  }

  /** Removes an address and closes the gap that its slot leaves in the run behind it. */
  #remove(id: number): void {
    const slots = this.#slots;
    const mask = slots.length - 1;
    let gap = (this.#hashes[id] ?? 0) & mask;
    while (slots[gap] !== id + 1) gap = (gap + 1) & mask;
    for (let slot = (gap + 1) & mask; slots[slot] !== 0; slot = (slot + 1) & mask) {
      const home = (this.#hashes[(slots[slot] ?? 1) - 1] ?? 0) & mask;
      if (((slot - home) & mask) >= ((slot - gap) & mask)) {
        slots[gap] = slots[slot] ?? 0;
        gap = slot;
      }
    }
    slots[gap] = 0;
    this.#count -= 1;
    this.#released.push(id);
  }

  #chunk(id: number): Uint8Array {
    const chunk = this.#chunks[id >>> addressChunkBits];
    if (chunk === undefined) throw new RangeError(`no address ${id}`);
    return chunk;
  }

  bytes(id: number): Uint8Array {
    const at = (id & (chunkAddresses - 1)) * addressBytes;
    return this.#chunk(id).subarray(at, at + addressBytes);
  }

  text(id: number): string {
    return encodeBase58(this.bytes(id));
  }

  /** How many records name an address. */
  length(id: number): number {
    return this.#lists.length(id);
  }

  /** The low 32 bits of the number of a record that names an address, by its position from the oldest. */
  at(id: number, position: number): number {
    return this.#lists.at(id, position);
  }

  /** How many of an address's records have a number below `number`, where none is below `first`. */
  countBelow(id: number, number: number, first: number): number {
    const wanted = number - first;
    let low = 0;
    let high = this.#lists.length(id);
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#lists.at(id, middle) - first) >>> 0 < wanted) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** Addresses that some record names. */
  get size(): number {
    return this.#count;
  }
}
