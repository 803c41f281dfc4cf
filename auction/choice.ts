import type { Problem } from "./problem.ts";

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

/** What a choice is worth, scaled as the problem's tips are. */
export function worthOf(problem: Problem, choice: Choice): number {
  let worth = 0;
  for (let bundle = 0; bundle < problem.size; bundle++) {
    if (isChosen(problem, choice, bundle)) worth += problem.tips[bundle] ?? 0;
  }
  return worth;
}

export interface Filled {
  readonly choice: Choice;
  readonly worth: number;
}

/**
 * A choice that respects conflicts and caps, from a wish that need not respect caps: first what is wished, by rank, then
 * everyone else by rank, each if there is room. An empty wish makes it the plain greedy choice.
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
