import type { SearchBudget } from "./graph.ts";

/** Members of the largest graph that is searched in machine words. */
export const narrowMax = 32;
/** Members of the largest group that is searched to its end whatever it takes. */
export const exactMax = 28;

const lowestBit = (mask: number): number => 31 - Math.clz32(mask & -mask);

/**
 * Independent sets of the greatest weight in a graph of at most 32 vertices. Fill `adjacency` and `weights` (whole numbers,
 * sums below 2^53), then search; the sets are bits of an int32.
 *
 * Branch and bound. At each node cliques are peeled off greedily, each paid with the least weight left in it: what they
 * pay in all is a bound on every independent set within the vertices that are fully paid. Only the vertices left when the
 * bound has used up what is missing to the best set so far can lead to a better one, so only they are branched on.
 */
export class NarrowSearch {
  readonly adjacency = new Int32Array(narrowMax);
  readonly weights = new Float64Array(narrowMax);
  nodes = 0;
  /** The weight of the set that `heaviest` found. */
  value = 0;
  /** No independent set weighs more; `value` where the search came to its end. */
  upper = 0;
  readonly #left = new Float64Array(narrowMax);
  readonly #budget: SearchBudget;
  #isLimited = false;
  #isCut = false;
  /** What the cliques peeled last have paid in all. */
  #paid = 0;
  #set = 0;
  #threshold = 0;
  #setsMax = 0;
  #found: number[] = [];

  constructor(budget: SearchBudget) {
    this.#budget = budget;
  }

  /**
   * A heaviest independent set within `mask`, whose vertices all weigh more than nothing. A search that is not `isExact`
   * ends when the budget is used up, with a set that may not be the heaviest, and `upper` tells by how much.
   */
  heaviest(mask: number, isExact: boolean): number {
    this.#isLimited = !isExact;
    this.#isCut = false;
    this.value = 0;
    this.#set = 0;
    this.#takeGreedily(mask);
    this.#improve(mask, 0, 0);
    this.upper = this.value;
    if (this.#isCut) {
      this.#unpaid(mask, Number.POSITIVE_INFINITY);
      this.upper = Math.max(this.value, this.#paid);
    }
    return this.#set;
  }

  /**
   * Every independent set within `mask` that weighs at least `threshold`, or null when there are more than `setsMax` or the
   * budget does not suffice. Here vertices may weigh less than nothing.
   */
  allFrom(mask: number, threshold: number, setsMax: number): readonly number[] | null {
    this.#isLimited = true;
    this.#isCut = false;
    this.#threshold = threshold;
    this.#setsMax = setsMax;
    this.#found = [];
    this.#list(mask, 0, 0);
    return this.#isCut || this.#found.length > setsMax ? null : this.#found;
  }

  /** A first set, the heaviest vertex by vertex, so that the search has something to beat. */
  #takeGreedily(mask: number): void {
    let open = mask;
    while (open !== 0) {
      let best = -1;
      for (let rest = open; rest !== 0; rest &= rest - 1) {
        const vertex = lowestBit(rest);
        if (best < 0 || (this.weights[vertex] ?? 0) > (this.weights[best] ?? 0)) best = vertex;
      }
      this.#set |= 1 << best;
      this.value += this.weights[best] ?? 0;
      open &= ~((this.adjacency[best] ?? 0) | (1 << best));
    }
  }

  #improve(mask: number, value: number, set: number): void {
    this.nodes++;
    if (value > this.value) {
      this.value = value;
      this.#set = set;
    }
    if (mask === 0) return;
    let branches = this.#unpaid(mask, this.value - value);
    if (branches !== 0 && this.#isLimited && this.#budget.steps <= 0) this.#isCut = true;
    let open = mask;
    while (branches !== 0 && !this.#isCut) {
      const vertex = lowestBit(branches);
      const bit = 1 << vertex;
      branches &= ~bit;
      open &= ~bit;
      this.#improve(open & ~(this.adjacency[vertex] ?? 0), value + (this.weights[vertex] ?? 0), set | bit);
    }
  }

  #list(mask: number, value: number, set: number): void {
    this.nodes++;
    if (value >= this.#threshold) this.#found.push(set);
    if (mask === 0 || this.#isCut || this.#found.length > this.#setsMax) return;
    // One less than what is missing: a set that just reaches the threshold is wanted too.
    let branches = this.#unpaid(mask, this.#threshold - value - 1);
    if (branches !== 0 && this.#isLimited && this.#budget.steps <= 0) this.#isCut = true;
    let open = mask;
    while (branches !== 0 && !this.#isCut && this.#found.length <= this.#setsMax) {
      const vertex = lowestBit(branches);
      const bit = 1 << vertex;
      branches &= ~bit;
      open &= ~bit;
      this.#list(open & ~(this.adjacency[vertex] ?? 0), value + (this.weights[vertex] ?? 0), set | bit);
    }
  }

  /** The vertices that remain when cliques worth `budget` have been peeled off: no set without them weighs more than it. */
  #unpaid(mask: number, budget: number): number {
    let steps = 20;
    if (budget < 0) {
      this.#budget.steps -= steps;
      return mask;
    }
    const { adjacency, weights } = this;
    const left = this.#left;
    let open = mask;
    for (let rest = mask; rest !== 0; rest &= rest - 1) {
      const vertex = lowestBit(rest);
      const weight = weights[vertex] ?? 0;
      steps += 2;
      if (weight > 0) left[vertex] = weight;
      else open &= ~(1 << vertex);
    }
    let room = budget;
    this.#paid = 0;
    while (open !== 0) {
      let clique = 0;
      let pay = room;
      let common = open;
      while (common !== 0) {
        const vertex = lowestBit(common);
        clique |= 1 << vertex;
        const weight = left[vertex] ?? 0;
        if (weight < pay) pay = weight;
        common &= adjacency[vertex] ?? 0;
      }
      room -= pay;
      this.#paid += pay;
      for (let rest = clique; rest !== 0; rest &= rest - 1) {
        const vertex = lowestBit(rest);
        const weight = (left[vertex] ?? 0) - pay;
        left[vertex] = weight;
        if (weight === 0) open &= ~(1 << vertex);
        steps += 6;
      }
      if (room === 0) break;
    }
    this.#budget.steps -= steps;
    return open;
  }
}
