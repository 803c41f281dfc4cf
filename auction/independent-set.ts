import { boundByCliques, type CliqueBound, coverEdges } from "./clique-cover.ts";
import { type Graph, hasBit, narrowMax, partsOf, putBit, type SearchBudget, subgraph } from "./graph.ts";

/** Members of the largest group that is searched to its end whatever it takes. */
export const exactMax = 28;

const lowestBit = (mask: number): number => 31 - Math.clz32(mask & -mask);

/**
 * Independent sets of the greatest weight in a graph of at most 32 vertices. Fill `adjacency` and `weights` (whole
 * numbers, sums below 2^53), then search; the sets are bits of an int32.
 *
 * Branch and bound. At each node cliques are peeled off greedily, each paid with the least weight left in it: what they
 * pay in all is a bound on every independent set within the vertices that are fully paid. Only the vertices left when
 * the bound has used up what is missing to the best set so far can lead to a better one, so only they are branched on.
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
  /** The total price of the cliques that were peeled last. */
  #paid = 0;
  #set = 0;
  #threshold = 0;
  #setsMax = 0;
  #found: number[] = [];

  constructor(budget: SearchBudget) {
    this.#budget = budget;
  }

  /**
   * A heaviest independent set within `mask`, whose vertices all weigh more than nothing. A search that is not
   * `isExact` ends when the budget is used up, with a set that may not be the heaviest, and `upper` says by how much.
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
   * Every independent set within `mask` that weighs at least `threshold`, or null when there are more than `setsMax` or
   * the budget does not suffice. Here vertices may weigh less than nothing.
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

  /**
   * The vertices that remain when cliques worth `budget` have been peeled off: no set without them weighs more than it.
   */
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

/** Rounds in which dominated vertices are removed; later rounds find few. */
const roundsMax = 3;

/**
 * The vertices of a graph, ordered by weight with the heaviest first, without each beside which another one weighs at
 * least as much and conflicts with nothing that it does not conflict with itself: in every set the other can take its
 * place.
 */
export function undominated(graph: Graph, budget: SearchBudget): Int32Array {
  const { size, words } = graph;
  const live = new Int32Array(words);
  for (let vertex = 0; vertex < size; vertex++) putBit(live, 0, vertex);
  for (let round = 0; round < roundsMax; round++) {
    let dropped = 0;
    for (let vertex = size - 1; vertex > 0 && budget.steps > 0; vertex--) {
      if (!hasBit(live, 0, vertex) || !isDominated(graph, vertex, live, budget)) continue;
      live[vertex >> 5] = (live[vertex >> 5] ?? 0) & ~(1 << (vertex & 31));
      dropped++;
    }
    if (dropped === 0 || budget.steps <= 0) break;
  }
  return live;
}

function isDominated({ words, rows }: Graph, vertex: number, live: Int32Array, budget: SearchBudget): boolean {
  const row = vertex * words;
  const ownWord = vertex >> 5;
  const ownBit = 1 << (vertex & 31);
  let steps = 0;
  let isFound = false;
  // Only those before it weigh as much.
  for (let word = 0; word <= ownWord && !isFound; word++) {
    let rest = (rows[row + word] ?? 0) & (live[word] ?? 0);
    if (word === ownWord) rest &= ownBit - 1;
    for (; rest !== 0 && !isFound; rest &= rest - 1) {
      const otherRow = (word * 32 + 31 - Math.clz32(rest & -rest)) * words;
      let at = 0;
      for (; at < words; at++) {
        let beyond = (rows[otherRow + at] ?? 0) & (live[at] ?? 0) & ~(rows[row + at] ?? 0);
        if (at === ownWord) beyond &= ~ownBit;
        if (beyond !== 0) break;
      }
      steps += at + 2;
      isFound = at === words;
    }
  }
  budget.steps -= steps + words;
  return isFound;
}

export interface HeavySet {
  readonly set: readonly number[];
  readonly value: number;
  /**
   * No independent set weighs more than this, or than the floor that was given. Infinite where nothing was found out.
   */
  readonly upper: number;
}

