import type { SearchBudget } from "./graph.ts";
import type { Prices } from "./prices.ts";
import type { Problem } from "./problem.ts";
import type { Option, Unit } from "./units.ts";

/** States kept in all. */
const statesMax = 1 << 16;
/** States that there is room for at first. */
const statesFirst = 1 << 10;
/** Steps that a state costs beside looking for it among the options. */
const stepsPerState = 40;
/** Kept states of a layer that a new one is compared with when several caps are active; with one cap all are. */
const comparedMax = 32;

export interface Combined {
  /** The bundles of the best combination, or null when none is worth more than `atLeast`. */
  readonly bundles: readonly number[] | null;
  readonly worth: number;
  /** Whether all combinations that could be worth more were examined. */
  readonly isComplete: boolean;
}

/**
 * The best choice of one option of each unit within the active caps (a multiple-choice knapsack), if it is worth more
 * than `moreThan`: dynamic programming over units, and a depth-first search with the remaining steps when its states
 * are too many. A state is the use and the worth of the options so far; it is dropped when another state is worth as
 * much with no more use, when the rest does not fit, or when the bound at the given prices is too low.
 */
export function combine(
  problem: Problem,
  units: readonly Unit[],
  prices: Prices,
  active: readonly number[],
  moreThan: number,
  budget: SearchBudget,
): Combined {
  const free = active.map((cap) => problem.caps[cap]?.capacity ?? 0);
  const open: Unit[] = [];
  const settled: Option[] = [];
  for (const unit of units) {
    const [only] = unit.options;
    if (unit.options.length === 1 && only !== undefined) settled.push(only);
    else open.push(unit);
  }
  const base = settled.reduce((sum, { tips }) => sum + tips, 0);
  active.forEach((cap, at) => {
    free[at] = settled.reduce((left, { uses }) => left - (uses[cap] ?? 0), free[at] ?? 0);
  });
  const first = active[0] ?? 0;
  open.sort((a, b) => spread(b, first) - spread(a, first));
  const knapsack = { units: open, active, prices: active.map((cap) => prices[cap] ?? 0), free };
  const { options, isComplete } = best(knapsack, moreThan - base, problem.scale, budget);
  if (options === null) return { bundles: null, worth: moreThan, isComplete };
  const all = [...settled, ...options];
  return {
    bundles: all.flatMap(({ bundles }) => bundles),
    worth: all.reduce((sum, { tips }) => sum + tips, 0),
    isComplete,
  };
}

interface Best {
  readonly options: readonly Option[] | null;
  readonly isComplete: boolean;
}

function best(knapsack: Knapsack, moreThan: number, leastGain: number, budget: SearchBudget): Best {
  // With several caps few states are worth as much with no more use of each.
  const kept = Math.floor(Math.max(0, budget.steps) * (knapsack.active.length === 1 ? 1 / 2 : 3 / 4));
  budget.steps -= kept;
  const layered = new LayeredSearch(knapsack, moreThan, budget);
  layered.run();
  budget.steps = Math.max(0, budget.steps) + kept;
  if (!layered.isBounded) return { options: layered.best < 0 ? null : layered.chosen(), isComplete: true };
  const deep = new DepthSearch(knapsack, moreThan, leastGain, budget);
  deep.run();
  return { options: deep.best, isComplete: !deep.isCut };
}

/** How much a unit can move the use of a cap: units that move much come first, and little ones fill what is left. */
function spread({ options }: Unit, cap: number): number {
  return (options.at(-1)?.uses[cap] ?? 0) - (options[0]?.uses[cap] ?? 0);
}

class LayeredSearch {
  best = -1;
  bestWorth = 0;
  isBounded = false;
  readonly #budget: SearchBudget;
  readonly #units: readonly Unit[];
  readonly #prices: readonly number[];
  readonly #active: readonly number[];
  readonly #free: readonly number[];
  readonly #moreThan: number;
  /** See `Remainders`. */
  readonly #least: Float64Array;
  readonly #most: Float64Array;
  readonly #margins: Float64Array;
  /** States; the first one is where nothing is chosen yet. */
  #count = 1;
  #worths = new Float64Array(statesFirst);
  /** `active.length` numbers for each state. */
  #uses: Float64Array;
  #parents = new Int32Array(statesFirst);
  #picks = new Int32Array(statesFirst);

  constructor(knapsack: Knapsack, moreThan: number, budget: SearchBudget) {
    const { units, active, prices, free } = knapsack;
    this.#budget = budget;
    this.#units = units;
    this.#prices = prices;
    this.#active = active;
    this.#free = free;
    this.#moreThan = moreThan;
    this.#uses = new Float64Array(statesFirst * active.length);
    const { least, most, margins } = remaindersOf(knapsack);
    this.#least = least;
    this.#most = most;
    this.#margins = margins;
  }

