/** The alphabet of base58, and the last step of every encoding. */

const alphabet = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";
const alphabetCodes = Uint8Array.from(alphabet, (character) => character.charCodeAt(0));
/** A character code below 128 to its digit, or -1. */
export const digitOfCode = new Int8Array(128).fill(-1);
for (let digit = 0; digit < 58; digit++) digitOfCode[alphabetCodes[digit] ?? 0] = digit;

const latin1 = new TextDecoder("latin1");

/** Writes `zeros` times '1' and then the digits from the first one that is not zero. */
export function textOfDigits(digits: Uint8Array, length: number, zeros: number, characters: Uint8Array): string {
  let first = 0;
  while (first < length && digits[first] === 0) first++;
  let at = 0;
  while (at < zeros) characters[at++] = 49;
  for (let i = first; i < length; i++) characters[at++] = alphabetCodes[digits[i] ?? 0] ?? 0;
  return latin1.decode(characters.subarray(0, at));
}

export function leadingZeroBytes(bytes: Uint8Array): number {
  let zeros = 0;
  while (zeros < bytes.length && bytes[zeros] === 0) zeros++;
  return zeros;
}
