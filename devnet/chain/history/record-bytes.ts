import { decodeAddress } from "@sluice/wire/base58";

const START_BYTES = 16_384;
const ADDRESS_BYTES = 32;

/**
 * Writes one record after another into the same memory. A u64 takes a byte for its length and as many as it needs; a
 * count takes seven bits a byte.
 */
export class RecordWriter {
  #bytes = new Uint8Array(START_BYTES);
  #length = 0;
  readonly #long = new BigUint64Array(1);
  readonly #longBytes = new Uint8Array(this.#long.buffer);
  readonly #text = new TextEncoder();

  /** What was written since `reset`, as a view that the next write may change. */
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
    if (bytes?.length !== ADDRESS_BYTES) throw new TypeError(`not an address: ${value}`);
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
