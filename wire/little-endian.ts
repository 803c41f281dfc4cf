/** Integers as Solana lays them out. The caller has checked that the bytes are there. */

export function readU16(bytes: Uint8Array, offset: number): number {
  return (bytes[offset] ?? 0) | ((bytes[offset + 1] ?? 0) << 8);
}

export function readU32(bytes: Uint8Array, offset: number): number {
  return (readU16(bytes, offset) | (readU16(bytes, offset + 2) << 16)) >>> 0;
}

export function readU64(bytes: Uint8Array, offset: number): bigint {
  return (BigInt(readU32(bytes, offset + 4)) << 32n) | BigInt(readU32(bytes, offset));
}

export function readI64(bytes: Uint8Array, offset: number): bigint {
  return BigInt.asIntN(64, readU64(bytes, offset));
}

export function writeU16(bytes: Uint8Array, offset: number, value: number): void {
  bytes[offset] = value;
  bytes[offset + 1] = value >>> 8;
}

export function writeU32(bytes: Uint8Array, offset: number, value: number): void {
  writeU16(bytes, offset, value);
  writeU16(bytes, offset + 2, value >>> 16);
}

export function writeU64(bytes: Uint8Array, offset: number, value: bigint): void {
  writeU32(bytes, offset, Number(value & 0xffff_ffffn));
  writeU32(bytes, offset + 4, Number((value >> 32n) & 0xffff_ffffn));
}
