import { type Choice, exceededBy, type Filled, fill } from "./choice.ts";
import { Combining } from "./combining.ts";
import { type Evaluation, evaluate } from "./evaluation.ts";
import type { SearchBudget } from "./graph.ts";
import { GroupOptima } from "./group-optimum.ts";
import { searchPrice } from "./prices.ts";
import type { Problem } from "./problem.ts";

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
 * looked at only when an answer exceeds them.
 */
export function solve(problem: Problem, budget: SearchBudget): Solution {
  const solver = new Solver(problem, budget);
  solver.run();
  return solver.solution();
}

class Solver {
  readonly #problem: Problem;
  readonly #optima: GroupOptima;
  readonly #budget: SearchBudget;
  #best: Filled;
  #bound = Number.POSITIVE_INFINITY;
  #capsBound = false;

  constructor(problem: Problem, budget: SearchBudget) {
    this.#problem = problem;
    this.#budget = budget;
    this.#optima = new GroupOptima(problem.conflicts, budget);
    this.#best = fill(problem, null);
  }

  solution(): Solution {
    const { choice, worth } = fill(this.#problem, this.#best.choice);
    return {
      choice,
      worth,
      bound: Math.max(worth, this.#bound),
      capsBound: this.#capsBound,
      nodes: this.#optima.nodes,
    };
  }

  run(): void {
    const unpriced = this.#problem.caps.map(() => 0);
    // Half of the budget is kept for what follows if caps bind, where fewer bundles are worth their price.
    const kept = Math.floor(this.#budget.steps / 2);
    this.#budget.steps -= kept;
    const free = evaluate(this.#problem, this.#optima, unpriced, null);
    this.#budget.steps = Math.max(0, this.#budget.steps) + kept;
    this.#bound = free.bound;
    this.#offer(free.choice);
    let active = firstOf(exceededBy(this.#problem, free.choice));
    let evaluation = free;
    while (active.length > 0 && this.#bound > this.#best.worth) {
      this.#capsBound = true;
      evaluation = this.#findPrices(active, evaluation);
      const inactive = exceededBy(this.#problem, evaluation.choice).filter((cap) => !active.includes(cap));
      const isSpent = this.#budget.steps <= 0;
      const exceeded = inactive.length > 0 && !isSpent ? inactive : this.#combineNear(evaluation, active);
      active = exceeded.length === 0 || isSpent ? [] : [...active, ...firstOf(exceeded)];
    }
  }

  /** The exact answer where only the active caps count; returns those that it exceeds, none when nothing better is left. */
  #combineNear(evaluation: Evaluation, active: readonly number[]): readonly number[] {
    const combining = new Combining(this.#problem, this.#optima, this.#budget, evaluation, active, this.#best.worth);
    combining.run();
    this.#bound = Math.min(this.#bound, combining.bound);
    if (combining.found === null) return [];
    this.#offer(combining.found);
    return exceededBy(this.#problem, combining.found);
  }

  /** The evaluation with the lowest bound that was met while prices were sought. */
  #findPrices(active: readonly number[], start: Evaluation): Evaluation {
    const problem = this.#problem;
    let best = start;
    for (let sweep = 0; sweep < (active.length === 1 ? 1 : priceSweeps); sweep++) {
      for (const cap of active) {
        if (this.#budget.steps <= 0 && best !== start) break;
        const isFree = (best.prices[cap] ?? 0) === 0;
        const from = isFree ? best : evaluate(problem, this.#optima, best.prices.with(cap, 0), null);
        if (from.bound < best.bound) best = from;
        if ((from.used[cap] ?? 0) <= (problem.caps[cap]?.capacity ?? 0)) continue;
        const { within, over } = searchPrice(problem, this.#optima, from, cap);
        for (const each of [over, within]) {
          this.#offer(each.choice);
          if (each.bound <= best.bound) best = each;
        }
      }
    }
    this.#bound = Math.min(this.#bound, best.bound);
    return best;
  }

  /** Takes the choice if, made to respect all caps, it is worth more than the best one. */
  #offer(choice: Choice): void {
    const filled = fill(this.#problem, choice);
    if (filled.worth > this.#best.worth) this.#best = filled;
  }
}

const firstOf = (caps: readonly number[]): readonly number[] => caps.slice(0, 1);
