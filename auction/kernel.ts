import { type CliqueCover, coverByAccounts } from "./clique-cover.ts";
import { bitsOf, type Conflicts, type Group } from "./conflicts.ts";
import { hasBit, partsOf, type SearchBudget } from "./graph.ts";
import type { Contested, Problem } from "./problem.ts";
import { byScore } from "./rank.ts";

/** Rounds in which dominated bundles are removed; later rounds find few. */
const roundsMax = 2;
/** A further round runs when the one before removed at least one in so many. */
const roundGain = 4;

/** A problem with fewer bundles and an optimum of the same value (kernelization). */
export interface Kernel {
  /** Bundles and groups are renumbered in the same order; groups are the connected parts that remain. */
  readonly problem: Problem;
  /** For each bundle of the kernel, its number in the whole problem. */
  readonly bundles: Int32Array;
  /** For each group of the kernel: see `coverByAccounts`. */
  readonly covers: readonly (CliqueCover | null)[];
}

/**
 * Removes dominated bundles. A bundle is dominated by a neighbour that pays at least as much, takes no more of any
 * active cap, and conflicts only with bundles that it conflicts with itself: in every set the neighbour can take its
 * place. Of bundles that compete for one account nearly all are removed. When the steps run out, more remain than
 * necessary.
 */
export function kernelOf(whole: Contested, active: readonly number[], budget: SearchBudget): Kernel {
  const { conflicts, tips, caps } = whole.problem;
  const uses = active.map((cap) => caps[cap]?.uses ?? tips);
  const live = new Int32Array(conflicts.bitWords);
  for (const group of conflicts.groups) {
    const { members, words, bitStart } = group;
    for (let local = 0; local < members.length; local++) {
      const at = bitStart + (local >> 5);
      live[at] = (live[at] ?? 0) | (1 << (local & 31));
    }
    if (members.length === 1) continue;
    const within = (of: Float64Array): Float64Array => {
      const own = new Float64Array(members.length);
      for (let local = 0; local < members.length; local++) own[local] = of[members[local] ?? 0] ?? 0;
      return own;
    };
    const order = byScore(within(tips));
    // A neighbour that pays as much for no more of the block's compute comes before it in rank.
    const isBefore = active.includes(0);
    const thinning = { rows: conflicts.rows, group, order, uses: uses.map(within), isBefore, budget };
    removeDominated(thinning, live.subarray(bitStart, bitStart + words));
  }
  return restrict(whole, live);
}

interface Domination {
  readonly rows: Int32Array;
  readonly group: Group;
  /** Local numbers, the highest tip first. */
  readonly order: Int32Array;
  /** Of each active cap, by local number. */
  readonly uses: readonly Float64Array[];
  /** Whether only bundles before a member in rank can dominate it. */
  readonly isBefore: boolean;
  readonly budget: SearchBudget;
}

function removeDominated(thinning: Domination, live: Int32Array): void {
  const { order, budget } = thinning;
  const above = new Int32Array(live.length);
  for (let round = 0; round < roundsMax && budget.steps > 0; round++) {
    let dropped = 0;
    above.set(live);
    for (let at = order.length - 1; at >= 0 && budget.steps > 0; at--) {
      const local = order[at] ?? 0;
      const bit = ~(1 << (local & 31));
      const word = local >> 5;
      above[word] = (above[word] ?? 0) & bit;
      if (!hasBit(live, 0, local) || !isDominated(thinning, live, above, local)) continue;
      live[word] = (live[word] ?? 0) & bit;
      dropped++;
    }
    if (dropped * roundGain < order.length) return;
  }
}

/** `above` holds the live members that pay at least as much. */
function isDominated(
  { rows, group: { words, rowStart }, uses, isBefore, budget }: Domination,
  live: Int32Array,
  above: Int32Array,
  local: number,
): boolean {
  const row = rowStart + local * words;
  const ownWord = local >> 5;
  const notOwn = ~(1 << (local & 31));
  const end = isBefore ? ownWord + 1 : words;
  let steps = words;
  let isFound = false;
  for (let word = 0; word < end && !isFound; word++) {
    let rest = (rows[row + word] ?? 0) & (above[word] ?? 0);
    if (isBefore && word === ownWord) rest &= ~notOwn - 1;
    for (; rest !== 0 && !isFound; rest &= rest - 1) {
      const other = word * 32 + 31 - Math.clz32(rest & -rest);
      steps += 2;
      if (usesMore(uses, other, local)) continue;
      const otherRow = rowStart + other * words;
      let at = 0;
      for (; at < words; at++) {
        const beyond = (rows[otherRow + at] ?? 0) & (live[at] ?? 0) & ~(rows[row + at] ?? 0);
        if ((at === ownWord ? beyond & notOwn : beyond) !== 0) break;
      }
      steps += at + 2;
      isFound = at === words;
    }
  }
  budget.steps -= steps;
  return isFound;
}

