import type { Conflicts, Group, LocksByAccount } from "./conflicts.ts";
import { type Graph, narrowMax, putBit, type SearchBudget } from "./graph.ts";
import { byScore } from "./rank.ts";

/** Members of all cliques together; cliques beyond it are left out, and the bound is looser. */
const membersMax = 1 << 14;
/** Readers of one account that are listed, each with all of its writers. */
const readersMax = 16;

/**
 * Clique covers of the groups that are too large for the exact search. The writers of an account, with one of its
 * readers, are pairwise in conflict, so at most one of them wins. Not every conflict is in a clique. By group number;
 * null for small groups. `places` maps each bundle of the locks to its number in `conflicts`, below 0 for a bundle that
 * was removed.
 */
export function coverByAccounts(
  { starts, entries }: LocksByAccount,
  contested: readonly number[],
  places: Int32Array,
  { groups, groupOf, localOf }: Conflicts,
): readonly (CliqueCover | null)[] {
  const lists = groups.map(({ members }: Group) => (members.length > narrowMax ? new CliqueList() : null));
  const writers: number[] = [];
  const readers: number[] = [];
  let left = membersMax;
  for (const account of contested) {
    writers.length = 0;
    readers.length = 0;
    let group = -1;
    for (let at = starts[account] ?? 0; at < (starts[account + 1] ?? 0); at++) {
      const entry = entries[at] ?? 0;
      const bundle = places[entry >> 1] ?? -1;
      if (bundle < 0) continue;
      group = groupOf[bundle] ?? 0;
      ((entry & 1) === 1 ? writers : readers).push(localOf[bundle] ?? 0);
    }
    const list = lists[group] ?? null;
    if (list === null || writers.length === 0) continue;
    const count = Math.min(readers.length, readersMax);
    left -= count === 0 ? writers.length : count * (writers.length + 1);
    if (left < 0) break;
    if (count === 0) list.add(writers);
    for (let at = 0; at < count; at++) {
      writers.push(readers[at] ?? 0);
      list.add(writers);
      writers.pop();
    }
  }
  return lists.map((list) => list?.cover() ?? null);
}

/** Cliques of two members or more, each once: accounts are often locked by the same bundles. */
class CliqueList {
  readonly #members: number[] = [];
  readonly #starts: number[] = [0];
  readonly #byHash = new Map<number, number>();

  add(clique: readonly number[]): void {
    if (clique.length < 2) return;
    let hash = clique.length;
    for (let at = 0; at < clique.length; at++) hash = (Math.imul(hash, 31) + (clique[at] ?? 0)) | 0;
    const known = this.#byHash.get(hash);
    if (known !== undefined && this.#isEqual(known, clique)) return;
    this.#byHash.set(hash, this.#starts.length - 1);
    for (let at = 0; at < clique.length; at++) this.#members.push(clique[at] ?? 0);
    this.#starts.push(this.#members.length);
  }

  cover(): CliqueCover {
    return { members: Int32Array.from(this.#members), starts: this.#starts };
  }

  #isEqual(known: number, clique: readonly number[]): boolean {
    const start = this.#starts[known] ?? 0;
    if ((this.#starts[known + 1] ?? 0) - start !== clique.length) return false;
    for (let at = 0; at < clique.length; at++) if (this.#members[start + at] !== clique[at]) return false;
    return true;
  }
}

/** Maximal cliques that cover every edge, each grown from an uncovered edge; null when the steps run out. */
export function coverEdges({ size, words, rows }: Graph, budget: SearchBudget): CliqueCover | null {
  const uncovered = rows.slice();
  budget.steps -= rows.length;
  const common = new Int32Array(words);
  const clique = new Int32Array(words);
  const members: number[] = [];
  const starts = [0];
  for (let vertex = 0; vertex < size; vertex++) {
    const row = vertex * words;
    for (let word = 0; word < words; word++) {
      for (let open = uncovered[row + word] ?? 0; open !== 0; open = uncovered[row + word] ?? 0) {
        if (budget.steps <= 0) return null;
        const first = members.length;
        clique.fill(0);
        for (let at = 0; at < words; at++) common[at] = rows[row + at] ?? 0;
        let next = word * 32 + 31 - Math.clz32(open & -open);
        putBit(clique, 0, vertex);
        members.push(vertex);
        while (next >= 0) {
          putBit(clique, 0, next);
          members.push(next);
          for (let at = 0; at < words; at++) common[at] = (common[at] ?? 0) & (rows[next * words + at] ?? 0);
          // Those whose edge to the first vertex is uncovered come first, then any.
          next = lowestOf(common, uncovered, row, words);
          budget.steps -= 3 * words;
        }
        for (let at = first; at < members.length; at++) {
          const covered = (members[at] ?? 0) * words;
          for (let each = 0; each < words; each++) {
            uncovered[covered + each] = (uncovered[covered + each] ?? 0) & ~(clique[each] ?? 0);
          }
        }
        budget.steps -= (members.length - first + 2) * words;
        starts.push(members.length);
      }
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

/** Sweeps over all cliques; each one costs about as much as the cliques have members. */
const sweepsMax = 60;
/** The bound is evaluated after so many sweeps; so many run even without steps. */
const sweepsPerTry = 10;
/** Relative decreases of the bound: below the first a set is tried, below the second the search ends. */
const settledGain = 5e-3;
const leastGain = 1e-5;
/** Steps of a try for each vertex, which are sorted. */
const tryCost = 20;

/**
 * Cliques of a conflict graph, of which at most one vertex each is chosen: clique `c` is
 * `members[starts[c]] .. members[starts[c + 1] - 1]`. An edge may be in several cliques or in none.
 */
export interface CliqueCover {
  readonly members: Int32Array;
  readonly starts: readonly number[];
}

export interface CliqueBound {
  /** No independent set weighs more; a whole number. */
  readonly upper: number;
  /**
   * By vertex: its reduced weight, the weight minus the prices of its cliques. Leaving out a positive one, or taking a
   * negative one, costs that much of the bound.
   */
  readonly reduced: Float64Array;
  /** The best set met on the way. */
  readonly set: readonly number[];
  readonly value: number;
}

/**
 * An upper bound on the weight of independent sets, by duality of the clique relaxation: at most one vertex of a clique
 * is chosen, so each clique charges its members a price, and no set weighs more than the sum of all prices plus the
 * positive reduced weights. Prices are moved clique by clique to the mean of its two highest reduced weights, which
 * never raises the bound. Vertices of negative weight are never chosen. `prices` holds the start, whole numbers of at
 * least 0, and the result afterwards.
 */
export function boundByCliques(
  graph: Graph,
  { members, starts }: CliqueCover,
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
