import { decodeAddress, encodeBase58 } from "@sluice/wire/base58";
import { type Hash64, hashBytes } from "../model/index.ts";
import { NumberLists } from "./number-lists.ts";

const CHUNK_BITS = 12;
const CHUNK_ADDRESSES = 1 << CHUNK_BITS;
const ADDRESS_BYTES = 32;
const SLOTS_MIN = 1_024;

/**
 * Addresses that transactions name, each with an id of 32 bits and the numbers of the records that name it, oldest first.
 * An address whose last record goes leaves nothing behind, and its id is given to another.
 */
export class NamedAddresses {
  readonly #chunks: Uint8Array[] = [];
  /** Hash by id, so that the table can be rebuilt without reading addresses. */
  #hashes = new Uint32Array(CHUNK_ADDRESSES);
  readonly #lists = new NumberLists();
  /** Open addressing: an id and one, 0 where there is none. */
  #slots = new Uint32Array(SLOTS_MIN);
  #count = 0;
  #made = 0;
  readonly #released: number[] = [];
  readonly #hash: Hash64 = { a: 0, b: 0 };

  /** The id of an address, given as 32 bytes from `start` on; null when no record names it. */
  find(bytes: Uint8Array, start = 0): number | null {
    hashBytes(bytes, start, ADDRESS_BYTES, this.#hash);
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
    const at = (id & (CHUNK_ADDRESSES - 1)) * ADDRESS_BYTES;
    for (let byte = 0; byte < ADDRESS_BYTES; byte += 1) if (chunk[at + byte] !== bytes[start + byte]) return false;
    return true;
  }

  /** Says that a record names an address, and gives the address's id. The number must be above all that were said. */
  name(bytes: Uint8Array, start: number, number: number): number {
    hashBytes(bytes, start, ADDRESS_BYTES, this.#hash);
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
    if (id >>> CHUNK_BITS >= this.#chunks.length) this.#chunks.push(new Uint8Array(CHUNK_ADDRESSES * ADDRESS_BYTES));
    if (id >= this.#hashes.length) {
      const grown = new Uint32Array(this.#hashes.length * 2);
      grown.set(this.#hashes);
      this.#hashes = grown;
    }
    this.#chunk(id).set(bytes.subarray(start, start + ADDRESS_BYTES), (id & (CHUNK_ADDRESSES - 1)) * ADDRESS_BYTES);
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
    const chunk = this.#chunks[id >>> CHUNK_BITS];
    if (chunk === undefined) throw new RangeError(`no address ${id}`);
    return chunk;
  }

  bytes(id: number): Uint8Array {
    const at = (id & (CHUNK_ADDRESSES - 1)) * ADDRESS_BYTES;
    return this.#chunk(id).subarray(at, at + ADDRESS_BYTES);
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
