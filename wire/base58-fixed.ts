import { digitOfCode, leadingZeroBytes, textOfDigits } from "./base58-digits.ts";

/** Five base58 digits make a limb: a limb times 16 bits, summed 32 times, stays below 2^53 and is exact in a double. */
const limbBase = 58 ** 5;

/** Tables and scratch space for keys or for signatures. */
export interface FixedSize {
  readonly byteLength: number;
  readonly halfWords: number;
  readonly limbs: number;
  readonly minCharacters: number;
  readonly maxCharacters: number;
  /** 2^(16 j) in limbs, least significant first: [halfWord j][limb]. */
  readonly powersOfTwo: Float64Array;
  /** 58^(5 l) in half words, least significant first: [limb l][halfWord]. */
  readonly powersOfLimb: Float64Array;
  /** Scratch space; the functions here are synchronous, so nobody else is using it. */
  readonly sums: Float64Array;
  readonly digits: Uint8Array;
  readonly characters: Uint8Array;
}

function makeFixedSize(byteLength: number, maxCharacters: number): FixedSize {
  const halfWords = byteLength / 2;
  const limbs = Math.ceil(maxCharacters / 5);
  const powersOfTwo = new Float64Array(halfWords * limbs);
  const powersOfLimb = new Float64Array(limbs * halfWords);
  for (let j = 0; j < halfWords; j++) {
    let rest = 1n << BigInt(16 * j);
    for (let l = 0; l < limbs; l++) {
      powersOfTwo[j * limbs + l] = Number(rest % BigInt(limbBase));
      rest /= BigInt(limbBase);
    }
  }
  for (let l = 0; l < limbs; l++) {
    let rest = BigInt(limbBase) ** BigInt(l);
    for (let j = 0; j < halfWords; j++) {
      powersOfLimb[l * halfWords + j] = Number(rest & 0xffffn);
      rest >>= 16n;
    }
  }
  return {
    byteLength,
    halfWords,
    limbs,
    minCharacters: byteLength,
    maxCharacters,
    powersOfTwo,
    powersOfLimb,
    sums: new Float64Array(Math.max(halfWords, limbs)),
    digits: new Uint8Array(limbs * 5),
    characters: new Uint8Array(limbs * 5 + byteLength),
  };
}

let keySize: FixedSize | undefined;
let signatureSize: FixedSize | undefined;

/** Null for a length that has no path of its own. The tables are made at the first use. */
export function fixedSize(byteLength: number): FixedSize | null {
  if (byteLength === 32) {
    keySize ??= makeFixedSize(32, 44);
    return keySize;
  }
  if (byteLength === 64) {
    signatureSize ??= makeFixedSize(64, 88);
    return signatureSize;
  }
  return null;
}

export function encodeFixed(bytes: Uint8Array, size: FixedSize): string {
  const { halfWords, limbs, powersOfTwo, sums, digits } = size;
  sums.fill(0);
  for (let j = 0; j < halfWords; j++) {
    const at = (halfWords - 1 - j) * 2;
    const word = ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
    if (word === 0) continue;
    const row = j * limbs;
    // 2^(16 j) has at most 16 j / 29.2 + 1 limbs; the rest of its row is zero.
    const used = Math.min(limbs, ((j * 16) / 29.2 + 1) | 0);
    for (let l = 0; l < used; l++) sums[l] = (sums[l] ?? 0) + word * (powersOfTwo[row + l] ?? 0);
  }
  let carry = 0;
  for (let l = 0; l < limbs; l++) {
    const sum = (sums[l] ?? 0) + carry;
    carry = Math.floor(sum / limbBase);
    let limb = (sum - carry * limbBase) | 0;
    const at = (limbs - 1 - l) * 5;
    for (let d = 4; d >= 0; d--) {
      const quotient = (limb / 58) | 0;
      digits[at + d] = limb - quotient * 58;
      limb = quotient;
    }
  }
  return textOfDigits(digits, limbs * 5, leadingZeroBytes(bytes), size.characters);
}

/** Base58 to exactly 32 or 64 bytes; null for a bad character or any other size. */
export function decodeFixed(text: string, size: FixedSize): Uint8Array | null {
  const { halfWords, limbs, powersOfLimb, sums, byteLength } = size;
  const length = text.length;
  if (length < size.minCharacters || length > size.maxCharacters) return null;
  sums.fill(0);
  let zeros = 0;
  let onlyZeros = true;
  let limb = 0;
  // The first limb takes what is left over when the text is cut into fives from its end.
  let l = Math.ceil(length / 5) - 1;
  let untilLimb = length - l * 5;
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    const digit = code < 128 ? (digitOfCode[code] ?? -1) : -1;
    if (digit < 0) return null;
    if (onlyZeros) {
      if (digit === 0) zeros++;
      else onlyZeros = false;
    }
    limb = limb * 58 + digit;
    if (--untilLimb > 0) continue;
    const row = l * halfWords;
    // 58^(5 l) has at most 29.3 l / 16 + 1 half words, and is at most as wide as the result.
    const used = l >= limbs ? 0 : Math.min(halfWords, ((l * 29.3) / 16 + 1) | 0);
    for (let j = 0; j < used; j++) sums[j] = (sums[j] ?? 0) + limb * (powersOfLimb[row + j] ?? 0);
    limb = 0;
    untilLimb = 5;
    l--;
  }
  const bytes = new Uint8Array(byteLength);
  let carry = 0;
  for (let j = 0; j < halfWords; j++) {
    const sum = (sums[j] ?? 0) + carry;
    carry = Math.floor(sum / 65536);
    const word = sum - carry * 65536;
    const at = (halfWords - 1 - j) * 2;
    bytes[at] = word >>> 8;
    bytes[at + 1] = word;
  }
  // A carry out of the top is a number too large; a differing count of zeros is a value of another size.
  if (carry !== 0 || leadingZeroBytes(bytes) !== zeros) return null;
  return bytes;
}
