import { decodeAddress } from "@sluice/wire/base58";
import { PublicKey } from "@solana/web3.js";

/** A key of one byte repeated, so that keys differ visibly. */
function key(byte: number): PublicKey {
  return new PublicKey(new Uint8Array(32).fill(byte));
}

export const [a, b, c, d, e, f] = [key(1), key(2), key(3), key(4), key(5), key(6)];

/** The same keys as text. */
export const [A, B, C, D, E, F] = [a, b, c, d, e, f].map((each) => each.toBase58()) as [
  string,
  string,
  string,
  string,
  string,
  string,
];

/** An address's bytes. */
export function raw(address: string): Uint8Array {
  return decodeAddress(address) ?? new Uint8Array();
}
