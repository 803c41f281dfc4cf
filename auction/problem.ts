import { type Conflicts, findConflicts, type LocksByAccount, locksByAccount } from "./conflicts.ts";
import type { AuctionBundle, AuctionCaps } from "./interfaces.ts";

/**
 * A cap that several winners share: the block's compute, or a tip account's. Others' accounts have one winner at most.
 */
export interface SharedCap {
  /** Compute units that are free. */
  readonly capacity: number;
  /** Compute units that each bundle would take of it. */
  readonly uses: Float64Array;
}

/**
 * What a tick decides, in whole numbers that doubles hold exactly. Bundles are numbered by rank; those that the caps
 * forbid even alone are not among them.
 */
export interface Problem {
  readonly size: number;
  /** Tips times `scale`. */
  readonly tips: Float64Array;
  /** A power of two, so that prices of compute units, which are whole numbers too, are fine enough. */
  readonly scale: number;
  /**
   * Bits cut off each tip beforehand: 0 unless all tips together exceed 2^49 lamports (562,949 SOL). What is cut off is
   * reported in the gap.
   */
  readonly cutBits: bigint;
  /** The block's first, then those of tip accounts that could run out. */
  readonly caps: readonly SharedCap[];
  readonly conflicts: Conflicts;
}

/** A problem, and the accounts that its conflicts are about. */
export interface Contested {
  readonly problem: Problem;
  readonly locks: LocksByAccount;
  readonly contested: readonly number[];
}

/** Values and each cap's price times its capacity stay below 2^49, so that sums over all ten are exact. */
const valueBits = 49;
/** Finer prices than 2^-24 lamports for a compute unit decide nothing. */
const scaleBitsMax = 24;

/** Whether the caps have room for the bundle when no other is chosen. */
export function fitsAlone(
  { computeUnits, locks }: AuctionBundle,
  free: (account: number) => number,
  caps: AuctionCaps,
): boolean {
  if (computeUnits > caps.computeUnits) return false;
  // Where no account is used yet, a bundle below the cap of one needs no look at each.
  if (caps.usedBy === undefined && computeUnits <= caps.accountComputeUnits) return true;
  const { writes, writeComputeUnits } = locks;
  for (let at = 0; at < writes.length; at++) {
    if ((writeComputeUnits?.[at] ?? computeUnits) > free(writes[at] ?? 0)) return false;
  }
  return true;
}

/** Compute units left for an account, each asked for once. */
export function freeOf(caps: AuctionCaps): (account: number) => number {
  const { accountComputeUnits, usedBy } = caps;
  if (usedBy === undefined) return () => accountComputeUnits;
  const known = new Map<number, number>();
  return (account) => {
    const found = known.get(account);
    if (found !== undefined) return found;
    const free = accountComputeUnits - usedBy.call(caps, account);
    known.set(account, free);
    return free;
  };
}

/** The problem of bundles that are ranked and fit alone. */
export function problemOf(
  bundles: readonly AuctionBundle[],
  free: (account: number) => number,
  caps: AuctionCaps,
): Contested {
  let total = 0n;
  for (const { tip } of bundles) total += tip;
  const totalBits = total.toString(2).length;
  const cutBits = Math.max(0, totalBits - valueBits);
  const scale = 2 ** Math.max(0, Math.min(scaleBitsMax, valueBits - totalBits));
  const computeUnits = new Float64Array(bundles.length);
  const tips = new Float64Array(bundles.length);
  for (let index = 0; index < bundles.length; index++) {
    const bundle = bundles[index];
    if (bundle === undefined) break;
    computeUnits[index] = bundle.computeUnits;
    tips[index] = Number(cutBits === 0 ? bundle.tip : bundle.tip >> BigInt(cutBits)) * scale;
  }
  const locks = locksByAccount(bundles);
  const { conflicts, contested } = findConflicts(bundles.length, locks, caps.tipAccounts);
  const problem = {
    size: bundles.length,
    tips,
    scale,
    cutBits: BigInt(cutBits),
    caps: [{ capacity: caps.computeUnits, uses: computeUnits }, ...tipAccountCaps(bundles, locks, free, caps)],
    conflicts,
  };
  return { problem, locks, contested };
}

