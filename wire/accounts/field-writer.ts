import { decodeAddress } from "../base58.ts";
import type { Address } from "../identifiers.ts";
import { writeU16, writeU32, writeU64 } from "../little-endian.ts";

/** Writes a layout from its start into an account of a fixed size, whose rest stays zero. Beyond it throws RangeError. */
export class FieldWriter {
  readonly data: Uint8Array;
  offset = 0;

  constructor(size: number) {
    this.data = new Uint8Array(size);
  }

  #take(length: number): number {
    const start = this.offset;
    if (length > this.data.length - start) throw new RangeError(`the layout exceeds ${this.data.length} bytes`);
    this.offset = start + length;
    return start;
  }

  u8(value: number): this {
    this.data[this.#take(1)] = value;
    return this;
  }

  u16(value: number): this {
    writeU16(this.data, this.#take(2), value);
    return this;
  }

  u32(value: number): this {
    writeU32(this.data, this.#take(4), value);
    return this;
  }

  u64(value: bigint): this {
    writeU64(this.data, this.#take(8), value);
    return this;
  }

  i64(value: bigint): this {
    return this.u64(BigInt.asUintN(64, value));
  }

  bytes(value: Uint8Array): this {
    this.data.set(value, this.#take(value.length));
    return this;
  }

  address(value: Address): this {
    const bytes = decodeAddress(value);
    if (bytes === null) throw new RangeError(`${value} is no address`);
    return this.bytes(bytes);
  }

  /** Borsh's Option: a tag, and the value only when there is one. */
  option<T>(value: T | null, write: (value: T) => void): this {
    this.u8(value === null ? 0 : 1);
    if (value !== null) write(value);
    return this;
  }
}
