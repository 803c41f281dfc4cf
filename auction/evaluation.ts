import type { Choice } from "./choice.ts";
import type { Group } from "./conflicts.ts";
import type { GroupOptima } from "./group-optimum.ts";
import type { Problem } from "./problem.ts";

/** Steps that an evaluation costs beside what large groups take, for each bundle. */
const stepsPerBundle = 10;

/** What compute costs, for each shared cap, in whole scaled lamports for a unit. */
export type Prices = readonly number[];

/**
 * The best choice at given prices when no cap forbids anything: each group for itself chooses what its tips exceed the
 * price of its compute by most. By Lagrange's duality, whatever the prices, no choice within the caps is worth more than
 * `bound`.
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
