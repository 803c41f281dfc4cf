/**
 * Base58 as Solana writes it (Bitcoin's alphabet, no checksum). Keys (32 bytes) and signatures (64 bytes) take a path
 * of their own: one product with a table of powers and one pass of carries instead of a long division. Measured on Bun
 * 1.4.4 by bench/wire, one key, two runs: 14 and 17 times the speed of @solana/kit's codec to encode (0.6 and 0.8 µs on
 * a loaded machine), 26 and 42 times to decode (0.5 and 0.6 µs).
 */

const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const alphabetCodes = Uint8Array.from(alphabet, (character) => character.charCodeAt(0));
/** A character code below 128 to its digit, or -1. */
const digitOfCode = new Int8Array(128).fill(-1);
for (let digit = 0; digit < 58; digit++) digitOfCode[alphabetCodes[digit] ?? 0] = digit;

const latin1 = new TextDecoder("latin1");

/** Writes `zeros` times '1' and then the digits from the first one that is not zero. */
function textOfDigits(digits: Uint8Array, length: number, zeros: number, characters: Uint8Array): string {
  let first = 0;
  while (first < length && digits[first] === 0) first++;
  let at = 0;
  while (at < zeros) characters[at++] = 49;
  for (let i = first; i < length; i++) characters[at++] = alphabetCodes[digits[i] ?? 0] ?? 0;
  return latin1.decode(characters.subarray(0, at));
}

function leadingZeroBytes(bytes: Uint8Array): number {
  let zeros = 0;
  while (zeros < bytes.length && bytes[zeros] === 0) zeros++;
  return zeros;
}

/** Five base58 digits make a limb: a limb times 16 bits, summed 32 times, stays below 2^53 and is exact in a double. */
const limbBase = 58 ** 5;

/** Tables and scratch space for keys or for signatures. */
interface FixedSize {
  readonly byteLength: number;
  readonly halfWords: number;
  readonly limbs: number;
  readonly minCharacters: number;
  readonly maxCharacters: number;
  /** 2^(16 j) in limbs, least significant first: [halfWord j][limb]. */
  readonly powersOfTwo: Float64Array;
  /** 58^(5 l) in half words, least significant first: [limb l][halfWord]. */
  readonly powersOfLimb: Float64Array;
  /** Scratch space; the functions that use it are synchronous. */
  readonly sums: Float64Array;
  readonly digits: Uint8Array;
  readonly characters: Uint8Array;
}

/** 2^(16 j) in limbs, least significant first. */
function powersOfTwoInLimbs(halfWords: number, limbs: number): Float64Array {
  const powers = new Float64Array(halfWords * limbs);
  for (let j = 0; j < halfWords; j++) {
    let rest = 1n << BigInt(16 * j);
    for (let l = 0; l < limbs; l++) {
      powers[j * limbs + l] = Number(rest % BigInt(limbBase));
      rest /= BigInt(limbBase);
    }
  }
  return powers;
}

