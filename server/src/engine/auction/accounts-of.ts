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
  let accounts = 0;
  let total = 0;
  // Plain loops: with iterators and closures these passes took three times as long, and as long as all searching.
  for (let index = 0; index < bundles.length; index++) {
    for (let kind = 0; kind < 2; kind++) {
      const ids = (kind === 1 ? bundles[index]?.locks.writes : bundles[index]?.locks.reads) ?? [];
      for (let at = 0; at < ids.length; at++) if ((ids[at] ?? 0) >= accounts) accounts = (ids[at] ?? 0) + 1;
      total += ids.length;
    }
  }
  if (accounts > accountIdMax) throw new RangeError(`account ids reach ${accounts}, and are meant to be dense`);
  // Counted two places on, so that summing up makes each account's place its start, and filling makes it its end.
  const starts = new Int32Array(accounts + 2);
  for (let index = 0; index < bundles.length; index++) {
    for (let kind = 0; kind < 2; kind++) {
      const ids = (kind === 1 ? bundles[index]?.locks.writes : bundles[index]?.locks.reads) ?? [];
      for (let at = 0; at < ids.length; at++) starts[(ids[at] ?? 0) + 2] = (starts[(ids[at] ?? 0) + 2] ?? 0) + 1;
    }
  }
  for (let id = 2; id < starts.length; id++) starts[id] = (starts[id] ?? 0) + (starts[id - 1] ?? 0);
  const entries = new Int32Array(total);
  for (let index = 0; index < bundles.length; index++) {
    for (let kind = 0; kind < 2; kind++) {
      const ids = (kind === 1 ? bundles[index]?.locks.writes : bundles[index]?.locks.reads) ?? [];
      for (let at = 0; at < ids.length; at++) {
        const id = (ids[at] ?? 0) + 1;
        const place = starts[id] ?? 0;
        entries[place] = index * 2 + kind;
        starts[id] = place + 1;
      }
    }
  }
  return { accounts, starts, entries };
}
