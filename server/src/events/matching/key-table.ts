import type { Random } from "@sluice/lib";

const keyBytes = 32;
const keyWords = keyBytes / 4;
/** Keys lie in chunks of this many, so that no growth copies more than a chunk's worth. */
const chunkBits = 10;
const chunkKeys = 1 << chunkBits;
const inChunk = chunkKeys - 1;
const shardBits = 6;
const shardCount = 1 << shardBits;
const smallestShard = 8;

/** Room for the keys of most transactions. */
const readMin = 64;

/** The prime over which keys are hashed: 2^31 - 1. */
const prime = 0x7fff_ffff;
const halfWords = keyBytes / 2;

/** Numbers held for a key: its bytes and these fields, which fill one line of the processor's cache. */
const width = 16;
const hashField = 8;
/** How many lists name the key; the next free key where none does. */
const usesField = 9;
const accountHeadField = 10;
const programHeadField = 11;
const roundField = 12;
const kindsField = 13;

/** A part of the table: pairs of hash and key number plus one, probed one after another. */
interface Shard {
  slots: Int32Array;
  count: number;
}

/** Which of a key's two lists of filters: those that look for it as an account, or as a program that is called. */
export type HeadField = typeof accountHeadField | typeof programHeadField;
export const accountHead: HeadField = accountHeadField;
export const programHead: HeadField = programHeadField;

/**
 * Numbers keys of 32 bytes that filters name, and holds a few numbers for each. All of it lies in typed arrays: ten
 * million keys cost the garbage collector nothing, and each takes 64 bytes and 11 to 22 of slots.
 * The table grows by one of 64 shards at a time, so that no insertion waits for the whole.
 *
 * The hash is a sum of products over a prime with secret factors: any two keys have the same one with a probability of
 * 2^-31, whoever chose them (multilinear hashing: Carter and Wegman, 1979), so that nobody can fill one place.
 */
export class KeyTable {
  readonly #factors = new Float64Array(halfWords);
  readonly #shards: Shard[] = [];
  readonly #chunks: Int32Array[] = [];
  /** The keys that were read. */
  #words = new Int32Array(readMin * keyWords);
  #hashes = new Int32Array(readMin);
  #made = 0;
  /** The first free key plus one; 0 is none. */
  #free = 0;
  #size = 0;

  constructor(random: Random) {
    for (let at = 0; at < halfWords; at++) this.#factors[at] = 1 + Math.floor(random.next() * (prime - 1));
    for (let at = 0; at < shardCount; at++) {
      this.#shards.push({ slots: new Int32Array(smallestShard * 2), count: 0 });
    }
  }

  /** Keys that are held. */
  get size(): number {
    return this.#size;
  }

  /**
   * Reads the 32 bytes at a position as one of the keys that `findRead` looks for.
   *
   * @param place - from 0
   * @returns the key's hash, of 31 bits
   */
  read(place: number, bytes: Uint8Array, at: number): number {
    if (place === this.#hashes.length) this.#growRead();
    const factors = this.#factors;
    const words = this.#words;
    // Sixteen products below 2^47: their sum is exact.
    let sum = 0;
    const first = place * keyWords;
    for (let word = 0, byte = at; word < keyWords; word++, byte += 4) {
      const low = (bytes[byte] ?? 0) | ((bytes[byte + 1] ?? 0) << 8);
      const high = (bytes[byte + 2] ?? 0) | ((bytes[byte + 3] ?? 0) << 8);
      words[first + word] = low | (high << 16);
      sum += (factors[word * 2] ?? 0) * low + (factors[word * 2 + 1] ?? 0) * high;
    }
    const high = Math.floor(sum / 0x8000_0000);
    const folded = sum - high * 0x8000_0000 + high;
    const hash = folded >= prime ? folded - prime : folded;
    this.#hashes[place] = hash;
    return hash;
  }

  /**
   * Looks for the first `count` keys that were read; `found` has their numbers then, -1 for those that are not held.
   * All are looked for in steps, so that the processor waits for the memory of several at once: at 100,000 filters that
   * takes a tenth off a transaction.
   */
  findRead(count: number): void {
    const hashes = this.#hashes;
    const found = this.found;
    for (let place = 0; place < count; place++) {
      const hash = hashes[place] ?? 0;
      const { slots } = this.#shard(hash);
      const slot = slotOf(hash, slots.length - 2);
      // What most places hold: nothing, or at once the key.
      found[place] = slots[slot] === hash || slots[slot + 1] === 0 ? (slots[slot + 1] ?? 0) - 1 : this.#probe(hash, 0);
    }
    for (let place = 0; place < count; place++) {
      const key = found[place] ?? -1;
      if (key !== -1 && !this.#isRead(place, key)) found[place] = this.#find(place);
    }
  }

  /** The numbers of the keys that `findRead` looked for. */
  found = new Int32Array(readMin);

  /** The number of the key at a position, which is held until it was released as often as it was taken. */
  take(bytes: Uint8Array, at: number): number {
    const hash = this.read(0, bytes, at);
    const known = this.#find(0);
    if (known !== -1) {
      this.#add(known, usesField, 1);
      return known;
    }
    const key = this.#next();
    const chunk = this.#chunk(key);
    const start = (key & inChunk) * width;
    chunk.fill(0, start, start + width);
    for (let word = 0; word < keyWords; word++) chunk[start + word] = this.#words[word] ?? 0;
    chunk[start + hashField] = hash;
    chunk[start + usesField] = 1;
    this.#insert(hash, key);
    this.#size += 1;
    return key;
  }

  release(key: number): void {
    if (this.#add(key, usesField, -1) > 0) return;
    this.#remove(this.#field(key, hashField), key);
    this.#setField(key, usesField, this.#free);
    this.#free = key + 1;
    this.#size -= 1;
  }

  hashOf(key: number): number {
    return this.#field(key, hashField);
  }

  /** How many lists of filters name a key. */
  uses(key: number): number {
    return this.#field(key, usesField);
  }

  /** The first node of a key's list; 0 is none. */
  head(key: number, field: HeadField): number {
    return this.#field(key, field);
  }

  setHead(key: number, field: HeadField, node: number): void {
    this.#setField(key, field, node);
  }

  /** Says that a key is there in a round as these kinds; whether it was not yet. */
  mark(key: number, round: number, kinds: number): boolean {
    const chunk = this.#chunk(key);
    const at = (key & inChunk) * width;
    if (chunk[at + roundField] === round) {
      chunk[at + kindsField] = (chunk[at + kindsField] ?? 0) | kinds;
      return false;
    }
    chunk[at + roundField] = round;
    chunk[at + kindsField] = kinds;
    return true;
  }

  /** As which kinds a key is there in a round; 0 is not at all. */
  kinds(key: number, round: number): number {
    const chunk = this.#chunk(key);
    const at = (key & inChunk) * width;
    return chunk[at + roundField] === round ? (chunk[at + kindsField] ?? 0) : 0;
  }

  /** Forgets all rounds, so that they may be counted anew. */
  forgetRounds(): void {
    for (const chunk of this.#chunks) for (let at = roundField; at < chunk.length; at += width) chunk[at] = 0;
  }

  #shard(hash: number): Shard {
    return this.#shards[hash & (shardCount - 1)] as Shard;
  }

  #chunk(key: number): Int32Array {
    return this.#chunks[key >>> chunkBits] as Int32Array;
  }

  #field(key: number, field: number): number {
    return this.#chunk(key)[(key & inChunk) * width + field] ?? 0;
  }

  #setField(key: number, field: number, value: number): void {
    this.#chunk(key)[(key & inChunk) * width + field] = value;
  }

