import { decodeAddress } from "@sluice/wire/base58";

const startBytes = 16_384;
const addressBytes = 32;

/**
 * Writes one record after another into the same memory. A u64 takes a byte for its length and as many as it needs; a
 * count takes seven bits a byte.
 */
export class RecordWriter {
  #bytes = new Uint8Array(startBytes);
  #length = 0;
  readonly #long = new BigUint64Array(1);
  readonly #longBytes = new Uint8Array(this.#long.buffer);
  readonly #text = new TextEncoder();

  /** The bytes written since `reset`, as a view that the next write may change. */
  get written(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  reset(): void {
    this.#length = 0;
  }

  #room(count: number): void {
    if (this.#length + count <= this.#bytes.length) return;
    const grown = new Uint8Array(Math.max(this.#bytes.length * 2, this.#length + count));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }

  u8(value: number): void {
    this.#room(1);
    this.#bytes[this.#length++] = value;
  }

  u16(value: number): void {
    this.u8(value & 255);
    this.u8(value >>> 8);
  }

  u32(value: number): void {
    this.u16(value & 0xffff);
    this.u16(value >>> 16);
  }

  count(value: number): void {
    let rest = value;
    while (rest >= 128) {
      this.u8((rest & 127) | 128);
      rest = Math.floor(rest / 128);
    }
    this.u8(rest);
  }

  u64(value: bigint): void {
    this.#long[0] = value;
    let bytes = 8;
    while (bytes > 0 && this.#longBytes[bytes - 1] === 0) bytes -= 1;
    this.u8(bytes);
    for (let at = 0; at < bytes; at += 1) this.u8(this.#longBytes[at] ?? 0);
  }

  bytes(value: Uint8Array): void {
    this.#room(value.length);
    this.#bytes.set(value, this.#length);
    this.#length += value.length;
  }

  /** Bytes but for `count` of them from `start` on. */
  bytesWithout(value: Uint8Array, start: number, count: number): void {
    this.bytes(value);
    const from = this.#length - value.length + start;
    this.#bytes.copyWithin(from, from + count, this.#length);
    this.#length -= count;
  }

  sizedBytes(value: Uint8Array): void {
    this.count(value.length);
    this.bytes(value);
  }

  text(value: string): void {
    this.sizedBytes(this.#text.encode(value));
  }

  address(value: string): void {
    const bytes = decodeAddress(value);
    if (bytes?.length !== addressBytes) throw new TypeError(`not an address: ${value}`);
    this.bytes(bytes);
  }
}

/** Reads what RecordWriter wrote. */
export class RecordReader {
  readonly #bytes: Uint8Array;
  #at: number;

  constructor(bytes: Uint8Array, start: number) {
    this.#bytes = bytes;
    this.#at = start;
  }

  u8(): number {
    return this.#bytes[this.#at++] ?? 0;
  }

  u16(): number {
    return this.u8() | (this.u8() << 8);
  }

  u32(): number {
    return (this.u16() | (this.u16() << 16)) >>> 0;
  }

  count(): number {
    let value = 0;
    for (let unit = 1; ; unit *= 128) {
      const byte = this.u8();
      value += (byte & 127) * unit;
      if (byte < 128) return value;
    }
  }

  u64(): bigint {
    return this.u64Of(this.u8());
  }

  /** A u64 whose length was read already. */
  u64Of(bytes: number): bigint {
    let low = 0;
    let high = 0;
    for (let at = 0; at < bytes; at += 1) {
      if (at < 4) low |= this.u8() << (at * 8);
      else high |= this.u8() << (at * 8 - 32);
    }
    return bytes <= 4 ? BigInt(low >>> 0) : (BigInt(high >>> 0) << 32n) | BigInt(low >>> 0);
  }

  /** A copy of the next bytes. */
  bytes(count: number): Uint8Array {
    this.#at += count;
    return this.#bytes.slice(this.#at - count, this.#at);
  }

  sizedBytes(): Uint8Array {
    return this.bytes(this.count());
  }

  text(): string {
    return new TextDecoder().decode(this.sizedBytes());
  }
}

const chunkBytes = 1_024 * 1_024;
const chunkRecordsMin = 1_024;

interface Chunk {
  readonly bytes: Uint8Array;
  /** The number of its first record. */
  readonly first: number;
  count: number;
  used: number;
  /** Where each record starts. */
  starts: Uint32Array;
}

/** Where a record lies. */
export interface RecordPlace {
  readonly bytes: Uint8Array;
  readonly start: number;
}

/**
 * Records one after another, numbered upwards from 0, in chunks of 1 MiB (a longer record has its own chunk). The
 * oldest are dropped and the newest taken back; a chunk goes with the last record in it.
 */
export class RecordLog {
  #chunks: Chunk[] = [];
  #first = 0;
  #end = 0;

  /** The number of the oldest record. */
  get first(): number {
    return this.#first;
  }

  /** The number that the next record gets. */
  get end(): number {
    return this.#end;
  }

  append(record: Uint8Array): number {
    let chunk = this.#chunks.at(-1);
    if (chunk === undefined || chunk.used + record.length > chunk.bytes.length) {
      chunk = {
        bytes: new Uint8Array(Math.max(chunkBytes, record.length)),
        first: this.#end,
        count: 0,
        used: 0,
        starts: new Uint32Array(chunkRecordsMin),
      };
      this.#chunks.push(chunk);
    }
    if (chunk.count === chunk.starts.length) {
      const grown = new Uint32Array(chunk.count * 2);
      grown.set(chunk.starts);
      chunk.starts = grown;
    }
    chunk.starts[chunk.count] = chunk.used;
    chunk.bytes.set(record, chunk.used);
    chunk.used += record.length;
    chunk.count += 1;
    this.#end += 1;
    return this.#end - 1;
  }

  place(number: number): RecordPlace {
    let low = 0;
    let high = this.#chunks.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >>> 1;
      if ((this.#chunks[middle]?.first ?? 0) <= number) low = middle;
      else high = middle - 1;
    }
    const chunk = this.#chunks[low];
    if (chunk === undefined || number < this.#first || number >= this.#end) throw new RangeError(`no record ${number}`);
    return { bytes: chunk.bytes, start: chunk.starts[number - chunk.first] ?? 0 };
  }

  /** Drops the records below `number`. */
  dropBefore(number: number): void {
    this.#first = number;
    const kept = this.#chunks.findIndex(({ first, count }) => first + count > number);
    if (kept !== 0) this.#chunks.splice(0, kept < 0 ? this.#chunks.length : kept);
  }

  /** Takes back the records from `number` on; it is the next one to be given. */
  truncate(number: number): void {
    this.#end = number;
    while ((this.#chunks.at(-1)?.first ?? -1) >= number) this.#chunks.pop();
    const last = this.#chunks.at(-1);
    if (last === undefined || last.first + last.count <= number) return;
    last.used = last.starts[number - last.first] ?? 0;
    last.count = number - last.first;
  }
}
