/** A 64-bit hash in two halves. It finds candidates; the caller compares them with the bytes. */
export interface Hash64 {
  a: number;
  b: number;
}

function finish(value: number): number {
  let mixed = Math.imul(value ^ (value >>> 16), 0x85eb_ca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2_ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** Hashes `length` bytes from `start` into `into`: two chains of multiply and rotate over words of four bytes. */
export function hashBytes(bytes: Uint8Array, start: number, length: number, into: Hash64): void {
  let a = Math.imul(length, 0x9e37_79b1) | 1;
  let b = Math.imul(length, 0x7feb_352d) ^ 0x5bd1_e995;
  const end = start + length;
  for (let at = start; at < end; at += 4) {
    const word =
      (bytes[at] ?? 0) |
      (at + 1 < end ? (bytes[at + 1] ?? 0) << 8 : 0) |
      (at + 2 < end ? (bytes[at + 2] ?? 0) << 16 : 0) |
      (at + 3 < end ? (bytes[at + 3] ?? 0) << 24 : 0);
    a = Math.imul(a ^ word, 0xcc9e_2d51);
    a = (a << 15) | (a >>> 17);
    b = Math.imul(b + word, 0x1b87_3593);
    b = ((b << 13) | (b >>> 19)) ^ a;
  }
  into.a = finish(a);
  into.b = finish(b ^ Math.imul(a, 0x27d4_eb2f));
}

/** Scatters a number that is its own name, such as a length. */
export function hashNumber(value: number, into: Hash64): void {
  into.a = finish(value | 0);
  into.b = value >>> 0;
}
