import { boundByCliques, type CliqueBound, coverEdges } from "./clique-cover.ts";
import type { Group } from "./conflicts.ts";
import { narrowMax, putBit, subgraph } from "./graph.ts";
import type { GroupOptima } from "./group-optimum.ts";
import type { Evaluation } from "./prices.ts";
import type { Choice, Problem } from "./problem.ts";

/** Sets of one part that are kept in mind; a part with more of them within the window is divided by branching. */
const setsMax = 256;

/** Steps that making an option of a set costs, beside comparing it with the others. */
const stepsPerSet = 200;

/** One set of bundles that a unit may choose. */
export interface Option {
  readonly bundles: readonly number[];
  /** Scaled, as the problem's tips are. */
  readonly tips: number;
  /** By shared cap. */
  readonly uses: readonly number[];
}

/** A part of a conflict group that is free to choose among options when nothing but caps couples it to others. */
export interface Unit {
  /** None is matched by another in tips and uses; the least use of the first active cap first. */
  readonly options: readonly Option[];
  /** The value of the best option beyond its price. */
  readonly margin: number;
}

export interface Units {
  readonly units: readonly Unit[];
  /** No choice is worth more under the conditions. */
  readonly bound: number;
  /** A bundle of a part that has too many sets, to branch on; null when all options that matter are among the units. */
  readonly branchOn: number | null;
}

/**
 * The decisions of a branch. Forced bundles do not conflict, and are banned as well, as are all that they conflict
 * with.
 */
export interface Conditions {
  readonly banned: Choice;
  readonly forced: readonly number[];
}

interface Part {
  readonly group: Group;
  readonly locals: readonly number[];
  /** Null where the part is too large for the exact search. */
  readonly margin: number | null;
}

/**
 * The options that matter at the prices of an evaluation: those of choices that may still be worth `target`. What a
 * choice falls short of the bound is the sum of what its parts fall short of their best, so a part never falls short by
 * more than the whole may. Bundles that would alone fall short by more are left out, so that groups come apart into
 * smaller parts.
 */
export function unitsAt(
  problem: Problem,
  optima: GroupOptima,
  evaluation: Evaluation,
  weights: Float64Array,
  active: readonly number[],
  target: number,
  { banned, forced }: Conditions,
): Units {
  const { conflicts, caps } = problem;
  const least = target - evaluation.bound;
  const parts: Part[] = [];
  let bound = evaluation.prices.reduce((sum, price, cap) => sum + price * (caps[cap]?.capacity ?? 0), 0);
  for (const bundle of forced) bound += weights[bundle] ?? 0;
  for (let number = 0; number < conflicts.groups.length; number++) {
    const group = conflicts.groups[number];
    if (group === undefined) continue;
    const live = liveMembers(group, weights, least, banned);
    const wide = group.members.length <= narrowMax ? null : optima.bound(number, weights, banned);
    if (wide !== null) keepWithin(live, wide, -least);
    let isWhole = true;
    let margins = 0;
    for (const locals of optima.partsOf(group, live)) {
      const inner =
        locals.length <= narrowMax ? [locals] : reducedParts(problem, group, locals, weights, -least, optima);
      for (const each of inner) {
        const margin = marginOf(optima, group, each, weights);
        parts.push({ group, locals: each, margin });
        if (margin === null) isWhole = false;
        margins += margin ?? 0;
      }
    }
    bound += isWhole ? margins : upperOf(group, evaluation.slacks[number] ?? 0, weights, evaluation.choice, wide);
  }
  const window = bound - target;
  const units: Unit[] = forced.map((bundle) => {
    return { options: [optionOf(problem, [bundle])], margin: weights[bundle] ?? 0 };
  });
  if (window < 0) return { units, bound, branchOn: null };
  let branchOn: number | null = null;
  for (const part of parts) {
    const sets = setsOf(optima, part, weights, window);
    if (sets === null) branchOn ??= busiest(problem, part);
    const margin = part.margin ?? 0;
    const known = sets ?? [[], chosenOf(part, evaluation.choice)];
    optima.budget.steps -= known.length * (stepsPerSet + known.length);
    const options = undominated(
      known.map((bundles) => optionOf(problem, bundles)),
      active,
    );
    if (options.length > 1 || (options[0]?.bundles.length ?? 0) > 0) units.push({ options, margin });
  }
  return { units, bound, branchOn };
}

function liveMembers(
  { members, words, bitStart }: Group,
  weights: Float64Array,
  least: number,
  banned: Choice,
): Int32Array {
  const live = new Int32Array(words);
  for (let local = 0; local < members.length; local++) {
    if ((weights[members[local] ?? 0] ?? 0) >= least) live[local >> 5] = (live[local >> 5] ?? 0) | (1 << (local & 31));
  }
  for (let word = 0; word < words; word++) live[word] = (live[word] ?? 0) & ~(banned[bitStart + word] ?? 0);
  return live;
}

function marginOf(optima: GroupOptima, group: Group, locals: readonly number[], weights: Float64Array): number | null {
  if (locals.length === 1) return Math.max(0, weights[group.members[locals[0] ?? 0] ?? 0] ?? 0);
  if (locals.length > narrowMax) return null;
  optima.loadPart(group, locals, weights);
  optima.narrow.heaviest(positivesOf(optima, locals.length), false);
  return optima.narrow.upper;
}

