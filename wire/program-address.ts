import { type Address, addressOfBytes } from "./identifiers.ts";

/**
 * Addresses that a program derives from seeds: SHA-256 over seeds, bump, program and a marker, with the highest bump
 * whose digest is no point of the Ed25519 curve, so that no key for it exists. The digest is passed in, since a
 * server and a browser have different ones.
 */

/** A digest of any bytes: 32 bytes. */
export type Sha256 = (bytes: Uint8Array) => Uint8Array;

/** An address without a private key, and the bump seed that leads to it. */
export interface ProgramAddress {
  /** 32 bytes. */
  readonly bytes: Uint8Array;
  readonly bump: number;
}

const marker = new TextEncoder().encode("ProgramDerivedAddress");
/** The runtime's own bounds; the bump is one of the sixteen. */
const seedsMax = 15;
const seedBytesMax = 32;

/**
 * Derives the address of `seeds` under `program` with the highest bump that is off the curve. Source: solana-pubkey,
 * `find_program_address`.
 *
 * @param seeds - at most 15, of at most 32 bytes each
 * @param program - 32 bytes
 * @returns null when no bump gives an address, which happens for no known input
 * @throws {RangeError} when the seeds are too many or too long or the program has not 32 bytes, which is a mistake of
 * the caller
 */
export function findProgramAddress(
  seeds: readonly Uint8Array[],
  program: Uint8Array,
  sha256: Sha256,
): ProgramAddress | null {
  if (program.length !== 32) throw new RangeError(`a program id has 32 bytes, not ${program.length}`);
  if (seeds.length > seedsMax) throw new RangeError(`at most ${seedsMax} seeds and a bump, not ${seeds.length}`);
  let length = 0;
  for (const seed of seeds) {
    if (seed.length > seedBytesMax) throw new RangeError(`a seed has at most ${seedBytesMax} bytes`);
    length += seed.length;
  }
  const preimage = new Uint8Array(length + 1 + 32 + marker.length);
  let at = 0;
  for (const seed of seeds) {
    preimage.set(seed, at);
    at += seed.length;
  }
  preimage.set(program, at + 1);
  preimage.set(marker, at + 33);
  for (let bump = 255; bump >= 0; bump--) {
    preimage[at] = bump;
    const bytes = sha256(preimage);
    if (!isOnCurve(bytes)) return { bytes, bump };
  }
  return null;
}

/**
 * The address of `findProgramAddress` as base58 text.
 *
 * @throws {RangeError} when no bump gives an address, and as `findProgramAddress`
 */
export function programAddress(seeds: readonly Uint8Array[], program: Uint8Array, sha256: Sha256): Address {
  const found = findProgramAddress(seeds, program, sha256);
  if (found === null) throw new RangeError("no bump gives an address off the curve");
  return addressOfBytes(found.bytes);
}

/**
 * Whether 32 bytes are a compressed point of the Ed25519 curve, as the chain's runtime decides (curve25519-dalek's
 * decompression): a y of 2^255-19 or more is taken modulo that prime, and the sign bit is ignored. In BigInt it
 * takes 20 to 50 µs by the machine's load; limbs in doubles took five times as long on Bun 1.4.
 */
export function isOnCurve(bytes: Uint8Array): boolean {
  if (bytes.length !== 32) return false;
  let hex = "0x";
  for (let at = 31; at >= 0; at--) hex += hexOfByte[at === 31 ? (bytes[at] ?? 0) & 0x7f : (bytes[at] ?? 0)];
  const y = BigInt(hex);
  const ySquared = (y * y) % prime;
  // x^2 = (y^2 - 1) / (d y^2 + 1), which is a square exactly when the product of the two is.
  return isSquare(((ySquared + prime - 1n) * ((curveD * ySquared + 1n) % prime)) % prime);
}

const hexOfByte = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, "0"));
const prime = 2n ** 255n - 19n;
/** d = -121665/121666 of the curve (RFC 8032, section 5.1). */
const curveD = 0x52036cee2b6ffe738cc740797779e89800700a4d4141d8ab75eb4dca135978a3n;

function squareTimes(value: bigint, times: number): bigint {
  let result = value;
  for (let i = 0; i < times; i++) result = (result * result) % prime;
  return result;
}

/**
 * Euler's criterion: value^((p-1)/2) is 1 for a square, 0 for 0 and -1 for the rest. (p-1)/2 = 2^254 - 10 is reached by
 * the usual chain of powers 2^n - 1.
 */
function isSquare(value: bigint): boolean {
  const three = (squareTimes(value, 1) * value) % prime;
  const ones4 = (squareTimes(three, 2) * three) % prime;
  const ones5 = (squareTimes(ones4, 1) * value) % prime;
  const ones10 = (squareTimes(ones5, 5) * ones5) % prime;
  const ones20 = (squareTimes(ones10, 10) * ones10) % prime;
  const ones40 = (squareTimes(ones20, 20) * ones20) % prime;
  const ones50 = (squareTimes(ones40, 10) * ones10) % prime;
  const ones100 = (squareTimes(ones50, 50) * ones50) % prime;
  const ones200 = (squareTimes(ones100, 100) * ones100) % prime;
  const ones250 = (squareTimes(ones200, 50) * ones50) % prime;
  // 2^254 - 10 = (2^250 - 1) * 2^4 + 6
  return (squareTimes(ones250, 4) * squareTimes(three, 1)) % prime !== prime - 1n;
}
