import { decodeAddress } from "@sluice/wire/base58";

/** A request that makes no filter; the stream ends with INVALID_ARGUMENT and this text. */
export class FilterFault extends Error {
  constructor(reason: string) {
    super(`failed to create filter: ${reason}`);
  }
}

/** The texts of yellowstone-grpc. */
export function requireCount(count: number, max: number, things: "filters/data_slices" | "Pubkeys"): void {
  if (count > max) throw new FilterFault(`Max amount of ${things} reached, only ${max} allowed`);
}

export function requireAny(isAny: boolean, isAllowed: boolean): void {
  if (!isAny || isAllowed) return;
  throw new FilterFault("Subscribe on full stream with `any` is not allowed, at least one filter required");
}

/** A list of addresses, within its bound and without those that may not be asked for. */
export function addressList(list: readonly string[], max: number, rejected: readonly string[] = []): Set<string> {
  requireCount(list.length, max, "Pubkeys");
  for (const address of list) {
    if (decodeAddress(address) === null) throw new FilterFault(`Invalid Base58 string: ${address.slice(0, shownMax)}`);
    if (rejected.includes(address)) throw new FilterFault(`Pubkey ${address} in filters is not allowed`);
  }
  return new Set(list);
}

/** Characters of a client's text that are shown to it again. */
const shownMax = 64;
