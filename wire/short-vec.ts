/**
 * compact-u16 ("short vec"), the length prefix of legacy and v0 transactions: seven bits a byte, least significant
 * first, at most three bytes. Exactly one form of each value is canonical, and only that one is read, since a node
 * refuses the others.
 */

/** The bytes end inside the length. */
export const shortVecTruncated = -1;
/** The length is padded, longer than three bytes, or above 65535. */
export const shortVecNonCanonical = -2;

/**
 * Reads the length at `offset` without allocating. Reads no byte at or after `end`.
 *
 * @returns value * 4 + width in bytes, or one of the two negative faults
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

/**
 * Writes the length at `offset`.
 *
 * @returns the offset after it
 * @throws {RangeError} when the value is not an integer from 0 to 65535
 */
export function writeShortVec(bytes: Uint8Array, offset: number, value: number): number {
  if (!Number.isInteger(value) || value < 0 || value > 0xffff) throw new RangeError(`${value} is not a u16`);
  let rest = value;
  let at = offset;
  while (rest >= 0x80) {
    bytes[at++] = (rest & 0x7f) | 0x80;
    rest >>= 7;
  }
  bytes[at++] = rest;
  return at;
}
