import { decodeAddress } from "./base58.ts";
import { type Address, addressOfBytes } from "./identifiers.ts";

/**
 * Little-endian fields: read and written one after another (`ByteReader`, `ByteWriter`). Fields at an
 * offset that was checked have functions below.
 *
 * `ByteReader` has one failure style: what does not fit throws `MalformedBytes`, and a decoder of an account turns it
 * into null with `orNull`. Two readers stay apart. The transaction parser's cursor (transaction/parse.ts) keeps the
 * first fault as a value, since hostile bytes are its usual input and it must name the broken rule and its offset. The
 * development chain's history reads records of its own memory without checks, in a packed form of numbers.
 */

const fatalUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
const utf8 = new TextEncoder();

/**
 * The bytes do not have the layout that they were read by: too short, a tag out of range, or text that is not UTF-8.
 */
export class MalformedBytes extends RangeError {
  override readonly name = "MalformedBytes";
}

/**
 * Runs a decoder.
 *
 * @returns what `decode` returns, or null when it throws `MalformedBytes`
 * @throws {unknown} any other error of `decode`
 */
export function orNull<T>(decode: () => T): T | null {
  try {
    return decode();
  } catch (error) {
    if (error instanceof MalformedBytes) return null;
    throw error;
  }
}

/** Reads fields from a position on. Every method advances, and throws `MalformedBytes` where the bytes end before. */
export class ByteReader {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #offset: number;

  /** @param offset - the position of the first field, in bytes from the start */
  constructor(bytes: Uint8Array, offset: number = 0) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#offset = offset;
  }

  /** The position of the next field, in bytes from the start. */
  get offset(): number {
    return this.#offset;
  }

  /** How many bytes follow. */
  get remaining(): number {
    return this.#bytes.length - this.#offset;
  }

  #advance(length: number): number {
    const at = this.#offset;
    if (length > this.#bytes.length - at) throw new MalformedBytes(`the bytes end inside a field of ${length}`);
    this.#offset = at + length;
    return at;
  }

  skip(length: number): void {
    this.#advance(length);
  }

  u8(): number {
    return this.#view.getUint8(this.#advance(1));
  }

  u16(): number {
    return this.#view.getUint16(this.#advance(2), true);
  }

  i16(): number {
    return this.#view.getInt16(this.#advance(2), true);
  }

  u32(): number {
    return this.#view.getUint32(this.#advance(4), true);
  }

  u64(): bigint {
    return this.#view.getBigUint64(this.#advance(8), true);
  }

  i64(): bigint {
    return this.#view.getBigInt64(this.#advance(8), true);
  }

  f64(): number {
    return this.#view.getFloat64(this.#advance(8), true);
  }

  /** One byte that is 0 or 1: a bool, or the tag of a Borsh option. @throws {MalformedBytes} when it is neither */
  flag(): boolean {
    const byte = this.u8();
    if (byte > 1) throw new MalformedBytes(`a flag is ${byte}`);
    return byte === 1;
  }

  /** A view of `length` bytes, valid as long as the source. */
  bytes(length: number): Uint8Array {
    const at = this.#advance(length);
    return this.#bytes.subarray(at, at + length);
  }

  /** A view of all bytes that follow. */
  rest(): Uint8Array {
    return this.bytes(this.remaining);
  }

  /** A u32 length and that many bytes, as a view. */
  sizedBytes(): Uint8Array {
    return this.bytes(this.u32());
  }

  /** A u32 length and that many bytes, as a copy. */
  sizedCopy(): Uint8Array {
    const at = this.#advance(this.u32());
    return this.#bytes.slice(at, this.#offset);
  }

  /** `length` bytes of UTF-8. @throws {MalformedBytes} when they are not UTF-8 */
  text(length: number | bigint): string {
    if (length > this.remaining) throw new MalformedBytes("the bytes end inside a text");
    const bytes = this.bytes(Number(length));
    try {
      return fatalUtf8.decode(bytes);
    } catch (cause) {
      throw new MalformedBytes("a text is not UTF-8", { cause });
    }
  }

  /** A u32 length and that many bytes of UTF-8. @throws {MalformedBytes} when they are not UTF-8 */
  sizedText(): string {
    return this.text(this.u32());
  }

  /**
   * `length` bytes as text of which each byte is one character: a key for maps. Only where `Buffer` exists. 52 ns for
   * 32 bytes, where `String.fromCharCode` takes 370 and base58 2,000 (shared core).
   */
  latin1(length: number): string {
    const at = this.#advance(length);
    return Buffer.prototype.toString.call(this.#bytes, "latin1", at, at + length);
  }

  /** 32 bytes as base58 text. */
  address(): Address {
    return addressOfBytes(this.bytes(32));
  }

  /** 32 bytes as base58 text, or null when all are zero (spl-pod, OptionalNonZeroPubkey). */
  addressOrZeros(): Address | null {
    const bytes = this.bytes(32);
    return bytes.every((byte) => byte === 0) ? null : addressOfBytes(bytes);
  }

  /**
   * A u32 tag and 32 bytes that are always there (COption). @throws {MalformedBytes} when the tag is neither 0 nor 1
   */
  fixedOptionalAddress(): Address | null {
    const tag = this.u32();
    if (tag > 1) throw new MalformedBytes(`the tag of an option is ${tag}`);
    const address = this.address();
    return tag === 1 ? address : null;
  }

  /**
   * A one-byte tag, then the value when the tag is 1 (Borsh). @throws {MalformedBytes} when the tag is neither 0 nor 1
   */
  optional<T>(read: () => T): T | null {
    return this.flag() ? read() : null;
  }

  /**
   * A u64 count of items. @throws {MalformedBytes} when it is above `max`, so that no loop is longer than a layout
   * allows
   */
  count(max: number): number {
    const count = this.u64();
    if (count > BigInt(max)) throw new MalformedBytes(`${count} items where ${max} are allowed`);
    return Number(count);
  }

  /** `count` items of at least `itemLength` bytes each. @throws {MalformedBytes} when so many cannot follow */
  list<T>(count: number | bigint, itemLength: number, read: () => T): T[] {
    if (BigInt(count) * BigInt(itemLength) > BigInt(this.remaining)) throw new MalformedBytes("a list is cut short");
    return Array.from({ length: Number(count) }, read);
  }

  /** @throws {MalformedBytes} when bytes follow that no field has claimed */
  end(): void {
    if (this.remaining > 0) throw new MalformedBytes(`${this.remaining} bytes are left over`);
  }
}

