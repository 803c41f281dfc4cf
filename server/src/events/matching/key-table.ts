import type { Random } from "@sluice/lib";

const keyBytes = 32;
/** Keys and nodes lie in chunks of this many, so that no growth copies more than a chunk's worth. */
const chunkBits = 12;
const chunkKeys = 1 << chunkBits;
const inChunk = chunkKeys - 1;
const shardBits = 8;
const shardCount = 1 << shardBits;
const smallestShard = 8;

/** The prime over which keys are hashed: 2^31 - 1. */
const prime = 0x7fff_ffff;
const halfWords = keyBytes / 2;

/** Numbers held for a key. */
const width = 6;
const hashField = 0;
/** How many lists name the key; the next free key where none does. */
const usesField = 1;
const accountHeadField = 2;
const programHeadField = 3;
const roundField = 4;
const kindsField = 5;

/** A part of the table: pairs of hash and key number plus one, probed one after another. */
interface Shard {
  slots: Int32Array;
  count: number;
}

interface Chunk {
  readonly keys: Uint8Array;
  readonly fields: Int32Array;
}

/** Which of a key's two lists of filters: those that look for it as an account, or as a program that is called. */
export type HeadField = typeof accountHeadField | typeof programHeadField;
export const accountHead: HeadField = accountHeadField;
export const programHead: HeadField = programHeadField;

/**
 * Numbers keys of 32 bytes that filters name, and holds a few numbers for each. All of it lies in typed arrays: ten
 * million keys cost the garbage collector nothing, and each takes 32 bytes, 24 bytes of fields and 11 to 22 of slots.
 * The table grows by one of 256 shards at a time, so that no insertion waits for the whole.
 *
 * The hash is a sum of products over a prime with secret factors: any two keys have the same one with a probability of
 * 2^-31, whoever chose them (multilinear hashing: Carter and Wegman, 1979), so that nobody can fill one place.
 */
export class KeyTable {
  readonly #factors = new Float64Array(halfWords);
  readonly #shards: Shard[] = [];
  readonly #chunks: Chunk[] = [];
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

  /** The hash of the 32 bytes at a position, of 31 bits. */
  hash(bytes: Uint8Array, at: number): number {
    const factors = this.#factors;
    // Sixteen products below 2^47: their sum is exact.
    let sum = 0;
    for (let word = 0, byte = at; word < halfWords; word++, byte += 2) {
      sum += (factors[word] ?? 0) * ((bytes[byte] ?? 0) | ((bytes[byte + 1] ?? 0) << 8));
    }
    const high = Math.floor(sum / 0x8000_0000);
    const folded = sum - high * 0x8000_0000 + high;
    return folded >= prime ? folded - prime : folded;
  }

  /** The number of a key; -1 where it is not held. */
  find(hash: number, bytes: Uint8Array, at: number): number {
    const { slots } = this.#shard(hash);
    const last = slots.length - 2;
    for (let slot = slotOf(hash, last); ; slot = (slot + 2) & last) {
      const held = slots[slot + 1] ?? 0;
      if (held === 0) return -1;
      if (slots[slot] === hash && this.#is(held - 1, bytes, at)) return held - 1;
    }
  }

  /** The number of a key, which is held until it was released as often as it was taken. */
  take(bytes: Uint8Array, at: number): number {
    const hash = this.hash(bytes, at);
    const known = this.find(hash, bytes, at);
    if (known !== -1) {
      this.#add(known, usesField, 1);
      return known;
    }
    const key = this.#next();
    const { keys, fields } = this.#chunk(key);
    const place = key & inChunk;
    keys.set(bytes.subarray(at, at + keyBytes), place * keyBytes);
    fields.fill(0, place * width, (place + 1) * width);
    fields[place * width + hashField] = hash;
    fields[place * width + usesField] = 1;
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

  /** The first node of a key's list; 0 is none. */
  head(key: number, field: HeadField): number {
    return this.#field(key, field);
  }

  setHead(key: number, field: HeadField, node: number): void {
    this.#setField(key, field, node);
  }

  /** Says that a key is there in a round as these kinds; whether it was not yet. */
  mark(key: number, round: number, kinds: number): boolean {
    const { fields } = this.#chunk(key);
    const at = (key & inChunk) * width;
    if (fields[at + roundField] === round) {
      fields[at + kindsField] = (fields[at + kindsField] ?? 0) | kinds;
      return false;
    }
    fields[at + roundField] = round;
    fields[at + kindsField] = kinds;
    return true;
  }

  /** As which kinds a key is there in a round; 0 is not at all. */
  kinds(key: number, round: number): number {
    const { fields } = this.#chunk(key);
    const at = (key & inChunk) * width;
    return fields[at + roundField] === round ? (fields[at + kindsField] ?? 0) : 0;
  }

  /** Forgets all rounds, so that they may be counted anew. */
  forgetRounds(): void {
    for (const { fields } of this.#chunks) for (let at = roundField; at < fields.length; at += width) fields[at] = 0;
  }

  #shard(hash: number): Shard {
    return this.#shards[hash & (shardCount - 1)] as Shard;
  }

  #chunk(key: number): Chunk {
    return this.#chunks[key >>> chunkBits] as Chunk;
  }

  #field(key: number, field: number): number {
    return this.#chunk(key).fields[(key & inChunk) * width + field] ?? 0;
  }

  #setField(key: number, field: number, value: number): void {
    this.#chunk(key).fields[(key & inChunk) * width + field] = value;
  }

  #add(key: number, field: number, change: number): number {
    const value = this.#field(key, field) + change;
    this.#setField(key, field, value);
    return value;
  }

  #is(key: number, bytes: Uint8Array, at: number): boolean {
    const { keys } = this.#chunk(key);
    const start = (key & inChunk) * keyBytes;
    for (let byte = 0; byte < keyBytes; byte++) if (keys[start + byte] !== bytes[at + byte]) return false;
    return true;
  }

  #next(): number {
    if (this.#free !== 0) {
      const key = this.#free - 1;
      this.#free = this.#field(key, usesField);
      return key;
    }
    if ((this.#made & inChunk) === 0) {
      this.#chunks.push({ keys: new Uint8Array(chunkKeys * keyBytes), fields: new Int32Array(chunkKeys * width) });
    }
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
