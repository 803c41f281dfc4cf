import type { Group } from "./conflicts.ts";
import type { GroupOptima } from "./group-optimum.ts";
import { type Choice, isChosen, type Problem } from "./problem.ts";

/** Steps that an evaluation costs beside what large groups take, for each bundle. */
const stepsPerBundle = 10;

/** The price of compute, for each shared cap, in whole scaled lamports for a unit. */
export type Prices = readonly number[];

/**
 * The best choice at given prices when no cap forbids anything: each group for itself chooses what its tips exceed the
 * price of its compute by most. By Lagrange's duality, whatever the prices, no choice within the caps is worth more
 * than `bound`.
 */
export interface Evaluation {
  readonly prices: Prices;
  readonly choice: Choice;
  readonly bound: number;
  /** Compute units that the choice takes, by shared cap. */
  readonly used: Float64Array;
  readonly worth: number;
  /** By group: by how much what its choice is worth beyond its price may fall short of the best. */
  readonly slacks: Float64Array;
}

export function weightsAt({ size, tips, caps }: Problem, prices: Prices): Float64Array {
  const weights = tips.slice();
  prices.forEach((price, cap) => {
    const uses = caps[cap]?.uses;
    if (price === 0 || uses === undefined) return;
    for (let bundle = 0; bundle < size; bundle++)
      weights[bundle] = (weights[bundle] ?? 0) - price * (uses[bundle] ?? 0);
  });
  return weights;
}

/**
 * Evaluates prices. `between` are two evaluations whose prices differ in one cap only and enclose these: a group that
 * chooses the same at both chooses it in between too, since what a choice is worth is linear in a price. `isExact` has
 * groups of up to 28 solved whatever it takes.
 */
export function evaluate(
  problem: Problem,
  optima: GroupOptima,
  prices: Prices,
  between: readonly [Evaluation, Evaluation] | null,
  isExact = false,
): Evaluation {
  const { conflicts, tips, caps } = problem;
  optima.budget.steps -= problem.size * stepsPerBundle;
  const weights = weightsAt(problem, prices);
  const choice = new Int32Array(conflicts.bitWords);
  const used = new Float64Array(caps.length);
  const slacks = new Float64Array(conflicts.groups.length);
  let worth = 0;
  let bound = prices.reduce((sum, price, cap) => sum + price * (caps[cap]?.capacity ?? 0), 0);
  conflicts.groups.forEach((group, number) => {
    const { members, words, bitStart } = group;
    if (between !== null && isSame(group, between[0].choice, between[1].choice)) {
      for (let word = bitStart; word < bitStart + words; word++) choice[word] = between[0].choice[word] ?? 0;
      slacks[number] = Math.max(between[0].slacks[number] ?? 0, between[1].slacks[number] ?? 0);
    } else if (members.length === 1) {
      choice[bitStart] = (weights[members[0] ?? 0] ?? 0) > 0 ? 1 : 0;
    } else {
      const { value, upper } = optima.solve(number, weights, choice, isExact);
      slacks[number] = upper - value;
    }
    let margin = 0;
    for (let word = 0; word < words; word++) {
      for (let rest = choice[bitStart + word] ?? 0; rest !== 0; rest &= rest - 1) {
        const bundle = members[word * 32 + 31 - Math.clz32(rest & -rest)] ?? 0;
        margin += weights[bundle] ?? 0;
        worth += tips[bundle] ?? 0;
        for (let cap = 0; cap < caps.length; cap++) used[cap] = (used[cap] ?? 0) + (caps[cap]?.uses[bundle] ?? 0);
      }
    }
    bound += margin + (slacks[number] ?? 0);
  });
  return { prices, choice, bound, used, worth, slacks };
}

function isSame({ words, bitStart }: Group, a: Choice, b: Choice): boolean {
  for (let word = bitStart; word < bitStart + words; word++) if (a[word] !== b[word]) return false;
  return true;
}

/** Evaluations for one price; the bound is nearly flat long before. */
const evaluationsMax = 24;
/** Steps by which a price is moved until it and the one before enclose the best price. */
const movesMax = 6;
const moveMin = 1.1;
const moveMax = 10;

/** The two evaluations around the best price of one cap: `over` takes more than the cap has, `within` does not. */
export interface Bracket {
  readonly within: Evaluation | null;
  readonly over: Evaluation | null;
}

/**
 * The price of one cap's compute, the others' fixed, at which the bound is lowest: where the choice at it passes from
 * too much to what there is. `from` is an evaluation at any price for it. One side is null where no price is too low or
 * none high enough, or steps run out.
 */