function usesMore(uses: readonly Float64Array[], one: number, other: number): boolean {
  for (let cap = 0; cap < uses.length; cap++) if ((uses[cap]?.[one] ?? 0) > (uses[cap]?.[other] ?? 0)) return true;
  return false;
}

/** The problem of the bundles in `live`, a choice over all groups. */
function restrict({ problem, locks, contested }: Contested, live: Int32Array): Kernel {
  const { conflicts, tips, caps, size } = problem;
  const places = new Int32Array(size).fill(-1);
  let count = 0;
  for (let bundle = 0; bundle < size; bundle++) {
    const { bitStart = 0 } = conflicts.groups[conflicts.groupOf[bundle] ?? 0] ?? {};
    if (hasBit(live, bitStart, conflicts.localOf[bundle] ?? 0)) places[bundle] = count++;
  }
  const bundles = new Int32Array(count);
  for (let bundle = 0; bundle < size; bundle++) {
    const place = places[bundle] ?? -1;
    if (place >= 0) bundles[place] = bundle;
  }
  const only = (of: Float64Array): Float64Array => {
    const kept = new Float64Array(count);
    for (let at = 0; at < count; at++) kept[at] = of[bundles[at] ?? 0] ?? 0;
    return kept;
  };
  const within = conflictsWithin(conflicts, live, places, count);
  return {
    bundles,
    covers: coverByAccounts(locks, contested, places, within),
    problem: {
      ...problem,
      size: count,
      tips: only(tips),
      caps: caps.map(({ capacity, uses }) => ({ capacity, uses: only(uses) })),
      conflicts: within,
    },
  };
}

function conflictsWithin(conflicts: Conflicts, live: Int32Array, places: Int32Array, count: number): Conflicts {
  const groupOf = new Int32Array(count);
  const localOf = new Int32Array(count);
  const groups: Group[] = [];
  const origins: { readonly group: Group; readonly locals: readonly number[] }[] = [];
  let rowStart = 0;
  let bitStart = 0;
  for (const group of conflicts.groups) {
    const parts =
      group.members.length === 1
        ? [[0]]
        : partsOf(
            conflicts.rows,
            group.rowStart,
            group.words,
            live.subarray(group.bitStart, group.bitStart + group.words),
          );
    for (const part of parts) {
      const locals = part.length === 1 ? part : part.sort((a, b) => a - b);
      const words = (locals.length + 31) >> 5;
      const members = new Int32Array(locals.length);
      for (let at = 0; at < locals.length; at++) {
        const bundle = places[group.members[locals[at] ?? 0] ?? 0] ?? 0;
        members[at] = bundle;
        groupOf[bundle] = groups.length;
        localOf[bundle] = at;
      }
      groups.push({ members, words, rowStart, bitStart });
      origins.push({ group, locals });
      rowStart += words * locals.length;
      bitStart += words;
    }
  }
  const rows = new Int32Array(rowStart);
  for (let number = 0; number < groups.length; number++) {
    const group = groups[number];
    const origin = origins[number];
    if (group === undefined || origin === undefined || group.members.length === 1) continue;
    copyRows(conflicts, origin.group, origin.locals, live, places, localOf, rows, group);
  }
  return { groups, groupOf, localOf, bitOf: bitsOf(groups, groupOf, localOf), rows, bitWords: bitStart };
}

function copyRows(
  conflicts: Conflicts,
  from: Group,
  locals: readonly number[],
  live: Int32Array,
  places: Int32Array,
  localOf: Int32Array,
  rows: Int32Array,
  to: Group,
): void {
  if (locals.length === from.members.length) {
    rows.set(conflicts.rows.subarray(from.rowStart, from.rowStart + locals.length * from.words), to.rowStart);
    return;
  }
  for (let at = 0; at < locals.length; at++) {
    const row = from.rowStart + (locals[at] ?? 0) * from.words;
    const target = to.rowStart + at * to.words;
    for (let word = 0; word < from.words; word++) {
      let rest = (conflicts.rows[row + word] ?? 0) & (live[from.bitStart + word] ?? 0);
      for (; rest !== 0; rest &= rest - 1) {
        const other = word * 32 + 31 - Math.clz32(rest & -rest);
        const local = localOf[places[from.members[other] ?? 0] ?? 0] ?? 0;
        rows[target + (local >> 5)] = (rows[target + (local >> 5)] ?? 0) | (1 << (local & 31));
      }
    }
  }
}