/** Writes fields one after another into a buffer that grows by doubling. */
export class ByteWriter {
  #bytes: Uint8Array;
  /** Created by the first field that needs it: a message of bytes and counts never does. */
  #view: DataView | null = null;
  #length = 0;

  /** @param capacity - bytes to begin with; the buffer grows beyond it */
  constructor(capacity: number = 256) {
    this.#bytes = new Uint8Array(capacity);
  }

  #fields(): DataView {
    this.#view ??= new DataView(this.#bytes.buffer);
    return this.#view;
  }

  /** How many bytes have been written. */
  get length(): number {
    return this.#length;
  }

  #room(count: number): number {
    const at = this.#length;
    this.#length = at + count;
    if (this.#length > this.#bytes.length) {
      const grown = new Uint8Array(Math.max(this.#length, this.#bytes.length * 2));
      grown.set(this.#bytes.subarray(0, at));
      this.#bytes = grown;
      this.#view = null;
    }
    return at;
  }

  u8(value: number): this {
    const at = this.#room(1);
    this.#bytes[at] = value;
    return this;
  }

  u16(value: number): this {
    const at = this.#room(2);
    this.#fields().setUint16(at, value, true);
    return this;
  }

  u32(value: number): this {
    const at = this.#room(4);
    this.#fields().setUint32(at, value, true);
    return this;
  }

  u64(value: bigint): this {
    const at = this.#room(8);
    this.#fields().setBigUint64(at, value, true);
    return this;
  }

  i64(value: bigint): this {
    const at = this.#room(8);
    this.#fields().setBigInt64(at, value, true);
    return this;
  }

  f64(value: number): this {
    const at = this.#room(8);
    this.#fields().setFloat64(at, value, true);
    return this;
  }

  /** The bytes alone; the reader knows how many. */
  bytes(bytes: ArrayLike<number>): this {
    const at = this.#room(bytes.length);
    this.#bytes.set(bytes, at);
    return this;
  }

  /** Their number as a u32, then the bytes. */
  sizedBytes(bytes: Uint8Array): this {
    return this.u32(bytes.length).bytes(bytes);
  }

  /** The number of its UTF-8 bytes as a u32, then those. */
  sizedText(text: string): this {
    return this.sizedBytes(utf8.encode(text));
  }

  /** The 32 bytes of base58 text. @throws {RangeError} when the text is not that of an address */
  address(address: string): this {
    const bytes = decodeAddress(address);
    if (bytes === null) throw new RangeError(`${address} is not an address`);
    return this.bytes(bytes);
  }

  /** A one-byte tag, and the value only when there is one (Borsh). */
  option<T>(value: T | null, write: (value: T) => void): this {
    this.u8(value === null ? 0 : 1);
    if (value !== null) write(value);
    return this;
  }

  /** Overwrites four bytes that were written before. */
  protected setU32(at: number, value: number): void {
    this.#fields().setUint32(at, value, true);
  }

  /** Goes back to `length`, so that what was written after it is gone. */
  protected truncate(length: number): void {
    this.#length = length;
  }

  /** A copy of the first `length` bytes. */
  protected copy(length: number): Uint8Array {
    return this.#bytes.slice(0, length);
  }

  /**
   * A copy of what was written, padded with zeros to `size` bytes where it is given.
   *
   * @throws {RangeError} when more than `size` bytes were written
   */
  finish(size: number = this.#length): Uint8Array {
    if (this.#length > size) throw new RangeError(`the layout exceeds ${size} bytes`);
    if (this.#length === size) return this.#bytes.slice(0, size);
    const whole = new Uint8Array(size);
    whole.set(this.#bytes.subarray(0, this.#length));
    return whole;
  }

  /**
   * Empties the writer; a buffer beyond `capacityMax` bytes is replaced by one of `capacity`, so that no large one
   * stays.
   */
  protected reset(capacity: number, capacityMax: number): void {
    this.#length = 0;
    if (this.#bytes.length <= capacityMax) return;
    this.#bytes = new Uint8Array(capacity);
    this.#view = null;
  }
}

/** Little-endian integers at an offset, without checks: the caller has compared the length with the layout before. */

/** Two bytes at `offset`. Bytes beyond the end read as zero, here and below. */
export function readU16(bytes: Uint8Array, offset: number): number {
  return (bytes[offset] ?? 0) | ((bytes[offset + 1] ?? 0) << 8);
}

/** Four bytes at `offset`, as a number from 0 to 2^32-1. */
export function readU32(bytes: Uint8Array, offset: number): number {
  return (readU16(bytes, offset) | (readU16(bytes, offset + 2) << 16)) >>> 0;
}

/** Eight bytes at `offset`, exact. */
export function readU64(bytes: Uint8Array, offset: number): bigint {
  return (BigInt(readU32(bytes, offset + 4)) << 32n) | BigInt(readU32(bytes, offset));
}

/** Eight bytes at `offset` in two's complement, exact. */
export function readI64(bytes: Uint8Array, offset: number): bigint {
  return BigInt.asIntN(64, readU64(bytes, offset));
}

/** Fields that account layouts share. The caller has checked that the bytes are there. */

/**
 * 32 bytes at `offset`, as base58 text.
 *
 * @throws {RangeError} when the bytes end before
 */
export function addressAt(data: Uint8Array, offset: number): Address {
  return addressOfBytes(data.subarray(offset, offset + 32));
}

/** 32 bytes of which all zero means none (spl-pod's OptionalNonZeroPubkey). */
export function nonZeroAddressAt(data: Uint8Array, offset: number): Address | null {
  return isZero(data, offset, offset + 32) ? null : addressAt(data, offset);
}

/** COption: a u32 tag and a value that always takes its room. Undefined when the tag is neither 0 nor 1. */
export function optionAddressAt(data: Uint8Array, offset: number): Address | null | undefined {
  const tag = readU32(data, offset);
  return tag === 0 ? null : tag === 1 ? addressAt(data, offset + 4) : undefined;
}

/** COption of a u64: a u32 tag and eight bytes that are always there. Undefined when the tag is neither 0 nor 1. */
export function optionU64At(data: Uint8Array, offset: number): bigint | null | undefined {
  const tag = readU32(data, offset);
  return tag === 0 ? null : tag === 1 ? readU64(data, offset + 4) : undefined;
}

/** Undefined when the byte is neither 0 nor 1. */
export function boolAt(data: Uint8Array, offset: number): boolean | undefined {
  return data[offset] === 0 ? false : data[offset] === 1 ? true : undefined;
}

/** Whether all bytes from `start` to before `end` are zero. */
export function isZero(data: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (data[at] !== 0) return false;
  return true;
}