/**
 * Heavy independent sets of graphs too large for one word. The prices of cliques bound what can be reached; what they
 * rule out, or in, takes the graph apart, and parts of up to 32 vertices are solved exactly. What is left is divided by
 * a vertex, with it and without it, until the steps are used up: what was not examined then counts as its bound says.
 */
export class WideSearch {
  nodes = 0;
  readonly #narrow: NarrowSearch;
  readonly #budget: SearchBudget;

  constructor(narrow: NarrowSearch, budget: SearchBudget) {
    this.#narrow = narrow;
    this.#budget = budget;
  }

  /**
   * A set at least as heavy as the bound's own, and a bound at least as low, by looking at what the bound leaves open.
   */
  improve(graph: Graph, bound: CliqueBound, floor: number): HeavySet {
    const beaten = Math.max(floor, bound.value);
    if (bound.upper <= beaten || this.#budget.steps <= 0) return bound;
    const open = openVertices(graph, bound, beaten);
    this.#budget.steps -= 2 * graph.size * graph.words;
    const parts = partsOf(graph.rows, 0, graph.words, open);
    const isWhole = parts[0]?.length === graph.size;
    const found = isWhole ? this.#divide(graph, bound, beaten) : this.#solveParts(graph, parts, bound.set);
    const upper = Math.min(bound.upper, Math.max(beaten, found.upper));
    return found.value > bound.value ? { ...found, upper } : { ...bound, upper };
  }

  /**
   * Sets that do not weigh more than `floor` are of no use, and are not searched for. Vertices weigh more than nothing.
   */
  #heaviest(graph: Graph, floor: number): HeavySet {
    if (graph.size <= narrowMax) return this.#solveNarrow(graph);
    this.nodes++;
    const cliques = this.#budget.steps > 0 ? coverEdges(graph, this.#budget) : null;
    return cliques === null ? nothing : this.improve(graph, boundByCliques(graph, cliques, this.#budget), floor);
  }

  #solveNarrow({ size, rows, weights }: Graph): HeavySet {
    const narrow = this.#narrow;
    for (let vertex = 0; vertex < size; vertex++) {
      narrow.adjacency[vertex] = rows[vertex] ?? 0;
      narrow.weights[vertex] = weights[vertex] ?? 0;
    }
    const mask = narrow.heaviest(size === narrowMax ? -1 : (1 << size) - 1, false);
    const set: number[] = [];
    for (let rest = mask; rest !== 0; rest &= rest - 1) set.push(31 - Math.clz32(rest & -rest));
    return { set, value: narrow.value, upper: narrow.upper };
  }

  /** What is known of a part, `known`, stands where nothing better is found. */
  #solveParts(graph: Graph, parts: readonly (readonly number[])[], known: readonly number[]): HeavySet {
    const set: number[] = [];
    let value = 0;
    let upper = 0;
    const partOf = new Int32Array(graph.size).fill(-1);
    parts.forEach((part, number) => {
      for (const vertex of part) partOf[vertex] = number;
    });
    parts.forEach((part, number) => {
      const found = this.#solveReduced(graph, part);
      const own = known.filter((vertex) => partOf[vertex] === number);
      const ownValue = own.reduce((sum, vertex) => sum + (graph.weights[vertex] ?? 0), 0);
      for (const vertex of ownValue > found.value ? own : found.set) set.push(vertex);
      value += Math.max(ownValue, found.value);
      upper += found.upper;
    });
    return { set, value, upper };
  }

