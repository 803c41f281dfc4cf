import { boundByCliques, type CliqueBound, coverEdges } from "./clique-cover.ts";
import { type Graph, hasBit, partsOf, putBit, type SearchBudget, subgraph } from "./graph.ts";
import { type NarrowSearch, narrowMax } from "./narrow-search.ts";

/** Rounds in which dominated vertices are removed; later rounds find few. */
const roundsMax = 3;

/**
 * The vertices of a graph, ordered by weight with the heaviest first, without each beside which another one weighs at least
 * as much and conflicts with nothing that it does not conflict with itself: in every set the other can take its place.
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
  /** No independent set weighs more than this, or than the floor that was given. Infinite where nothing was found out. */
  readonly upper: number;
}

/**
 * Heavy independent sets of graphs too large for one word. The prices of cliques bound what can be reached; what they rule
 * out, or in, takes the graph apart, and parts of up to 32 vertices are solved exactly. What is left is divided by a vertex,
 * with it and without it, until the steps are used up: what was not looked at then counts as its bound says.
 */
export class WideSearch {
  nodes = 0;
  readonly #narrow: NarrowSearch;
  readonly #budget: SearchBudget;

  constructor(narrow: NarrowSearch, budget: SearchBudget) {
    this.#narrow = narrow;
    this.#budget = budget;
  }

  /** A set at least as heavy as the bound's own, and a bound at least as low, by looking at what the bound leaves open. */
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

  /** Sets that do not weigh more than `floor` are of no use, and are not looked for. Vertices weigh more than nothing. */
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
 * The vertices of sets that weigh more than `beaten`: not those that cost too much of the bound to take, nor the neighbours
 * of those that cost too much to leave out. Those that weigh nothing are of no use.
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
