import type { ChainAccount } from "@sluice/svm";
import { encodeAccount } from "../account.ts";
import { A } from "./keys.ts";

export function chainAccount(data: Uint8Array, owner: string): ChainAccount {
  return { lamports: 1n, data, owner, executable: false, rentEpoch: 0n };
}

/** What an account of these data is presented as; `mint` are the data of the mint that a token account names. */
export function presented(
  data: Uint8Array,
  owner: string,
  options: { readonly address?: string; readonly mint?: Uint8Array | null; readonly unixTimestamp?: bigint } = {},
): unknown {
  const { mint, address = A, unixTimestamp = 0n } = options;
  const lookup = () => (mint === undefined || mint === null ? null : chainAccount(mint, owner));
  const clock = { epoch: 0n, unixTimestamp };
  const encoded = encodeAccount(address, chainAccount(data, owner), { encoding: "jsonParsed", lookup, clock });
  return "fault" in encoded ? encoded.fault : encoded.data;
}

/** Parts one after another, with zeros up to `length` when it is given. */
export function bytesOf(parts: readonly Uint8Array[], length?: number): Uint8Array {
  const joined = Buffer.concat(parts);
  return new Uint8Array(length === undefined ? joined : Buffer.concat([joined], length));
}