  #add(key: number, field: number, change: number): number {
    const value = this.#field(key, field) + change;
    this.#setField(key, field, value);
    return value;
  }

  #isRead(place: number, key: number): boolean {
    const chunk = this.#chunk(key);
    const words = this.#words;
    const first = place * keyWords;
    const start = (key & inChunk) * width;
    for (let word = 0; word < keyWords; word++) if (chunk[start + word] !== words[first + word]) return false;
    return true;
  }

  /** The number of one key that was read; -1 where it is not held. */
  #find(place: number): number {
    const hash = this.#hashes[place] ?? 0;
    for (let nth = 0; ; nth++) {
      const key = this.#probe(hash, nth);
      if (key === -1 || this.#isRead(place, key)) return key;
    }
  }

  /** The number of the nth key with a hash; -1 where there is none. */
  #probe(hash: number, nth: number): number {
    const { slots } = this.#shard(hash);
    const last = slots.length - 2;
    let left = nth;
    for (let slot = slotOf(hash, last); ; slot = (slot + 2) & last) {
      const held = slots[slot + 1] ?? 0;
      if (held === 0) return -1;
      if (slots[slot] === hash && left-- === 0) return held - 1;
    }
  }

  #growRead(): void {
    const length = this.#hashes.length * 2;
    const [words, hashes] = [this.#words, this.#hashes];
    this.#words = new Int32Array(length * keyWords);
    this.#hashes = new Int32Array(length);
    this.found = new Int32Array(length);
    this.#words.set(words);
    this.#hashes.set(hashes);
  }

  #next(): number {
    if (this.#free !== 0) {
      const key = this.#free - 1;
      this.#free = this.#field(key, usesField);
      return key;
    }
    if ((this.#made & inChunk) === 0) this.#chunks.push(new Int32Array(chunkKeys * width));
    return this.#made++;
  }

  #insert(hash: number, key: number): void {
    const shard = this.#shard(hash);
    if ((shard.count + 1) * 4 > shard.slots.length * 1.5) this.#resize(shard, shard.slots.length * 2);
    place(shard.slots, hash, key + 1);
    shard.count += 1;
  }

  #resize(shard: Shard, length: number): void {
    const grown = new Int32Array(length);
    for (let slot = 0; slot < shard.slots.length; slot += 2) {
      const held = shard.slots[slot + 1] ?? 0;
      if (held !== 0) place(grown, shard.slots[slot] ?? 0, held);
    }
    shard.slots = grown;
  }

  /** Takes a key out and moves up those that were probed past its place. */
  #remove(hash: number, key: number): void {
    const shard = this.#shard(hash);
    const { slots } = shard;
    const last = slots.length - 2;
    let empty = slotOf(hash, last);
    while (slots[empty + 1] !== key + 1) empty = (empty + 2) & last;
    for (let slot = (empty + 2) & last; slots[slot + 1] !== 0; slot = (slot + 2) & last) {
      const wanted = slotOf(slots[slot] ?? 0, last);
      // Whether the place it wants lies at or before the empty one, going round.
      if (((slot - wanted) & last) < ((slot - empty) & last)) continue;
      slots[empty] = slots[slot] ?? 0;
      slots[empty + 1] = slots[slot + 1] ?? 0;
      empty = slot;
    }
    slots[empty] = 0;
    slots[empty + 1] = 0;
    shard.count -= 1;
    if (slots.length > smallestShard * 2 && shard.count * 16 < slots.length) this.#resize(shard, slots.length / 2);
  }
}

function slotOf(hash: number, last: number): number {
  return ((hash >>> shardBits) << 1) & last;
}

function place(slots: Int32Array, hash: number, held: number): void {
  const last = slots.length - 2;
  let slot = slotOf(hash, last);
  while (slots[slot + 1] !== 0) slot = (slot + 2) & last;
  slots[slot] = hash;
  slots[slot + 1] = held;
}
