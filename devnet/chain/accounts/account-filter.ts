import { isTokenAccountAt } from "../model/index.ts";

/** A condition on an account's data. */
export type AccountFilter =
  | { readonly kind: "dataSize"; readonly size: bigint }
  | { readonly kind: "memcmp"; readonly offset: bigint; readonly bytes: Uint8Array }
  | { readonly kind: "tokenAccountState" };

/** The data of an account as `length` bytes from `start` on, so that no view need be made of a row. */
function holds(filter: AccountFilter, bytes: Uint8Array, start: number, length: number): boolean {
  if (filter.kind === "dataSize") return BigInt(length) === filter.size;
  if (filter.kind === "tokenAccountState") return isTokenAccountAt(bytes, start, length);
  if (filter.offset + BigInt(filter.bytes.length) > BigInt(length)) return false;
  // The sum is at most the length of an account, so that the offset is exact.
  const first = start + Number(filter.offset);
  const wanted = filter.bytes;
  for (let at = 0; at < wanted.length; at += 1) if (bytes[first + at] !== wanted[at]) return false;
  return true;
}

/** Whether every filter holds for the `length` bytes from `start` on. */
export function passesFiltersAt(
  filters: readonly AccountFilter[],
  bytes: Uint8Array,
  start: number,
  length: number,
): boolean {
  for (const filter of filters) if (!holds(filter, bytes, start, length)) return false;
  return true;
}

export function passesFilters(filters: readonly AccountFilter[], data: Uint8Array): boolean {
  return passesFiltersAt(filters, data, 0, data.length);
}
