import { decodeAddress, decodeSignature, encodeBase58 } from "./base58.ts";

declare const brand: unique symbol;

/** Base58 text of 32 bytes that was checked to be so. Also the form of a blockhash and of a program id. */
export type Address = string & { readonly [brand]: "Address" };
/** Base58 text of 64 bytes that was checked to be so; the first signature of a transaction is its id. */
export type Signature = string & { readonly [brand]: "Signature" };
/** A slot number, u64. */
export type Slot = bigint & { readonly [brand]: "Slot" };
/** An amount of native currency in its smallest unit, u64. */
export type Lamports = bigint & { readonly [brand]: "Lamports" };

/** The largest u64: also the `rentEpoch` of every rent-exempt account and the epoch that means never. */
export const maxU64 = 0xffff_ffff_ffff_ffffn;

/** Whether a value is base58 text of exactly 32 bytes. */
export function isAddress(value: unknown): value is Address {
  return typeof value === "string" && decodeAddress(value) !== null;
}

/** Whether a value is base58 text of exactly 64 bytes. */
export function isSignature(value: unknown): value is Signature {
  return typeof value === "string" && decodeSignature(value) !== null;
}

/** Null unless the value is base58 text of exactly 32 bytes. */
export function parseAddress(value: unknown): Address | null {
  return isAddress(value) ? value : null;
}

/** Null unless the value is base58 text of exactly 64 bytes. */
export function parseSignature(value: unknown): Signature | null {
  return isSignature(value) ? value : null;
}

/**
 * The base58 text of 32 bytes.
 *
 * @throws {RangeError} when there are not 32 bytes, which is a mistake of the caller
 */
export function addressOfBytes(bytes: Uint8Array): Address {
  if (bytes.length !== 32) throw new RangeError(`an address has 32 bytes, not ${bytes.length}`);
  return encodeBase58(bytes) as Address;
}

/**
 * The base58 text of 64 bytes.
 *
 * @throws {RangeError} when there are not 64 bytes, which is a mistake of the caller
 */
export function signatureOfBytes(bytes: Uint8Array): Signature {
  if (bytes.length !== 64) throw new RangeError(`a signature has 64 bytes, not ${bytes.length}`);
  return encodeBase58(bytes) as Signature;
}

/**
 * A u64 from a bigint, a number that holds it exactly, or canonical decimal digits; null for everything else. A number
 * above 2^53-1 has already lost digits and is refused.
 */
export function parseU64(value: unknown): bigint | null {
  if (typeof value === "bigint") return value >= 0n && value <= maxU64 ? value : null;
  if (typeof value === "number") return Number.isSafeInteger(value) && value >= 0 ? BigInt(value) : null;
  if (typeof value !== "string" || value.length > 20 || !/^(?:0|[1-9][0-9]*)$/.test(value)) return null;
  const parsed = BigInt(value);
  return parsed <= maxU64 ? parsed : null;
}

/** `parseU64` for a slot number. */
export function parseSlot(value: unknown): Slot | null {
  const parsed = parseU64(value);
  return parsed === null ? null : (parsed as Slot);
}

/** `parseU64` for an amount in lamports. */
export function parseLamports(value: unknown): Lamports | null {
  const parsed = parseU64(value);
  return parsed === null ? null : (parsed as Lamports);
}
