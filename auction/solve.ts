import { type Choice, choose, exceededBy, type Filled, fill, isChosen } from "./choice.ts";
import { GapSearch } from "./gap-search.ts";
import type { SearchBudget } from "./graph.ts";
import { GroupOptima } from "./group-optimum.ts";
import { type Kernel, kernelOf } from "./kernel.ts";
import { type Evaluation, evaluate, guessPrice, priceMax, searchPrice } from "./prices.ts";
import type { Contested, Problem } from "./problem.ts";

export interface Solution {
  readonly choice: Choice;
  /** Scaled, as the problem's tips are. */
  readonly worth: number;
  /** No choice is worth more; equals `worth` when the solution is an optimum. */
  readonly bound: number;
  readonly capsBound: boolean;
  readonly nodes: number;
}

/** Rounds over the active caps' prices: each price is found with the others' fixed. */
const priceSweeps = 2;

/**
 * The winners of a problem. Without caps each group is on its own, and the union of the groups' optima is the answer.
 * Where that exceeds a cap the cap's compute gets a price, at which groups are on their own again; the price bounds what
 * can be reached, and the few choices close enough to that bound to matter are combined exactly. Tip accounts' caps are
 * looked at only when an answer exceeds them. What it finds is worth no less than `incumbent`, as far as that fits.
 */
export function solve(problem: Contested, budget: SearchBudget, incumbent: Choice | null = null): Solution {
  const solver = new Solver(problem, budget, incumbent);
  solver.run();
  return solver.solution();
}

class Solver {
  readonly #contested: Contested;
  readonly #problem: Problem;
  readonly #budget: SearchBudget;
  #best: Filled;
  #bound = Number.POSITIVE_INFINITY;
  #capsBound = false;
  #nodes = 0;
  /** Those at which the lowest bound so far was found. */
  #prices: readonly number[] = [];

  constructor(contested: Contested, budget: SearchBudget, incumbent: Choice | null) {
    this.#contested = contested;
    this.#problem = contested.problem;
    this.#budget = budget;
    this.#best = fill(this.#problem, null);
    if (incumbent === null) return;
    const kept = fill(this.#problem, incumbent);
    if (kept.worth > this.#best.worth) this.#best = kept;
  }

  solution(): Solution {
    const { choice, worth } = this.#best;
    return { choice, worth, bound: Math.max(worth, this.#bound), capsBound: this.#capsBound, nodes: this.#nodes };
  }

  run(): void {
    let active = firstOf(this.#withoutCaps());
    while (active.length > 0 && this.#bound > this.#best.worth) {
      this.#capsBound = true;
      const exceeded = this.#withCaps(active);
      active = exceeded.length === 0 || this.#budget.steps <= 0 ? [] : [...active, ...firstOf(exceeded)];
    }
  }

  /** The best choice of each group for itself; returns the caps that it exceeds. */
  #withoutCaps(): readonly number[] {
    // Half of the budget is kept for what follows if caps bind, where fewer bundles are worth their price.
    const kept = Math.floor(this.#budget.steps / 2);
    this.#budget.steps -= kept;
    const kernel = kernelOf(this.#contested, [], this.#budget);
    const optima = new GroupOptima(kernel.problem.conflicts, kernel.covers, this.#budget);
    const unpriced = kernel.problem.caps.map(() => 0);
    const free = evaluate(kernel.problem, optima, unpriced, null, true);
    this.#nodes += optima.nodes;
    this.#budget.steps = Math.max(0, this.#budget.steps) + kept;
    this.#bound = free.bound;
    const exceeded = this.#offer(kernel, free.choice);
    const [cap] = exceeded;
    if (cap !== undefined) {
      const price = Math.min(priceMax(kernel.problem, cap), guessPrice(kernel.problem, free, cap));
      this.#prices = unpriced.with(cap, price);
    }
    return exceeded;
  }

  /** The answer where only the active caps count; returns the others that it exceeds, none when nothing better is left. */
  #withCaps(active: readonly number[]): readonly number[] {
    const kernel = kernelOf(this.#contested, active, this.#budget);
    const optima = new GroupOptima(kernel.problem.conflicts, kernel.covers, this.#budget);
    const evaluation = this.#findPrices(kernel, optima, active);
    this.#prices = evaluation.prices;
    const inactive = exceededBy(kernel.problem, evaluation.choice).filter((cap) => !active.includes(cap));
    const isSpent = this.#budget.steps <= 0;
    const exceeded = inactive.length > 0 || isSpent ? inactive : this.#combineNear(kernel, optima, evaluation, active);
    this.#nodes += optima.nodes;
    return exceeded;
  }

  /** The exact answer where only the active caps count; returns those that it exceeds, none when nothing better is left. */
  #combineNear(
    kernel: Kernel,
    optima: GroupOptima,
    evaluation: Evaluation,
    active: readonly number[],
  ): readonly number[] {
    const combining = new GapSearch(kernel.problem, optima, this.#budget, evaluation, active, this.#best.worth);
    combining.run();
    this.#bound = Math.min(this.#bound, combining.bound);
    return combining.found === null ? [] : this.#offer(kernel, combining.found);
  }

  /** The evaluation with the lowest bound that was met while prices were sought. */
  #findPrices(kernel: Kernel, optima: GroupOptima, active: readonly number[]): Evaluation {
    const { problem } = kernel;
    let best = evaluate(problem, optima, this.#prices, null);
    this.#offer(kernel, best.choice);
    for (let sweep = 0; sweep < (active.length === 1 ? 1 : priceSweeps); sweep++) {
      for (const cap of active) {
        if (this.#budget.steps <= 0) break;
        const { within, over } = searchPrice(problem, optima, best, cap);
        for (const each of [over, within]) {
          if (each === null) continue;
          this.#offer(kernel, each.choice);
          if (each.bound <= best.bound) best = each;
        }
      }
    }
    this.#bound = Math.min(this.#bound, best.bound);
    return best;
  }

  /** Takes the choice if, made to respect all caps, it is worth more than the best one; returns the caps that it exceeds. */
  #offer(kernel: Kernel, choice: Choice): readonly number[] {
    const wish = new Int32Array(this.#problem.conflicts.bitWords);
    for (let at = 0; at < kernel.bundles.length; at++) {
      if (isChosen(kernel.problem, choice, at)) choose(this.#problem, wish, kernel.bundles[at] ?? 0);
    }
    const filled = fill(this.#problem, wish);
    if (filled.worth > this.#best.worth) this.#best = filled;
    return exceededBy(kernel.problem, choice);
  }
}

const firstOf = (caps: readonly number[]): readonly number[] => caps.slice(0, 1);