function makeFixedSize(byteLength: number, maxCharacters: number): FixedSize {
  const halfWords = byteLength / 2;
  const limbs = Math.ceil(maxCharacters / 5);
  const powersOfTwo = powersOfTwoInLimbs(halfWords, limbs);
  const powersOfLimb = new Float64Array(limbs * halfWords);
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
function fixedSize(byteLength: number): FixedSize | null {
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

/** Limbs of the least value's first: what the half words of a value sum up to, carried; digits the most first. */
function digitsOfSums(sums: Float64Array, limbs: number, digits: Uint8Array): void {
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
}

/** Limbs that 2^(16 j) has at most: a half word is 16 bits and a limb 29.29. */
const limbsOfHalfWord = (j: number): number => ((j * 16) / 29.2 + 1) | 0;

function encodeFixed(bytes: Uint8Array, size: FixedSize): string {
  const { halfWords, limbs, powersOfTwo, sums, digits } = size;
  sums.fill(0);
  for (let j = 0; j < halfWords; j++) {
    const at = (halfWords - 1 - j) * 2;
    const word = ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
    if (word === 0) continue;
    const row = j * limbs;
    // The rest of its row is zero.
    const used = Math.min(limbs, limbsOfHalfWord(j));
    for (let l = 0; l < used; l++) sums[l] = (sums[l] ?? 0) + word * (powersOfTwo[row + l] ?? 0);
  }
  digitsOfSums(sums, limbs, digits);
  return textOfDigits(digits, limbs * 5, leadingZeroBytes(bytes), size.characters);
}

/**
 * Data of instructions, which are seldom longer, go by the same products in a table for all lengths: a sum of 64
 * products stays below 2^52. 8 bytes take 0.17 µs, 24 take 0.3 and 128 take 1.7; through BigInt 0.7, 1.2 and 5.1 (least
 * CPU of 60 rounds of 2,000 values on a loaded machine).
 */
const shortMaxBytes = 128;
const shortLimbs = limbsOfHalfWord(shortMaxBytes / 2 - 1) + 1;

interface ShortTable {
  readonly powersOfTwo: Float64Array;
  readonly sums: Float64Array;
  readonly digits: Uint8Array;
  readonly characters: Uint8Array;
}

let shortTable: ShortTable | undefined;

function makeShortTable(): ShortTable {
  return {
    powersOfTwo: powersOfTwoInLimbs(shortMaxBytes / 2, shortLimbs),
    sums: new Float64Array(shortLimbs),
    digits: new Uint8Array(shortLimbs * 5),
    characters: new Uint8Array(shortLimbs * 5 + shortMaxBytes),
  };
}

function encodeShort(bytes: Uint8Array): string {
  shortTable ??= makeShortTable();
  const { powersOfTwo, sums, digits, characters } = shortTable;
  const halfWords = (bytes.length + 1) >> 1;
  const limbs = limbsOfHalfWord(halfWords - 1) + 1;
  sums.fill(0, 0, limbs);
  for (let j = 0; j < halfWords; j++) {
    const at = bytes.length - 2 - j * 2;
    // The first half word of an odd number of bytes has one of them.
    const word = ((at < 0 ? 0 : (bytes[at] ?? 0)) << 8) | (bytes[at + 1] ?? 0);
    if (word === 0) continue;
    const row = j * shortLimbs;
    const used = limbsOfHalfWord(j);
    for (let l = 0; l < used; l++) sums[l] = (sums[l] ?? 0) + word * (powersOfTwo[row + l] ?? 0);
  }
  digitsOfSums(sums, limbs, digits);
  return textOfDigits(digits, limbs * 5, leadingZeroBytes(bytes), characters);
}

/** Base58 to exactly 32 or 64 bytes; null for a bad character or any other size. */
function decodeFixed(text: string, size: FixedSize): Uint8Array | null {
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

/** A whole transaction of 1,232 bytes is the longest thing that the chain's protocols carry in base58. */
const defaultMaxBytes = 1232;

/** What `encodeBase58` takes at most: the most data that one program may hand another in a call. */
export const maxBase58Bytes = 10_240;

/**
 * Longer values, and all that is decoded, go through BigInt, nine digits a step. It stays quadratic, which is why
 * lengths are bounded, but in machine words: 1,232 bytes take 57 µs to decode and 125 µs to encode, against 630 and 920
 * with limbs in doubles; 10 KiB take 2 ms to encode.
 */
const stepDigits = 9;
const stepBase = BigInt(58 ** stepDigits);

/** Steps below which a value is divided by one step at a time instead of being halved. */
const stepsHalved = 48;

/** Appends `count` steps of a value, the least first. Halves first, so that long divisions are few. */
function pushSteps(value: bigint, count: number, steps: number[]): void {
  if (count > stepsHalved) {
    const low = count >> 1;
    const unit = stepBase ** BigInt(low);
    const high = value / unit;
    pushSteps(value - high * unit, low, steps);
    pushSteps(high, count - low, steps);
    return;
  }
  let rest = value;
  for (let step = 0; step < count; step++) {
    const quotient = rest / stepBase;
    steps.push(Number(rest - quotient * stepBase));
    rest = quotient;
  }
}

function encodeAny(bytes: Uint8Array): string {
  const zeros = leadingZeroBytes(bytes);
  const steps: number[] = [];
  const value = zeros === bytes.length ? 0n : BigInt(`0x${bytes.toHex()}`);
  pushSteps(value, Math.ceil(((bytes.length - zeros) * 1.3658) / stepDigits), steps);
  const digits = new Uint8Array(steps.length * stepDigits);
  let end = digits.length;
  for (let step of steps) {
    for (let d = 1; d <= stepDigits; d++) {
      const quotient = Math.floor(step / 58);
      digits[end - d] = step - quotient * 58;
      step = quotient;
    }
    end -= stepDigits;
  }
  return textOfDigits(digits, digits.length, zeros, new Uint8Array(digits.length + zeros));
}

/**
 * Encodes bytes.
 *
 * @throws {RangeError} when there are more than `maxBase58Bytes` bytes, which is a mistake of the caller
 */
export function encodeBase58(bytes: Uint8Array): string {
  const size = fixedSize(bytes.length);
  if (size !== null) return encodeFixed(bytes, size);
  if (bytes.length <= shortMaxBytes) return encodeShort(bytes);
  if (bytes.length > maxBase58Bytes) {
    throw new RangeError(`base58 is bounded to ${maxBase58Bytes} bytes, not ${bytes.length}`);
  }
  return encodeAny(bytes);
}

/**
 * Base58 to bytes of whatever length up to `maxBytes`; null for a bad character or a longer value. Text that cannot be
 * within the bound is refused by its length, before any quadratic work. Empty text is no bytes.
 */
export function decodeBase58(text: string, maxBytes: number = defaultMaxBytes): Uint8Array | null {
  const length = text.length;
  if (length > Math.ceil(maxBytes * 1.3658)) return null;
  let zeros = 0;
  while (zeros < length && text.charCodeAt(zeros) === 49) zeros++;
  let value = 0n;
  for (let i = zeros; i < length; ) {
    // The first step takes what is left over when the text is cut into nines from its end.
    const stop = i + ((length - i) % stepDigits || stepDigits);
    let step = 0;
    for (; i < stop; i++) {
      const code = text.charCodeAt(i);
      const digit = code < 128 ? (digitOfCode[code] ?? -1) : -1;
      if (digit < 0) return null;
      step = step * 58 + digit;
    }
    value = value * stepBase + BigInt(step);
  }
  const hex = value === 0n ? "" : value.toString(16);
  const width = (hex.length + 1) >> 1;
  if (zeros + width > maxBytes) return null;
  const bytes = new Uint8Array(zeros + width);
  bytes.subarray(zeros).setFromHex(hex.length % 2 === 0 ? hex : `0${hex}`);
  return bytes;
}

/** The 32 bytes of an address, a blockhash or a mint; null unless the text is exactly that. */
export function decodeAddress(text: string): Uint8Array | null {
  const size = fixedSize(32);
  return size === null ? null : decodeFixed(text, size);
}

/**
 * The 32 bytes of an address that is known to be valid.
 * @throws {RangeError} when the text is not an address.
 */
export function addressBytes(address: string): Uint8Array {
  const bytes = decodeAddress(address);
  if (bytes === null) throw new RangeError(`not an address: ${address}`);
  return bytes;
}

/** The 64 bytes of a signature; null unless the text is exactly that. */
export function decodeSignature(text: string): Uint8Array | null {
  const size = fixedSize(64);
  return size === null ? null : decodeFixed(text, size);
}
