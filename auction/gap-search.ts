import type { SearchBudget } from "./graph.ts";
import type { GroupOptima } from "./group-optimum.ts";
import { combine } from "./knapsack.ts";
import { type Evaluation, weightsAt } from "./prices.ts";
import { type Choice, choose, type Problem } from "./problem.ts";
import { type Conditions, unitsAt } from "./units.ts";

/** The first window is this part of what is missing to the bound; later ones are four times the one before. */
const firstWindow = 1 / 4;
/** Steps that listing the options costs, for each bundle; measured against a word touched. */
const stepsPerBundle = 60;

/**
 * The exact optimum under the active caps, by closing the gap to the bound of an evaluation: it enumerates the sets
 * whose distance from the bound is small, then larger, until no set further away can be worth more than the best one
 * found. A part of a group with too many sets is branched on: with and without its bundle of the highest degree.
 */
export class GapSearch {
  /** The best choice found that is worth more than was known, or null. It respects the active caps. */
  found: Choice | null = null;
  worth: number;
  /** No choice within the active caps is worth more. */
  bound: number;
  isBounded = false;
  readonly #problem: Problem;
  readonly #optima: GroupOptima;
  readonly #budget: SearchBudget;
  readonly #evaluation: Evaluation;
  readonly #active: readonly number[];
  readonly #weights: Float64Array;

  constructor(
    problem: Problem,
    optima: GroupOptima,
    budget: SearchBudget,
    evaluation: Evaluation,
    active: readonly number[],
    worth: number,
  ) {
    this.#problem = problem;
    this.#optima = optima;
    this.#budget = budget;
    this.#evaluation = evaluation;
    this.#active = active;
    this.#weights = weightsAt(problem, evaluation.prices);
    this.worth = worth;
    this.bound = evaluation.bound;
  }

  run(): void {
    const none = { banned: new Int32Array(this.#problem.conflicts.bitWords), forced: [] };
    for (let window = Math.ceil((this.bound - this.worth) * firstWindow); ; window *= 4) {
      const target = Math.max(this.worth, this.#evaluation.bound - window);
      this.#look(target, none);
      if (this.isBounded) return;
      this.bound = Math.max(this.worth, Math.min(this.bound, target));
      if (this.bound <= this.worth) return;
    }
  }

  /** Finds the best of the choices that meet the conditions and are worth `target` or more. */
  #look(target: number, conditions: Conditions): void {
    const problem = this.#problem;
    if (this.#budget.steps <= 0) {
      this.isBounded = true;
      return;
    }
    this.#budget.steps -= problem.size * stepsPerBundle;
    const beaten = this.worth + problem.scale - 1;
    const goal = Math.max(target, this.worth);
    const evaluation = this.#evaluation;
    const found = unitsAt(problem, this.#optima, evaluation, this.#weights, this.#active, goal, conditions);
    if (found.bound <= beaten) return;
    if (found.branchOn !== null && this.#budget.steps > 0) {
      this.#look(target, this.#with(conditions, found.branchOn));
      this.#look(target, this.#without(conditions, found.branchOn));
      return;
    }
    if (found.branchOn !== null) this.isBounded = true;
    const combined = combine(problem, found.units, evaluation.prices, this.#active, beaten, this.#budget);
    if (!combined.isComplete) this.isBounded = true;
    if (combined.bundles === null) return;
    this.worth = combined.worth;
    this.found = new Int32Array(problem.conflicts.bitWords);
    for (const bundle of combined.bundles) choose(problem, this.found, bundle);
  }

  #without({ banned, forced }: Conditions, bundle: number): Conditions {
    const more = banned.slice();
    choose(this.#problem, more, bundle);
    return { banned: more, forced };
  }

  #with(conditions: Conditions, bundle: number): Conditions {
    const { banned } = this.#without(conditions, bundle);
    const { groups, groupOf, localOf, rows } = this.#problem.conflicts;
    const group = groups[groupOf[bundle] ?? 0];
    if (group !== undefined) {
      const row = group.rowStart + (localOf[bundle] ?? 0) * group.words;
      for (let word = 0; word < group.words; word++) {
        banned[group.bitStart + word] = (banned[group.bitStart + word] ?? 0) | (rows[row + word] ?? 0);
      }
    }
    return { banned, forced: [...conditions.forced, bundle] };
  }
}
