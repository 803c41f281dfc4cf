import { boundByCliques, type CliqueBound, type CliqueCover, takeByScore } from "./clique-cover.ts";
import type { Conflicts, Group } from "./conflicts.ts";
import { type Graph, hasBit, narrowMax, partsOf, putBit, type SearchBudget } from "./graph.ts";
import { exactMax, NarrowSearch, WideSearch } from "./independent-set.ts";

/** The value of a group at given weights: the chosen set is written into the caller's choice. */
export interface GroupOptimum {
  readonly value: number;
  /** No set of the group weighs more. */
  readonly upper: number;
}

/** A bound this many times the best set shows that cliques say little about the group. */
const farFrom = 1.05;

/**
 * Heaviest independent sets of conflict groups at weights that change from call to call; bundles that weigh nothing or
 * less are left out, and large groups fall into parts by it. Groups of up to 28 are searched to the end where the
 * caller wants them so, and all others within the budget.
 */
export class GroupOptima {
  readonly budget: SearchBudget;
  readonly narrow: NarrowSearch;
  readonly #conflicts: Conflicts;
  readonly #covers: readonly (CliqueCover | null)[];
  /** By group: what the search for its covers' prices found last, and begins with next. */
  readonly #prices: (Float64Array | undefined)[] = [];
  /** By group: how many there are of each member and those that it conflicts with. */
  readonly #crowds: (Float64Array | undefined)[] = [];
  readonly #wide: WideSearch;

  /** `covers` are by group. */
  constructor(conflicts: Conflicts, covers: readonly (CliqueCover | null)[], budget: SearchBudget) {
    this.#conflicts = conflicts;
    this.#covers = covers;
    this.budget = budget;
    this.narrow = new NarrowSearch(budget);
    this.#wide = new WideSearch(this.narrow, budget);
  }

  get nodes(): number {
    return this.narrow.nodes + this.#wide.nodes;
  }

  /**
   * `weights` are by bundle; `choice` is a set over all groups, of which the words of group `number` are written.
   * `isExact` has a group of up to 28 solved whatever it takes.
   */
  solve(number: number, weights: Float64Array, choice: Int32Array, isExact: boolean): GroupOptimum {
    const group = this.#conflicts.groups[number];
    if (group === undefined) return { value: 0, upper: 0 };
    if (group.members.length <= narrowMax) return this.#solveNarrow(group, weights, choice, isExact);
    const graph = this.#graphOf(group, weights);
    const { set, value, upper } = this.#wide.improve(graph, this.#boundOf(number, graph), 0);
    choice.fill(0, group.bitStart, group.bitStart + group.words);
    for (const local of set) putBit(choice, group.bitStart, local);
    return { value, upper };
  }

  /** What the prices of covers say of a large group without those banned; vertices are local numbers. */
  bound(number: number, weights: Float64Array, banned: Int32Array): CliqueBound | null {
    const group = this.#conflicts.groups[number];
    if (group === undefined) return null;
    const graph = this.#graphOf(group, weights);
    for (let local = 0; local < graph.size; local++) {
      if (hasBit(banned, group.bitStart, local)) graph.weights[local] = Math.min(0, graph.weights[local] ?? 0);
    }
    return this.#boundOf(number, graph);
  }

  #graphOf({ members, words, rowStart }: Group, weights: Float64Array): Graph {
    const size = members.length;
    const own = new Float64Array(size);
    for (let local = 0; local < size; local++) own[local] = weights[members[local] ?? 0] ?? 0;
    return { size, words, rows: this.#conflicts.rows.subarray(rowStart, rowStart + size * words), weights: own };
  }

  #boundOf(number: number, graph: Graph): CliqueBound {
    const covers = this.#covers[number] ?? { members: new Int32Array(0), starts: [0] };
    this.#prices[number] ??= new Float64Array(covers.starts.length - 1);
    const bound = boundByCliques(graph, covers, this.budget, this.#prices[number]);
    const isFar = bound.upper > bound.value * farFrom;
    return isFar ? this.#trySparse(number, graph, bound) : bound;
  }

  /** Where conflicts are in no cliques to speak of, those with few of them are the better choice. */
  #trySparse(number: number, graph: Graph, bound: CliqueBound): CliqueBound {
    this.#crowds[number] ??= crowdsOf(graph);
    const crowds = this.#crowds[number];
    const scores = graph.weights.map((weight, local) => weight / (crowds[local] ?? 1));
    const tried = takeByScore(graph, scores);
    this.budget.steps -= 20 * graph.size + tried.set.length * graph.words;
    return tried.value > bound.value ? { ...bound, ...tried } : bound;
  }

  #solveNarrow(
    { members, rowStart, bitStart }: Group,
    weights: Float64Array,
    choice: Int32Array,
    isExact: boolean,
  ): GroupOptimum {
    const { narrow } = this;
    let mask = 0;
    for (let local = 0; local < members.length; local++) {
      const weight = weights[members[local] ?? 0] ?? 0;
      if (weight <= 0) continue;
      mask |= 1 << local;
      narrow.weights[local] = weight;
      narrow.adjacency[local] = this.#conflicts.rows[rowStart + local] ?? 0;
    }
    choice[bitStart] = narrow.heaviest(mask, isExact && members.length <= exactMax);
    return { value: narrow.value, upper: narrow.upper };
  }

  /** Loads the part of a group, at most 32 bundles, as the graph of the narrow search; bit `at` is `part[at]`. */
  loadPart({ members, words, rowStart }: Group, part: readonly number[], weights: Float64Array): void {
    const { rows } = this.#conflicts;
    const { narrow } = this;
    this.budget.steps -= part.length * part.length;
    for (let at = 0; at < part.length; at++) {
      const local = part[at] ?? 0;
      const row = rowStart + local * words;
      let neighbours = 0;
      for (let other = 0; other < part.length; other++) {
        const bit = part[other] ?? 0;
        if (((rows[row + (bit >> 5)] ?? 0) & (1 << (bit & 31))) !== 0) neighbours |= 1 << other;
      }
      narrow.adjacency[at] = neighbours;
      narrow.weights[at] = weights[members[local] ?? 0] ?? 0;
    }
  }

  /** The connected parts of a group's live members, by local number. */
  partsOf({ words, rowStart }: Group, live: Int32Array): number[][] {
    return partsOf(this.#conflicts.rows, rowStart, words, live);
  }
}

function crowdsOf({ size, words, rows }: Graph): Float64Array {
  const crowds = new Float64Array(size).fill(1);
  for (let vertex = 0; vertex < size; vertex++) {
    for (let word = 0; word < words; word++) {
      for (let rest = rows[vertex * words + word] ?? 0; rest !== 0; rest &= rest - 1) {
        crowds[vertex] = (crowds[vertex] ?? 0) + 1;
      }
    }
  }
  return crowds;
}
