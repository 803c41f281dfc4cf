import type { AuctionBundle } from "./interfaces.ts";

/** Beyond this a number is no dense id: tables as long as the largest id are made for each tick. */
const accountIdMax = 2 ** 22;

/**
 * Who locks an account, for all accounts: the lockers of account `a` are `entries[starts[a]] .. entries[starts[a + 1] -
 * 1]`, each `bundle * 2 + (1 for a write)`, bundles ascending.
 */
export interface LocksByAccount {
  readonly accounts: number;
  readonly starts: Int32Array;
  readonly entries: Int32Array;
}

export function locksByAccount(bundles: readonly AuctionBundle[]): LocksByAccount {
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

/**
 * Bundles that can only be chosen with regard to each other: a connected component of the conflict graph. `members` are
 * ascending in rank; a member's place among them is its local number, and its bit in every set of the group.
 */
export interface Group {
  readonly members: Int32Array;
  /** Words of 32 bits that a set of members takes. */
  readonly words: number;
  /** Where the neighbours of local number 0 begin in `Conflicts.rows`; those of the next one follow. */
  readonly rowStart: number;
  /** Where the group's set begins in a choice over all groups. */
  readonly bitStart: number;
}

export interface Conflicts {
  readonly groups: readonly Group[];
  /** By bundle. */
  readonly groupOf: Int32Array;
  readonly localOf: Int32Array;
  /** Its bit in a choice over all groups. */
  readonly bitOf: Int32Array;
  /** Neighbours as bit sets. */
  readonly rows: Int32Array;
  /** Words of a choice over all groups. */
  readonly bitWords: number;
}

export interface Contest {
  readonly conflicts: Conflicts;
  /** Accounts that make bundles conflict, ascending. */
  readonly contested: readonly number[];
}

/** Two bundles conflict where one writes what the other writes or reads, tip accounts aside. */
export function findConflicts(count: number, lockers: LocksByAccount, tipAccounts: ReadonlySet<number>): Contest {
  const contested = contestedAccounts(lockers, tipAccounts);
  const conflicts = partition(count, lockers, contested);
  const scratch = new Int32Array(Math.max(count, 2 * Math.ceil(count / 32)));
  for (const account of contested) connect(conflicts, lockers, account, scratch);
  for (const { members, words, rowStart } of conflicts.groups) {
    for (let local = 0; local < members.length; local++) {
      const at = rowStart + local * words + (local >> 5);
      conflicts.rows[at] = (conflicts.rows[at] ?? 0) & ~(1 << (local & 31));
    }
  }
  return { conflicts, contested };
}

/** Accounts with two lockers or more, one of them a writer. */
function contestedAccounts({ accounts, starts, entries }: LocksByAccount, tipAccounts: ReadonlySet<number>): number[] {
  const found: number[] = [];
  for (let account = 0; account < accounts; account++) {
    const start = starts[account] ?? 0;
    const end = starts[account + 1] ?? 0;
    if (end - start < 2 || tipAccounts.has(account)) continue;
    for (let at = start; at < end; at++) {
      if (((entries[at] ?? 0) & 1) === 1) {
        found.push(account);
        break;
      }
    }
  }
  return found;
}

function rootOf(parents: Int32Array, of: number): number {
  let at = of;
  for (let parent = parents[at] ?? at; parent !== at; parent = parents[at] ?? at) {
    const above = parents[parent] ?? parent;
    parents[at] = above;
    at = above;
  }
  return at;
}

function partition(count: number, { starts, entries }: LocksByAccount, contested: readonly number[]): Conflicts {
  const parents = Int32Array.from({ length: count }, (_, index) => index);
  for (const account of contested) {
    const start = starts[account] ?? 0;
    const end = starts[account + 1] ?? 0;
    let root = rootOf(parents, (entries[start] ?? 0) >> 1);
    for (let at = start + 1; at < end; at++) {
      const other = rootOf(parents, (entries[at] ?? 0) >> 1);
      // The least bundle is the root, so that groups come in the order of their first members.
      const [low, high] = root < other ? [root, other] : [other, root];
      parents[high] = low;
      root = low;
    }
  }
  const groupOf = new Int32Array(count);
  const localOf = new Int32Array(count);
  const sizes: number[] = [];
  for (let index = 0; index < count; index++) {
    const root = rootOf(parents, index);
    const group = root === index ? sizes.push(0) - 1 : (groupOf[root] ?? 0);
    groupOf[index] = group;
    localOf[index] = sizes[group] ?? 0;
    sizes[group] = (sizes[group] ?? 0) + 1;
  }
  let memberStart = 0;
  let rowStart = 0;
  let bitStart = 0;
  const everyone = new Int32Array(count);
  const groups = sizes.map((size): Group => {
    const words = (size + 31) >> 5;
    const group = { members: everyone.subarray(memberStart, memberStart + size), words, rowStart, bitStart };
    memberStart += size;
    rowStart += size * words;
    bitStart += words;
    return group;
  });
  for (let index = 0; index < count; index++) {
    const members = groups[groupOf[index] ?? 0]?.members;
    if (members !== undefined) members[localOf[index] ?? 0] = index;
  }
  const bitOf = bitsOf(groups, groupOf, localOf);
  return { groups, groupOf, localOf, bitOf, rows: new Int32Array(rowStart), bitWords: bitStart };
}

/** The bit of each bundle in a choice over all groups. */
export function bitsOf(groups: readonly Group[], groupOf: Int32Array, localOf: Int32Array): Int32Array {
  const bitOf = new Int32Array(localOf.length);
  for (let index = 0; index < bitOf.length; index++) {
    bitOf[index] = (groups[groupOf[index] ?? 0]?.bitStart ?? 0) * 32 + (localOf[index] ?? 0);
  }
  return bitOf;
}

/** Makes the lockers of one account neighbours. `scratch` has room for the number of each bundle. */
function connect(
  conflicts: Conflicts,
  { starts, entries }: LocksByAccount,
  account: number,
  scratch: Int32Array,
): void {
  const { groups, groupOf, localOf, rows } = conflicts;
  const start = starts[account] ?? 0;
  const end = starts[account + 1] ?? 0;
  const group = groups[groupOf[(entries[start] ?? 0) >> 1] ?? 0];
  if (group === undefined) return;
  const { words, rowStart } = group;
  let writers = 0;
  for (let at = start; at < end; at++) writers += (entries[at] ?? 0) & 1;
  if (2 * writers < words) {
    // Few writers in a large group: bit by bit is less than rows as wide as the group. Writers come first here.
    let writer = 0;
    let reader = writers;
    for (let at = start; at < end; at++) {
      const entry = entries[at] ?? 0;
      scratch[(entry & 1) === 1 ? writer++ : reader++] = localOf[entry >> 1] ?? 0;
    }
    for (let at = 0; at < end - start; at++) {
      const row = rowStart + (scratch[at] ?? 0) * words;
      const others = at < writers ? end - start : writers;
      for (let beside = 0; beside < others; beside++) {
        const local = scratch[beside] ?? 0;
        rows[row + (local >> 5)] = (rows[row + (local >> 5)] ?? 0) | (1 << (local & 31));
      }
    }
    return;
  }
  // Words 0 .. words - 1 of the scratch are the writers, the others all who lock the account.
  scratch.fill(0, 0, 2 * words);
  for (let at = start; at < end; at++) {
    const entry = entries[at] ?? 0;
    const local = localOf[entry >> 1] ?? 0;
    const bit = 1 << (local & 31);
    const word = local >> 5;
    if ((entry & 1) === 1) scratch[word] = (scratch[word] ?? 0) | bit;
    scratch[words + word] = (scratch[words + word] ?? 0) | bit;
  }
  for (let at = start; at < end; at++) {
    const entry = entries[at] ?? 0;
    const row = rowStart + (localOf[entry >> 1] ?? 0) * words;
    const from = (entry & 1) * words;
    for (let word = 0; word < words; word++) rows[row + word] = (rows[row + word] ?? 0) | (scratch[from + word] ?? 0);
  }
}
