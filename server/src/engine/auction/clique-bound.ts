import { type Graph, hasBit, putBit, type SearchBudget } from "./graph.ts";

/** Sweeps over all cliques; each one costs about as much as the cliques have members. */
const sweepsMax = 60;
/** A choice is tried after each so many sweeps. */
const sweepsPerTry = 6;
/** Steps that a try costs, for each vertex: it sorts them. */
const tryCost = 20;

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
 */
export function boundByCliques(graph: Graph, budget: SearchBudget): CliqueBound {
  const { size, weights } = graph;
  const { members, starts } = cliquesOf(graph, budget);
  const cliques = starts.length - 1;
  const reduced = weights.slice();
  const prices = new Float64Array(cliques);
  let value = 0;
  let set: readonly number[] = [];
  let sweeps = 0;
  const attempt = (): void => {
    const tried = takeByScore(graph, reduced);
    if (tried.value <= value) return;
    value = tried.value;
    set = tried.set;
  };
  attempt();
  let last = Number.POSITIVE_INFINITY;
  while (sweeps < sweepsMax && (sweeps === 0 || budget.steps > 0)) {
    for (let count = 0; count < sweepsPerTry; count++) {
      for (let clique = 0; clique < cliques; clique++) movePrice(clique, members, starts, prices, reduced);
    }
    sweeps += sweepsPerTry;
    budget.steps -= sweepsPerTry * members.length + tryCost * size;
    attempt();
    const bound = boundOf(prices, reduced);
    if (bound - value < 1 || last - bound < bound * 1e-5) break;
    last = bound;
  }
  return { upper: boundOf(prices, reduced), reduced, set, value };
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

interface Cliques {
  readonly members: Int32Array;
  readonly starts: readonly number[];
}

/**
 * Maximal cliques that cover every edge, grown from edges that none covers yet. When the budget is used up, each vertex that
 * is in none yet still gets one among those like it, and some edges stay uncovered: the bound is looser and no less true.
 */
function cliquesOf({ size, words, rows }: Graph, budget: SearchBudget): Cliques {
  const uncovered = rows.slice();
  const common = new Int32Array(words);
  const clique = new Int32Array(words);
  const members: number[] = [];
  const starts = [0];
  const bare = new Int32Array(words).fill(-1);
  for (let vertex = 0; vertex < size; vertex++) {
    const row = vertex * words;
    const isSpent = budget.steps <= 0;
    if (isSpent && !hasBit(bare, 0, vertex)) continue;
    for (let word = 0; word < words; word++) {
      const wanted = isSpent ? (bare[word] ?? 0) : -1;
      const edges = (): number => (uncovered[row + word] ?? 0) & wanted;
      for (let open = edges(); open !== 0; open = edges()) {
        const first = members.length;
        clique.fill(0);
        for (let at = 0; at < words; at++) common[at] = (rows[row + at] ?? 0) & (isSpent ? (bare[at] ?? 0) : -1);
        let next = word * 32 + 31 - Math.clz32(open & -open);
        putBit(clique, 0, vertex);
        members.push(vertex);
        while (next >= 0) {
          putBit(clique, 0, next);
          members.push(next);
          for (let at = 0; at < words; at++) common[at] = (common[at] ?? 0) & (rows[next * words + at] ?? 0);
          // Those whose edge to the first vertex is uncovered come first, then any.
          next = lowestOf(common, uncovered, row, words);
          budget.steps -= 2 * words;
        }
        for (let at = first; at < members.length; at++) {
          const covered = (members[at] ?? 0) * words;
          for (let each = 0; each < words; each++) {
            uncovered[covered + each] = (uncovered[covered + each] ?? 0) & ~(clique[each] ?? 0);
          }
        }
        budget.steps -= (members.length - first + 1) * words;
        for (let at = 0; at < words; at++) bare[at] = (bare[at] ?? 0) & ~(clique[at] ?? 0);
        starts.push(members.length);
        if (isSpent) break;
      }
      if (isSpent && !hasBit(bare, 0, vertex)) break;
    }
  }
  return { members: Int32Array.from(members), starts };
}

function lowestOf(common: Int32Array, uncovered: Int32Array, row: number, words: number): number {
  let any = -1;
  for (let word = 0; word < words; word++) {
    const bits = common[word] ?? 0;
    if (bits === 0) continue;
    const wanted = bits & (uncovered[row + word] ?? 0);
    if (wanted !== 0) return word * 32 + 31 - Math.clz32(wanted & -wanted);
    if (any < 0) any = word * 32 + 31 - Math.clz32(bits & -bits);
  }
  return any;
}

/** Takes vertices by score, highest first, while they fit. */
function takeByScore(graph: Graph, scores: Float64Array): { readonly set: number[]; readonly value: number } {
  const { size, words, rows, weights } = graph;
  const order = new Int32Array(size);
  for (let vertex = 0; vertex < size; vertex++) order[vertex] = vertex;
  order.sort((a, b) => (scores[b] ?? 0) - (scores[a] ?? 0) || a - b);
  const closed = new Int32Array(words);
  const set: number[] = [];
  let value = 0;
  for (const vertex of order) {
    if (((closed[vertex >> 5] ?? 0) & (1 << (vertex & 31))) !== 0) continue;
    for (let word = 0; word < words; word++) closed[word] = (closed[word] ?? 0) | (rows[vertex * words + word] ?? 0);
    set.push(vertex);
    value += weights[vertex] ?? 0;
  }
  return { set, value };
}