export function searchPrice(problem: Problem, optima: GroupOptima, from: Evaluation, cap: number): Bracket {
  const capacity = problem.caps[cap]?.capacity ?? 0;
  const highest = priceMax(problem, cap);
  let over: Evaluation | null = null;
  let within: Evaluation | null = null;
  let last = from;
  for (let move = 0; ; move++) {
    const price = last.prices[cap] ?? 0;
    const used = last.used[cap] ?? 0;
    if (used > capacity) over = last;
    else within = last;
    if (over !== null && within !== null) return narrowBracket(problem, optima, cap, over, within);
    if (price === (used > capacity ? highest : 0) || optima.budget.steps <= 0) return { within, over };
    const next = move < movesMax ? moved(price, used, capacity) : used > capacity ? highest : 0;
    const guess = price === 0 ? guessPrice(problem, last, cap) : next;
    last = evaluate(problem, optima, last.prices.with(cap, Math.min(highest, guess)), null);
  }
}

/** The next price of compute: at twice the price, about a third less of it is used. */
function moved(price: number, used: number, capacity: number): number {
  const ratio = Math.max(used, capacity) / Math.max(1, Math.min(used, capacity));
  const factor = Math.min(moveMax, Math.max(moveMin, ratio ** 2));
  return used > capacity ? Math.ceil(price * factor) + 1 : Math.floor(price / factor);
}

/**
 * The bound is convex and piecewise linear in the price, so each step goes to where the tangents of both sides meet,
 * and ends where nothing lies between them.
 */
function narrowBracket(
  problem: Problem,
  optima: GroupOptima,
  cap: number,
  low: Evaluation,
  high: Evaluation,
): { readonly within: Evaluation; readonly over: Evaluation } {
  const capacity = problem.caps[cap]?.capacity ?? 0;
  let over = low;
  let within = high;
  for (let count = 0; count < evaluationsMax; count++) {
    const least = over.prices[cap] ?? 0;
    const most = within.prices[cap] ?? 0;
    if (most - least <= 1 || optima.budget.steps <= 0) break;
    const unpriced = over.prices.with(cap, 0);
    const rise = tangentAt(problem, over, unpriced) - tangentAt(problem, within, unpriced);
    const meet = Math.floor(rise / ((over.used[cap] ?? 0) - (within.used[cap] ?? 0)));
    const price = Math.min(most - 1, Math.max(least + 1, meet));
    const next = evaluate(problem, optima, over.prices.with(cap, price), [over, within]);
    // The bound lies above its tangents. Where it touches them nothing lower is to be found, not by a whole lamport.
    const isLowest = tangentAt(problem, next, next.prices) - tangentAt(problem, over, next.prices) < problem.scale;
    if ((next.used[cap] ?? 0) <= capacity) within = next;
    else over = next;
    if (isLowest) break;
  }
  return { within, over };
}

/** The bound at other prices if each group chose as it did in the evaluation. */
function tangentAt({ caps }: Problem, { worth, used }: Evaluation, prices: readonly number[]): number {
  return prices.reduce((sum, price, cap) => sum + price * ((caps[cap]?.capacity ?? 0) - (used[cap] ?? 0)), worth);
}

/** The price per unit of the bundle that is removed first when the lowest are removed until the rest fit. */
export function guessPrice(problem: Problem, { prices, choice, used }: Evaluation, cap: number): number {
  const weights = weightsAt(problem, prices);
  const { uses, capacity } = problem.caps[cap] ?? { uses: new Float64Array(0), capacity: 0 };
  const chosen: { pays: number; use: number }[] = [];
  for (let bundle = 0; bundle < problem.size; bundle++) {
    const use = uses[bundle] ?? 0;
    if (use > 0 && isChosen(problem, choice, bundle)) chosen.push({ pays: (weights[bundle] ?? 0) / use, use });
  }
  chosen.sort((a, b) => a.pays - b.pays);
  let excess = (used[cap] ?? 0) - capacity;
  let price = 1;
  for (const { pays, use } of chosen) {
    if (excess <= 0) break;
    excess -= use;
    price = pays;
  }
  return Math.max(1, Math.ceil(price));
}

/** Beyond it a full cap alone would cost more than all tips together. */
export function priceMax({ tips, caps }: Problem, cap: number): number {
  let total = 0;
  for (let bundle = 0; bundle < tips.length; bundle++) total += tips[bundle] ?? 0;
  return Math.max(1, Math.floor(total / Math.max(1, caps[cap]?.capacity ?? 0)));
}
