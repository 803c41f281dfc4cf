import { isChosen } from "./choice.ts";
import { type Evaluation, evaluate, weightsAt } from "./evaluation.ts";
import type { GroupOptima } from "./group-optimum.ts";
import type { Problem } from "./problem.ts";

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
 * The price of one cap's compute, the others' fixed, at which the bound is lowest: where the choice at it passes from too
 * much to what there is. `from` is an evaluation at any price for it. One side is null where no price is too low or none
 * high enough, or steps run out.
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

/** Who is asked twice as much for compute takes about a third less of it. */
function moved(price: number, used: number, capacity: number): number {
  const ratio = Math.max(used, capacity) / Math.max(1, Math.min(used, capacity));
  const factor = Math.min(moveMax, Math.max(moveMin, ratio ** 2));
  return used > capacity ? Math.ceil(price * factor) + 1 : Math.floor(price / factor);
}

/**
 * The bound is convex and piecewise linear in the price, so each step goes to where the tangents of both sides meet, and
 * ends where nothing lies between them.
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

/** What the bound would be at other prices if each group chose as it did in the evaluation. */
function tangentAt({ caps }: Problem, { worth, used }: Evaluation, prices: readonly number[]): number {
  return prices.reduce((sum, price, cap) => sum + price * ((caps[cap]?.capacity ?? 0) - (used[cap] ?? 0)), worth);
}

/** What the bundle pays for a unit that must go first when those that pay least are sent away until the rest fit. */
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
