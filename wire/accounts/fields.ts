import { type Address, addressOfBytes } from "../identifiers.ts";
import { readU32, readU64 } from "../little-endian.ts";

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
