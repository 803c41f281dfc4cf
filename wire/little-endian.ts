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