  run(): void {
    let start = 0;
    let end = 1;
    if (this.#free.some((free, cap) => (this.#least[cap] ?? 0) > free)) return;
    for (let unit = 0; unit < this.#units.length; unit++) {
      this.#expand(unit, start, end);
      start = end;
      end = this.#count;
      if (this.isBounded || start === end) return;
    }
    for (let state = start; state < end; state++) {
      const worth = this.#worths[state] ?? 0;
      if (worth > this.#moreThan && (this.best < 0 || worth > this.bestWorth)) {
        this.best = state;
        this.bestWorth = worth;
      }
    }
  }

  /** The options of the best state, the last unit's first. */
  chosen(): Option[] {
    const options: Option[] = [];
    let state = this.best;
    for (let unit = this.#units.length - 1; unit >= 0; unit--) {
      const option = this.#units[unit]?.options[this.#picks[state] ?? 0];
      if (option !== undefined) options.push(option);
      state = this.#parents[state] ?? 0;
    }
    return options;
  }

  /**
   * The next layer, ordered by use of the first active cap: the states of the last one are, and so are they with each
   * of the options added, so that the layer is a merge of as many lists as there are options.
   */
  #expand(unit: number, start: number, end: number): void {
    const options = this.#units[unit]?.options ?? [];
    const caps = this.#active.length;
    const first = this.#active[0] ?? 0;
    const layer = this.#count;
    const heads = options.map(() => start);
    for (;;) {
      let pick = -1;
      let least = Number.POSITIVE_INFINITY;
      let most = 0;
      for (let option = 0; option < options.length; option++) {
        const head = heads[option] ?? end;
        if (head === end) continue;
        const use = (this.#uses[head * caps] ?? 0) + (options[option]?.uses[first] ?? 0);
        const worth = (this.#worths[head] ?? 0) + (options[option]?.tips ?? 0);
        if (use < least || (use === least && worth > most)) {
          pick = option;
          least = use;
          most = worth;
        }
      }
      const option = options[pick];
      if (option === undefined) return;
      const from = heads[pick] ?? 0;
      heads[pick] = from + 1;
      this.#budget.steps -= 2 * options.length + stepsPerState;
      if (this.#count >= statesMax || this.#budget.steps <= 0) {
        this.isBounded = true;
        return;
      }
      this.#keep(unit + 1, layer, from, pick, option);
    }
  }

  #keep(next: number, layer: number, from: number, pick: number, option: Option): void {
    const caps = this.#active.length;
    const worth = (this.#worths[from] ?? 0) + option.tips;
    let bound = worth + (this.#margins[next] ?? 0);
    for (let cap = 0; cap < caps; cap++) {
      const use = (this.#uses[from * caps + cap] ?? 0) + (option.uses[this.#active[cap] ?? 0] ?? 0);
      const left = (this.#free[cap] ?? 0) - use;
      if (left < (this.#least[next * caps + cap] ?? 0)) return;
      bound += (this.#prices[cap] ?? 0) * Math.min(left, this.#most[next * caps + cap] ?? 0);
    }
    if (bound <= this.#moreThan) return;
    const count = this.#count;
    if (caps > 1) this.#budget.steps -= 2 * Math.min(comparedMax, count - layer);
    const firstCompared = caps === 1 ? Math.max(layer, count - 1) : Math.max(layer, count - comparedMax);
    for (let other = firstCompared; other < count; other++) if (this.#matches(other, from, option, worth)) return;
    if (count === this.#worths.length) this.#grow();
    for (let cap = 0; cap < caps; cap++) {
      const use = (this.#uses[from * caps + cap] ?? 0) + (option.uses[this.#active[cap] ?? 0] ?? 0);
      this.#uses[count * caps + cap] = use;
    }
    this.#worths[count] = worth;
    this.#parents[count] = from;
    this.#picks[count] = pick;
    this.#count = count + 1;
  }

  #grow(): void {
    const doubled = <T extends Float64Array | Int32Array>(to: T, from: T): T => {
      to.set(from);
      return to;
    };
    this.#worths = doubled(new Float64Array(this.#worths.length * 2), this.#worths);
    this.#uses = doubled(new Float64Array(this.#uses.length * 2), this.#uses);
    this.#parents = doubled(new Int32Array(this.#parents.length * 2), this.#parents);
    this.#picks = doubled(new Int32Array(this.#picks.length * 2), this.#picks);
  }

  /** Whether a state is worth as much as another one would be, and uses no more. */
  #matches(state: number, from: number, option: Option, worth: number): boolean {
    if ((this.#worths[state] ?? 0) < worth) return false;
    const caps = this.#active.length;
    for (let cap = 0; cap < caps; cap++) {
      const use = (this.#uses[from * caps + cap] ?? 0) + (option.uses[this.#active[cap] ?? 0] ?? 0);
      if ((this.#uses[state * caps + cap] ?? 0) > use) return false;
    }
    return true;
  }
}

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
