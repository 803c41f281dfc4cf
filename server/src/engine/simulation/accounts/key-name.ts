import { decodeAddress } from "@sluice/wire/base58";
import type { Address } from "@sluice/wire/identifiers";

/** The 32 bytes of an address; throws RangeError for a text that is none, which is a mistake of the caller. */
export function keyOf(address: Address): Uint8Array {
  const key = decodeAddress(address);
  if (key === null) throw new RangeError(`${address} is no address`);
  return key;
}

/** Bytes as text of one character each: a name for maps that costs a sixth of base58. */
export function nameOfBytes(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1");
}

export function nameOf(address: Address): string {
  return nameOfBytes(keyOf(address));
}
