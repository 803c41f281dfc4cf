import { type Address, addressOfBytes } from "../identifiers.ts";
import { readU32, readU64 } from "../little-endian.ts";

/** Fields that account layouts share. The caller has checked that the bytes are there. */

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

export function optionU64At(data: Uint8Array, offset: number): bigint | null | undefined {
  const tag = readU32(data, offset);
  return tag === 0 ? null : tag === 1 ? readU64(data, offset + 4) : undefined;
}

/** Undefined when the byte is neither 0 nor 1. */
export function boolAt(data: Uint8Array, offset: number): boolean | undefined {
  return data[offset] === 0 ? false : data[offset] === 1 ? true : undefined;
}

export function isZero(data: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end; at++) if (data[at] !== 0) return false;
  return true;
}

/** Reads a layout of variable size from its start; after a read beyond the end `failed` is set and reads give zeros. */
export class FieldReader {
  readonly #data: Uint8Array;
  offset: number;
  failed = false;

  constructor(data: Uint8Array, offset: number) {
    this.#data = data;
    this.offset = offset;
  }

  /** Steps over `length` bytes; gives where they start, or -1. */
  take(length: number): number {
    const start = this.offset;
    if (this.failed || length > this.#data.length - start) {
      this.failed = true;
      return -1;
    }
    this.offset = start + length;
    return start;
  }

  u8(): number {
    const start = this.take(1);
    return start < 0 ? 0 : (this.#data[start] ?? 0);
  }

  u32(): number {
    const start = this.take(4);
    return start < 0 ? 0 : readU32(this.#data, start);
  }

  u64(): bigint {
    const start = this.take(8);
    return start < 0 ? 0n : readU64(this.#data, start);
  }

  /** A u64 count of items; more than `max` fails, so that no loop is longer than the layout allows. */
  count(max: number): number {
    const count = this.u64();
    if (count > BigInt(max)) this.failed = true;
    return this.failed ? 0 : Number(count);
  }

  /** Null after a failure, which the caller tells by `failed`. */
  address(): Address | null {
    const start = this.take(32);
    return start < 0 ? null : addressAt(this.#data, start);
  }

  /** Borsh's Option tag; anything but 0 and 1 fails. */
  some(): boolean {
    const tag = this.u8();
    if (tag > 1) this.failed = true;
    return tag === 1 && !this.failed;
  }
}
