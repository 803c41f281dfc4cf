import { decodeAddress } from "@sluice/wire/base58";

/** The 32 bytes of an address that was checked before: anything else is a fault of ours and throws. */
export function keyBytes(address: string): Uint8Array {
  const bytes = decodeAddress(address);
  if (bytes === null) throw new Error(`not an address: ${address}`);
  return bytes;
}
