import type { SearchBudget } from "./graph.ts";
import type { Option, Unit } from "./units.ts";

/** Steps that a node costs, and each of its options and caps. */
const stepsPerNode = 12;
const stepsPerUse = 4;

export interface Knapsack {
  readonly units: readonly Unit[];
  /** Shared caps that count; the arrays below are in their order. */
  readonly active: readonly number[];
  readonly prices: readonly number[];
  readonly free: readonly number[];
}

/** By unit and, within, by active cap: the least and the most that it and those after it use; and their margins. */
export interface Remainders {
  readonly least: Float64Array;
  readonly most: Float64Array;
  readonly margins: Float64Array;
}

export function remaindersOf({ units, active }: Knapsack): Remainders {
  const caps = active.length;
  const least = new Float64Array((units.length + 1) * caps);
  const most = new Float64Array((units.length + 1) * caps);
  const margins = new Float64Array(units.length + 1);
  for (let at = units.length - 1; at >= 0; at--) {
    const { options = [], margin = 0 } = units[at] ?? {};
    margins[at] = (margins[at + 1] ?? 0) + margin;
    active.forEach((cap, place) => {
      const uses = options.map((option) => option.uses[cap] ?? 0);
      least[at * caps + place] = (least[(at + 1) * caps + place] ?? 0) + Math.min(...uses);
      most[at * caps + place] = (most[(at + 1) * caps + place] ?? 0) + Math.max(...uses);
    });
  }
  return { least, most, margins };
}

/**
 * Chooses an option of each unit within the caps, depth first and what the prices like best first, so that what it has
 * found when steps run out is good already. It takes no memory, where layers of states would outgrow theirs.
 */
export class DepthSearch {
  isCut = false;
  /** Of the best combination, by unit; null while none is worth enough. */
  best: readonly Option[] | null = null;
  bestWorth = 0;
  readonly #knapsack: Knapsack;
  readonly #remainders: Remainders;
  readonly #options: readonly (readonly Option[])[];
  readonly #left: Float64Array;
  readonly #picked: Option[] = [];
  readonly #budget: SearchBudget;
  readonly #leastGain: number;
  #moreThan: number;

  /** Combinations count that are worth more than `moreThan`, and later ones where they are worth `leastGain` more. */
  constructor(knapsack: Knapsack, moreThan: number, leastGain: number, budget: SearchBudget) {
    this.#knapsack = knapsack;
    this.#remainders = remaindersOf(knapsack);
    this.#moreThan = moreThan;
    this.#leastGain = leastGain;
    this.#budget = budget;
    this.#left = Float64Array.from(knapsack.free);
    const { active, prices } = knapsack;
    const beyondPrice = ({ tips, uses }: Option): number =>
      active.reduce((sum, cap, place) => sum - (prices[place] ?? 0) * (uses[cap] ?? 0), tips);
    this.#options = knapsack.units.map(({ options }) => options.toSorted((a, b) => beyondPrice(b) - beyondPrice(a)));
  }

  run(): void {
    this.#visit(0, 0);
  }

  #visit(unit: number, worth: number): void {
    const options = this.#options[unit];
    if (options === undefined) {
      if (worth <= this.#moreThan) return;
      this.best = this.#picked.slice();
      this.bestWorth = worth;
      this.#moreThan = worth + this.#leastGain - 1;
      return;
    }
    const { active } = this.#knapsack;
    this.#budget.steps -= stepsPerNode + options.length * active.length * stepsPerUse;
    for (const option of options) {
      if (this.#budget.steps <= 0) this.isCut = true;
      if (this.isCut) return;
      if (!this.#isOpen(unit + 1, worth, option)) continue;
      for (let cap = 0; cap < active.length; cap++) {
        this.#left[cap] = (this.#left[cap] ?? 0) - (option.uses[active[cap] ?? 0] ?? 0);
      }
      this.#picked.push(option);
      this.#visit(unit + 1, worth + option.tips);
      this.#picked.pop();
      for (let cap = 0; cap < active.length; cap++) {
        this.#left[cap] = (this.#left[cap] ?? 0) + (option.uses[active[cap] ?? 0] ?? 0);
      }
    }
  }

  /** Whether the rest fits beside the option, and can be worth enough at the prices. */
  #isOpen(next: number, worth: number, option: Option): boolean {
    const { active, prices } = this.#knapsack;
    const { least, most, margins } = this.#remainders;
    const caps = active.length;
    let bound = worth + option.tips + (margins[next] ?? 0);
    for (let cap = 0; cap < caps; cap++) {
      const left = (this.#left[cap] ?? 0) - (option.uses[active[cap] ?? 0] ?? 0);
      if (left < (least[next * caps + cap] ?? 0)) return false;
      bound += (prices[cap] ?? 0) * Math.min(left, most[next * caps + cap] ?? 0);
    }
    return bound > this.#moreThan;
  }
}
