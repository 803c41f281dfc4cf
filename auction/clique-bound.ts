import type { Graph, SearchBudget } from "./graph.ts";
import { byScore } from "./sorting.ts";

/** Sweeps over all cliques; each one costs about as much as the cliques have members. */
const sweepsMax = 60;
/** The bound is looked at after each so many sweeps; that many are made however few steps there are. */
const sweepsPerTry = 10;
/** Parts of the bound: a choice is tried when it falls by less, and the end is where it falls by less. */
const settledGain = 5e-3;
const leastGain = 1e-5;
/** Steps that a try costs, for each vertex: it sorts them. */
const tryCost = 20;

/**
 * Sets of vertices of which one at most can be chosen: those of set `c` are `members[starts[c]] .. members[starts[c + 1] - 1]`.
 * Edges may be in several or in none.
 */
export interface Cliques {
  readonly members: Int32Array;
  readonly starts: readonly number[];
}

export interface CliqueBound {
  /** No independent set weighs more; whole. */
  readonly upper: number;
  /** By vertex: its weight less what its cliques charge. Leaving out one above nothing, or taking one below, costs that much. */
  readonly reduced: Float64Array;
  /** The best set met on the way. */
  readonly set: readonly number[];
  readonly value: number;
}

/**
 * A bound on independent sets by linear programming duality: of each clique one vertex can be chosen at most, so it charges
 * its members a price, and no set is worth more than all prices and what the vertices are worth beyond what they are charged.
 * Prices are moved clique by clique to the middle of what its two best vertices would pay, which never raises the bound.
 * Vertices may weigh less than nothing; they are never chosen. `prices` are where the search begins, any whole numbers of
 * nothing or more, and hold its result afterwards.
 */
export function boundByCliques(
  graph: Graph,
  { members, starts }: Cliques,
  budget: SearchBudget,
  prices: Float64Array = new Float64Array(starts.length - 1),
): CliqueBound {
  const { size, weights } = graph;
  const cliques = starts.length - 1;
  const reduced = weights.slice();
  charge(members, starts, prices, reduced);
  let value = 0;
  let set: readonly number[] = [];
  let last = Number.POSITIVE_INFINITY;
  let bound = last;
  for (let sweeps = 0; sweeps < sweepsMax && (sweeps === 0 || budget.steps > 0); sweeps += sweepsPerTry) {
    for (let count = 0; count < sweepsPerTry; count++) {
      for (let clique = 0; clique < cliques; clique++) movePrice(clique, members, starts, prices, reduced);
    }
    budget.steps -= 2 * sweepsPerTry * members.length + 4 * size;
    bound = boundOf(prices, reduced);
    const gain = last - bound;
    last = bound;
    // Prices that still move say little yet.
    if (gain > bound * settledGain && sweeps + sweepsPerTry < sweepsMax && budget.steps > 0) continue;
    const tried = takeByScore(graph, reduced);
    if (tried.value > value) ({ value, set } = tried);
    budget.steps -= tryCost * size + tried.set.length * graph.words;
    if (bound - value < 1 || gain < bound * leastGain) break;
  }
  return { upper: bound, reduced, set, value };
}

function charge(members: Int32Array, starts: readonly number[], prices: Float64Array, reduced: Float64Array): void {
  for (let clique = 0; clique < prices.length; clique++) {
    const price = prices[clique] ?? 0;
    if (price === 0) continue;
    for (let at = starts[clique] ?? 0; at < (starts[clique + 1] ?? 0); at++) {
      const vertex = members[at] ?? 0;
      reduced[vertex] = (reduced[vertex] ?? 0) - price;
    }
  }
}

function boundOf(prices: Float64Array, reduced: Float64Array): number {
  let bound = 0;
  for (let clique = 0; clique < prices.length; clique++) bound += prices[clique] ?? 0;
  for (let vertex = 0; vertex < reduced.length; vertex++) bound += Math.max(0, reduced[vertex] ?? 0);
  return bound;
}

/** Prices stay whole numbers, so that the bound is exact. */
function movePrice(
  clique: number,
  members: Int32Array,
  starts: readonly number[],
  prices: Float64Array,
  reduced: Float64Array,
): void {
  const start = starts[clique] ?? 0;
  const end = starts[clique + 1] ?? 0;
  let best = 0;
  let second = 0;
  const price = prices[clique] ?? 0;
  for (let at = start; at < end; at++) {
    const worth = (reduced[members[at] ?? 0] ?? 0) + price;
    if (worth > best) {
      second = best;
      best = worth;
    } else if (worth > second) second = worth;
  }
  const change = Math.floor((best + second) / 2) - price;
  if (change === 0) return;
  prices[clique] = price + change;
  for (let at = start; at < end; at++) {
    const vertex = members[at] ?? 0;
    reduced[vertex] = (reduced[vertex] ?? 0) - change;
  }
}

/** Takes vertices by score, highest first, while they fit; none that weighs nothing or less. */
export function takeByScore(graph: Graph, scores: Float64Array): { readonly set: number[]; readonly value: number } {
  const { words, rows, weights } = graph;
  const order = byScore(scores);
  const closed = new Int32Array(words);
  const set: number[] = [];
  let value = 0;
  for (let at = 0; at < order.length; at++) {
    const vertex = order[at] ?? 0;
    const weight = weights[vertex] ?? 0;
    if (weight <= 0 || ((closed[vertex >> 5] ?? 0) & (1 << (vertex & 31))) !== 0) continue;
    const row = vertex * words;
    for (let word = 0; word < words; word++) closed[word] = (closed[word] ?? 0) | (rows[row + word] ?? 0);
    set.push(vertex);
    value += weight;
  }
  return { set, value };
}
