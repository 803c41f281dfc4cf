import type { Problem } from "./problem.ts";

/** Bundles chosen, as one set over all groups: see `Group.bitStart`. */
export type Choice = Int32Array;

export function isChosen({ conflicts }: Problem, choice: Choice, bundle: number): boolean {
  const local = conflicts.localOf[bundle] ?? 0;
  const start = conflicts.groups[conflicts.groupOf[bundle] ?? 0]?.bitStart ?? 0;
  return ((choice[start + (local >> 5)] ?? 0) & (1 << (local & 31))) !== 0;
}

export function choose({ conflicts }: Problem, choice: Choice, bundle: number): void {
  const local = conflicts.localOf[bundle] ?? 0;
  const at = (conflicts.groups[conflicts.groupOf[bundle] ?? 0]?.bitStart ?? 0) + (local >> 5);
  choice[at] = (choice[at] ?? 0) | (1 << (local & 31));
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
  const free = problem.caps.map(({ capacity }) => capacity);
  let worth = 0;
  const offer = (bundle: number): void => {
    if (isBlocked(problem, choice, bundle)) return;
    for (let cap = 0; cap < free.length; cap++) {
      if ((problem.caps[cap]?.uses[bundle] ?? 0) > (free[cap] ?? 0)) return;
    }
    for (let cap = 0; cap < free.length; cap++) free[cap] = (free[cap] ?? 0) - (problem.caps[cap]?.uses[bundle] ?? 0);
    choose(problem, choice, bundle);
    worth += problem.tips[bundle] ?? 0;
  };
  if (wish !== null) {
    for (let bundle = 0; bundle < problem.size; bundle++) if (isChosen(problem, wish, bundle)) offer(bundle);
  }
  for (let bundle = 0; bundle < problem.size; bundle++) {
    if (wish === null || !isChosen(problem, wish, bundle)) offer(bundle);
  }
  return { choice, worth };
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