  /** A part without its dominated vertices, which may fall apart again. */
  #solveReduced(graph: Graph, part: readonly number[]): HeavySet {
    if (part.length <= narrowMax || this.#budget.steps <= 0) return this.#solveWithin(graph, part, 0);
    const order = part.toSorted((a, b) => (graph.weights[b] ?? 0) - (graph.weights[a] ?? 0) || a - b);
    const heavyFirst = this.#within(graph, order);
    const rest = partsOf(heavyFirst.rows, 0, heavyFirst.words, undominated(heavyFirst, this.#budget));
    const set: number[] = [];
    let value = 0;
    let upper = 0;
    for (const each of rest) {
      const found = this.#solveWithin(heavyFirst, each, 0);
      for (const vertex of found.set) set.push(order[vertex] ?? 0);
      value += found.value;
      upper += found.upper;
    }
    return { set, value, upper };
  }

  #solveWithin(graph: Graph, vertices: readonly number[], floor: number): HeavySet {
    const [alone] = vertices;
    if (vertices.length === 1 && alone !== undefined) {
      const value = graph.weights[alone] ?? 0;
      return { set: [alone], value, upper: value };
    }
    if (this.#budget.steps <= 0) return nothing;
    const { set, value, upper } = this.#heaviest(this.#within(graph, vertices), floor);
    return { set: set.map((vertex) => vertices[vertex] ?? 0), value, upper };
  }

  #within({ rows, words, weights }: Graph, vertices: readonly number[]): Graph {
    const part = subgraph(rows, 0, words, vertices, (vertex) => weights[vertex] ?? 0);
    let edges = 0;
    for (let at = 0; at < part.rows.length; at++) if (part.rows[at] !== 0) edges += 4;
    this.#budget.steps -= vertices.length * (words + 4) + 3 * edges;
    return part;
  }

  /** With and without the vertex about which the prices say least, among those that conflict with many. */
  #divide(graph: Graph, { reduced, upper }: CliqueBound, beaten: number): HeavySet {
    if (this.#budget.steps <= 0) return { set: [], value: 0, upper };
    const vertex = undecidedVertex(graph, reduced);
    this.#budget.steps -= 2 * graph.size * graph.words;
    const others: number[] = [];
    const apart: number[] = [];
    for (let other = 0; other < graph.size; other++) {
      if (other === vertex) continue;
      others.push(other);
      if (!hasBit(graph.rows, vertex * graph.words, other)) apart.push(other);
    }
    const weight = graph.weights[vertex] ?? 0;
    const rest = this.#solveWithin(graph, apart, beaten - weight);
    const taken = { set: [vertex, ...rest.set], value: weight + rest.value, upper: weight + rest.upper };
    const left = this.#solveWithin(graph, others, Math.max(beaten, taken.value));
    const best = left.value > taken.value ? left : taken;
    return { set: best.set, value: best.value, upper: Math.max(taken.upper, left.upper) };
  }
}

const nothing: HeavySet = { set: [], value: 0, upper: Number.POSITIVE_INFINITY };

/**
 * The vertices of sets that weigh more than `beaten`: not those that cost too much of the bound to take, nor the
 * neighbours of those that cost too much to leave out. Those that weigh nothing are of no use.
 */
function openVertices(
  { size, words, rows, weights }: Graph,
  { upper, reduced }: CliqueBound,
  beaten: number,
): Int32Array {
  const open = new Int32Array(words);
  for (let vertex = 0; vertex < size; vertex++) {
    if ((weights[vertex] ?? 0) > 0 && upper + Math.min(0, reduced[vertex] ?? 0) > beaten) putBit(open, 0, vertex);
  }
  for (let vertex = 0; vertex < size; vertex++) {
    if (upper - (reduced[vertex] ?? 0) > beaten) continue;
    for (let word = 0; word < words; word++) open[word] = (open[word] ?? 0) & ~(rows[vertex * words + word] ?? 0);
  }
  return open;
}

function undecidedVertex({ size, words, rows, weights }: Graph, reduced: Float64Array): number {
  let best = 0;
  let most = Number.NEGATIVE_INFINITY;
  for (let vertex = 0; vertex < size; vertex++) {
    let degree = 1;
    for (let word = 0; word < words; word++) {
      for (let rest = rows[vertex * words + word] ?? 0; rest !== 0; rest &= rest - 1) degree++;
    }
    const doubt = 1 - Math.min(1, Math.abs(reduced[vertex] ?? 0) / (weights[vertex] ?? 1));
    if (doubt * degree > most) {
      most = doubt * degree;
      best = vertex;
    }
  }
  return best;
}