function positivesOf({ narrow }: GroupOptima, size: number): number {
  let mask = 0;
  for (let at = 0; at < size; at++) if ((narrow.weights[at] ?? 0) > 0) mask |= 1 << at;
  return mask;
}

/** The sets of a part that fall short of its best by at most `window`, or null when there are too many to list. */
function setsOf(
  optima: GroupOptima,
  { group, locals, margin }: Part,
  weights: Float64Array,
  window: number,
): readonly (readonly number[])[] | null {
  if (margin === null) return null;
  const [alone] = locals;
  if (locals.length === 1 && alone !== undefined) {
    const bundle = group.members[alone] ?? 0;
    const weight = weights[bundle] ?? 0;
    if (weight > window) return [[bundle]];
    return weight < -window ? [[]] : [[], [bundle]];
  }
  optima.loadPart(group, locals, weights);
  const all = locals.length === narrowMax ? -1 : (1 << locals.length) - 1;
  const masks = optima.narrow.allFrom(all, margin - window, setsMax);
  return (
    masks?.map((mask) => {
      const bundles: number[] = [];
      for (let rest = mask; rest !== 0; rest &= rest - 1) {
        bundles.push(group.members[locals[31 - Math.clz32(rest & -rest)] ?? 0] ?? 0);
      }
      return bundles;
    }) ?? null
  );
}

/** The bundle of a part that conflicts with most others of it: to decide on it takes the part apart best. */
function busiest({ conflicts }: Problem, { group, locals }: Part): number {
  const { members, words, rowStart } = group;
  let best = locals[0] ?? 0;
  let most = -1;
  for (const local of locals) {
    const row = rowStart + local * words;
    let degree = 0;
    for (const other of locals) degree += ((conflicts.rows[row + (other >> 5)] ?? 0) >>> (other & 31)) & 1;
    if (degree > most) {
      most = degree;
      best = local;
    }
  }
  return members[best] ?? 0;
}

function chosenOf({ group, locals }: Part, choice: Choice): number[] {
  return locals
    .filter((local) => ((choice[group.bitStart + (local >> 5)] ?? 0) & (1 << (local & 31))) !== 0)
    .map((local) => group.members[local] ?? 0);
}

function optionOf({ tips, caps }: Problem, bundles: readonly number[]): Option {
  const sum = (of: Float64Array): number => {
    let total = 0;
    for (const bundle of bundles) total += of[bundle] ?? 0;
    return total;
  };
  return { bundles, tips: sum(tips), uses: caps.map(({ uses }) => sum(uses)) };
}

/** Leaves out options that another one matches: at least its tips, at most its use of each active cap. */
function undominated(options: Option[], active: readonly number[]): Option[] {
  if (options.length === 1) return options;
  const first = active[0] ?? 0;
  options.sort((a, b) => (a.uses[first] ?? 0) - (b.uses[first] ?? 0) || b.tips - a.tips);
  const kept: Option[] = [];
  for (const option of options) {
    const isMatched = kept.some(
      ({ tips, uses }) => tips >= option.tips && active.every((cap) => (uses[cap] ?? 0) <= (option.uses[cap] ?? 0)),
    );
    if (!isMatched) kept.push(option);
  }
  return kept;
}

/**
 * Leaves of the live members of a large group those that by the prices of cliques may fall short by no more than
 * `window`.
 */
export function keepWithin(live: Int32Array, { upper, value, reduced }: CliqueBound, window: number): void {
  for (let local = 0; local < reduced.length; local++) {
    if (upper + Math.min(0, reduced[local] ?? 0) >= value - window) continue;
    live[local >> 5] = (live[local >> 5] ?? 0) & ~(1 << (local & 31));
  }
}

/** The parts into which a large part splits by the prices of its own largest cliques. */
export function reducedParts(
  { conflicts }: Problem,
  group: Group,
  locals: readonly number[],
  weights: Float64Array,
  window: number,
  optima: GroupOptima,
): number[][] {
  const { members, words, rowStart } = group;
  const { budget } = optima;
  const whole = [locals.slice()];
  if (budget.steps <= 0) return whole;
  const weightOf = (local: number): number => weights[members[local] ?? 0] ?? 0;
  const order = locals.toSorted((a, b) => weightOf(b) - weightOf(a) || a - b);
  const graph = subgraph(conflicts.rows, rowStart, words, order, weightOf);
  budget.steps -= locals.length * words * 4;
  const cliques = coverEdges(graph, budget);
  if (cliques === null) return whole;
  const { upper, value, reduced } = boundByCliques(graph, cliques, budget);
  const live = new Int32Array(words);
  order.forEach((local, vertex) => {
    if (upper + Math.min(0, reduced[vertex] ?? 0) >= value - window) putBit(live, 0, local);
  });
  return optima.partsOf(group, live);
}

/**
 * A bound on what a large group is worth beyond its price: the evaluation's, or the one of the clique prices if it is
 * lower.
 */
export function upperOf(
  { members, words, bitStart }: Group,
  slack: number,
  weights: Float64Array,
  choice: Choice,
  wide: CliqueBound | null,
): number {
  let known = slack;
  for (let word = 0; word < words; word++) {
    for (let rest = choice[bitStart + word] ?? 0; rest !== 0; rest &= rest - 1) {
      known += weights[members[word * 32 + 31 - Math.clz32(rest & -rest)] ?? 0] ?? 0;
    }
  }
  return Math.min(known, wide?.upper ?? known);
}
