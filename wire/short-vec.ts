/**
 * compact-u16 ("short vec"), the length prefix of legacy and v0 transactions: seven bits a byte, least significant
 * first, at most three bytes. Exactly one form of each value is canonical, and only that one is read, since a node
 * refuses the others.
 */

/** Why a length could not be read. */
export type ShortVecFault = "TRUNCATED" | "NON_CANONICAL_LENGTH";

export type ShortVecRead =
  | { readonly ok: true; readonly value: number; readonly next: number }
  | { readonly ok: false; readonly fault: ShortVecFault };

export const shortVecTruncated = -1;
export const shortVecNonCanonical = -2;

/**
 * The allocation-free form, for the transaction parser: value * 4 + width in bytes, or one of the two negative faults.
 * Reads no byte at or after `end`.
 */
export function readShortVecPacked(bytes: Uint8Array, offset: number, end: number): number {
  if (offset >= end) return shortVecTruncated;
  const first = bytes[offset] ?? 0;
  if (first < 0x80) return first * 4 + 1;
  if (offset + 1 >= end) return shortVecTruncated;
  const second = bytes[offset + 1] ?? 0;
  if (second < 0x80) return second === 0 ? shortVecNonCanonical : ((first & 0x7f) | (second << 7)) * 4 + 2;
  if (offset + 2 >= end) return shortVecTruncated;
  const third = bytes[offset + 2] ?? 0;
  // The third byte holds the two highest of sixteen bits; 0 would be padding, more than 3 is beyond a u16.
  if (third === 0 || third > 3) return shortVecNonCanonical;
  return ((first & 0x7f) | ((second & 0x7f) << 7) | (third << 14)) * 4 + 3;
}

/** Reads the length at `offset`; `next` is the offset after it. */
export function readShortVec(bytes: Uint8Array, offset: number, end: number = bytes.length): ShortVecRead {
  const packed = readShortVecPacked(bytes, offset, end);
  if (packed === shortVecTruncated) return { ok: false, fault: "TRUNCATED" };
  if (packed === shortVecNonCanonical) return { ok: false, fault: "NON_CANONICAL_LENGTH" };
  return { ok: true, value: packed >> 2, next: offset + (packed & 3) };
}

/** How many bytes the length takes: 1 to 3. */
export function shortVecSize(value: number): number {
  return value < 0x80 ? 1 : value < 0x4000 ? 2 : 3;
}

/** Writes the length at `offset` and gives the offset after it. Throws RangeError outside of 0..65535. */
export function writeShortVec(bytes: Uint8Array, offset: number, value: number): number {
  if (!Number.isInteger(value) || value < 0 || value > 0xffff) throw new RangeError(`${value} is no u16`);
  let rest = value;
  let at = offset;
  while (rest >= 0x80) {
    bytes[at++] = (rest & 0x7f) | 0x80;
    rest >>= 7;
  }
  bytes[at++] = rest;
  return at;
}
