import type { AuctionBundle } from "./interfaces.ts";

/** Beyond this a number is no dense id: tables as long as the largest id are made for each tick. */
const accountIdMax = 2 ** 22;

/**
 * Who locks an account, for all accounts: the lockers of account `a` are `entries[starts[a]] .. entries[starts[a + 1] - 1]`,
 * each `bundle * 2 + (1 for a write)`, bundles ascending.
 */
export interface Lockers {
  readonly accounts: number;
  readonly starts: Int32Array;
  readonly entries: Int32Array;
}

export function lockersOf(bundles: readonly AuctionBundle[]): Lockers {
  const { ids, ends } = flatten(bundles);
  let accounts = 0;
  for (let at = 0; at < ids.length; at++) if ((ids[at] ?? 0) >= accounts) accounts = (ids[at] ?? 0) + 1;
  if (accounts > accountIdMax) throw new RangeError(`account ids reach ${accounts}, and are meant to be dense`);
  // Counted two places on, so that summing up makes each account's place its start, and filling makes it its end.
  const starts = new Int32Array(accounts + 2);
  for (let at = 0; at < ids.length; at++) starts[(ids[at] ?? 0) + 2] = (starts[(ids[at] ?? 0) + 2] ?? 0) + 1;
  for (let id = 2; id < starts.length; id++) starts[id] = (starts[id] ?? 0) + (starts[id - 1] ?? 0);
  const entries = new Int32Array(ids.length);
  for (let entry = 0, at = 0; entry < ends.length; entry++) {
    for (const end = ends[entry] ?? 0; at < end; at++) {
      const id = (ids[at] ?? 0) + 1;
      const place = starts[id] ?? 0;
      entries[place] = entry;
      starts[id] = place + 1;
    }
  }
  return { accounts, starts, entries };
}

/** All ids in one piece, and by entry (`bundle * 2 + (1 for writes)`) where its own end. */
function flatten(bundles: readonly AuctionBundle[]): { readonly ids: Float64Array; readonly ends: Int32Array } {
  let total = 0;
  for (let index = 0; index < bundles.length; index++) {
    const locks = bundles[index]?.locks;
    if (locks !== undefined) total += locks.reads.length + locks.writes.length;
  }
  // Doubles, so that an id that is no int32 is seen as what it is. The lists lie scattered in memory and are read once:
  // to read them in each pass took three times as long.
  const ids = new Float64Array(total);
  const ends = new Int32Array(bundles.length * 2);
  let place = 0;
  for (let index = 0; index < bundles.length; index++) {
    const { reads, writes } = bundles[index]?.locks ?? { reads: [], writes: [] };
    for (let at = 0; at < reads.length; at++) ids[place++] = reads[at] ?? 0;
    ends[index * 2] = place;
    for (let at = 0; at < writes.length; at++) ids[place++] = writes[at] ?? 0;
    ends[index * 2 + 1] = place;
  }
  return { ids, ends };
}