/** Tip accounts that could run out, which are few: what all bundles together would use of one is more than it has. */
function tipAccountCaps(
  bundles: readonly AuctionBundle[],
  locks: LocksByAccount,
  free: (account: number) => number,
  { tipAccounts }: AuctionCaps,
): SharedCap[] {
  const found: SharedCap[] = [];
  for (const account of [...tipAccounts].sort((a, b) => a - b)) {
    if (account >= locks.accounts) continue;
    const uses = new Float64Array(bundles.length);
    let total = 0;
    for (let at = locks.starts[account] ?? 0; at < (locks.starts[account + 1] ?? 0); at++) {
      const entry = locks.entries[at] ?? 0;
      const bundle = bundles[entry >> 1];
      if ((entry & 1) === 0 || bundle === undefined) continue;
      const { writes, writeComputeUnits } = bundle.locks;
      const use = writeComputeUnits?.[writes.indexOf(account)] ?? bundle.computeUnits;
      uses[entry >> 1] = use;
      total += use;
    }
    if (total > Math.max(0, free(account))) found.push({ capacity: free(account), uses });
  }
  return found;
}

/** Bundles chosen, as one set over all groups: see `Group.bitStart`. */
export type Choice = Int32Array;

export function isChosen({ conflicts }: Problem, choice: Choice, bundle: number): boolean {
  const bit = conflicts.bitOf[bundle] ?? 0;
  return ((choice[bit >> 5] ?? 0) & (1 << (bit & 31))) !== 0;
}

export function choose({ conflicts }: Problem, choice: Choice, bundle: number): void {
  const bit = conflicts.bitOf[bundle] ?? 0;
  choice[bit >> 5] = (choice[bit >> 5] ?? 0) | (1 << (bit & 31));
}

/** Whether the bundle conflicts with one that is chosen. */
export function isBlocked({ conflicts }: Problem, choice: Choice, bundle: number): boolean {
  const group = conflicts.groups[conflicts.groupOf[bundle] ?? 0];
  if (group === undefined) return false;
  const row = group.rowStart + (conflicts.localOf[bundle] ?? 0) * group.words;
  for (let word = 0; word < group.words; word++) {
    if (((conflicts.rows[row + word] ?? 0) & (choice[group.bitStart + word] ?? 0)) !== 0) return true;
  }
  return false;
}

export interface Filled {
  readonly choice: Choice;
  readonly worth: number;
}

/**
 * A choice that respects conflicts and caps, from a wish that need not respect caps: first what is wished, by rank,
 * then everyone else by rank, each if there is room. An empty wish makes it the plain greedy choice.
 */
export function fill(problem: Problem, wish: Choice | null): Filled {
  const choice = new Int32Array(problem.conflicts.bitWords);
  const free = Float64Array.from(problem.caps, ({ capacity }) => capacity);
  const uses = problem.caps.map((cap) => cap.uses);
  let worth = 0;
  for (let pass = wish === null ? 1 : 0; pass < 2; pass++) {
    for (let bundle = 0; bundle < problem.size; bundle++) {
      if (wish !== null && isChosen(problem, wish, bundle) !== (pass === 0)) continue;
      if (!hasRoom(uses, free, bundle) || isBlocked(problem, choice, bundle)) continue;
      for (let cap = 0; cap < uses.length; cap++) free[cap] = (free[cap] ?? 0) - (uses[cap]?.[bundle] ?? 0);
      choose(problem, choice, bundle);
      worth += problem.tips[bundle] ?? 0;
    }
  }
  return { choice, worth };
}

function hasRoom(uses: readonly Float64Array[], free: Float64Array, bundle: number): boolean {
  for (let cap = 0; cap < uses.length; cap++) if ((uses[cap]?.[bundle] ?? 0) > (free[cap] ?? 0)) return false;
  return true;
}

/** The caps that a choice exceeds. */
export function exceededBy(problem: Problem, choice: Choice): number[] {
  return problem.caps.flatMap(({ capacity, uses }, cap) => {
    let used = 0;
    for (let bundle = 0; bundle < problem.size; bundle++) {
      if (isChosen(problem, choice, bundle)) used += uses[bundle] ?? 0;
    }
    return used > capacity ? [cap] : [];
  });
}
