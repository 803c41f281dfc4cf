import type { Conflicts, Group } from "./conflicts.ts";
import { partsOf, putBit, type SearchBudget, subgraph } from "./graph.ts";
import { NarrowSearch, narrowMax } from "./narrow-search.ts";
import { WideSearch } from "./wide-search.ts";

/** What a group is worth at given weights: the set chosen is written into the caller's choice. */
export interface GroupOptimum {
  readonly value: number;
  /** No set of the group weighs more. */
  readonly upper: number;
}

/**
 * Heaviest independent sets of conflict groups at weights that change from call to call; bundles that weigh nothing or less
 * are left out, and groups fall into parts by it. Parts of up to 32 are searched exactly, larger ones within the budget.
 */
export class GroupOptima {
  readonly narrow = new NarrowSearch();
  readonly #conflicts: Conflicts;
  readonly budget: SearchBudget;
  readonly #wide: WideSearch;

  constructor(conflicts: Conflicts, budget: SearchBudget) {
    this.#conflicts = conflicts;
    this.budget = budget;
    this.#wide = new WideSearch(this.narrow, budget);
  }

  get nodes(): number {
    return this.narrow.nodes + this.#wide.nodes;
  }

  /** `weights` are by bundle; `choice` is a set over all groups, of which this group's words are written. */
  solve(group: Group, weights: Float64Array, choice: Int32Array): GroupOptimum {
    if (group.members.length <= narrowMax) return this.#solveNarrow(group, weights, choice);
    const { members, words, bitStart } = group;
    const live = new Int32Array(words);
    for (let local = 0; local < members.length; local++) {
      if ((weights[members[local] ?? 0] ?? 0) > 0) live[local >> 5] = (live[local >> 5] ?? 0) | (1 << (local & 31));
    }
    choice.fill(0, bitStart, bitStart + words);
    let value = 0;
    let upper = 0;
    for (const part of partsOf(this.#conflicts.rows, group.rowStart, words, live)) {
      const found =
        part.length <= narrowMax
          ? this.#narrowPart(group, part, weights, choice)
          : this.#widePart(group, part, weights, choice);
      value += found.value;
      upper += found.upper;
    }
    return { value, upper };
  }

  #solveNarrow({ members, rowStart, bitStart }: Group, weights: Float64Array, choice: Int32Array): GroupOptimum {
    const { narrow } = this;
    let mask = 0;
    for (let local = 0; local < members.length; local++) {
      const weight = weights[members[local] ?? 0] ?? 0;
      if (weight <= 0) continue;
      mask |= 1 << local;
      narrow.weights[local] = weight;
      narrow.adjacency[local] = this.#conflicts.rows[rowStart + local] ?? 0;
    }
    choice[bitStart] = narrow.heaviest(mask);
    return { value: narrow.value, upper: narrow.value };
  }

  /** Loads the part of a group, at most 32 bundles, as the graph of the narrow search; bit `at` is `part[at]`. */
  loadPart({ members, words, rowStart }: Group, part: readonly number[], weights: Float64Array): void {
    const { rows } = this.#conflicts;
    const { narrow } = this;
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

  #narrowPart(group: Group, part: readonly number[], weights: Float64Array, choice: Int32Array): GroupOptimum {
    this.loadPart(group, part, weights);
    const set = this.narrow.heaviest(part.length === 32 ? -1 : (1 << part.length) - 1);
    part.forEach((local, at) => {
      if ((set & (1 << at)) !== 0) putBit(choice, group.bitStart, local);
    });
    return { value: this.narrow.value, upper: this.narrow.value };
  }

  #widePart(group: Group, part: readonly number[], weights: Float64Array, choice: Int32Array): GroupOptimum {
    const { members, words, rowStart } = group;
    const weightOf = (local: number): number => weights[members[local] ?? 0] ?? 0;
    if (isClique(this.#conflicts.rows, group, part)) {
      // Rivals for one account, as most large groups are.
      const heaviest = part.reduce((best, local) => (weightOf(local) > weightOf(best) ? local : best), part[0] ?? 0);
      putBit(choice, group.bitStart, heaviest);
      return { value: weightOf(heaviest), upper: weightOf(heaviest) };
    }
    // Heavy vertices first: cliques are then grown around them, and the search meets them first.
    const order = part.toSorted((a, b) => weightOf(b) - weightOf(a) || a - b);
    this.budget.steps -= order.length ** 2;
    const { set, value, upper } = this.#wide.run(subgraph(this.#conflicts.rows, rowStart, words, order, weightOf));
    for (const vertex of set) putBit(choice, group.bitStart, order[vertex] ?? 0);
    return { value, upper };
  }
}

function isClique(rows: Int32Array, { words, rowStart }: Group, part: readonly number[]): boolean {
  const all = new Int32Array(words);
  for (const local of part) putBit(all, 0, local);
  for (const local of part) {
    const row = rowStart + local * words;
    for (let word = 0; word < words; word++) {
      const own = word === local >> 5 ? 1 << (local & 31) : 0;
      if (((all[word] ?? 0) & ~(rows[row + word] ?? 0)) !== own) return false;
    }
  }
  return true;
}
