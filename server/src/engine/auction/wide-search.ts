import { boundByCliques, type CliqueBound } from "./clique-bound.ts";
import { undominated } from "./dominance.ts";
import { type Graph, hasBit, partsOf, putBit, type SearchBudget, subgraph } from "./graph.ts";
import { type NarrowSearch, narrowMax } from "./narrow-search.ts";

export interface HeavySet {
  readonly set: readonly number[];
  readonly value: number;
  /** No independent set weighs more than this, or than the floor that was given. */
  readonly upper: number;
}

/**
 * Heavy independent sets of graphs too large for one word, whose vertices all weigh more than nothing. The prices of
 * cliques bound what can be reached; what they rule out, or in, takes the graph apart, and parts of up to 32 vertices are
 * solved exactly. What is left is divided by a vertex, with it and without it, until the budget is used up.
 */
export class WideSearch {
  nodes = 0;
  readonly #narrow: NarrowSearch;
  readonly #budget: SearchBudget;

  constructor(narrow: NarrowSearch, budget: SearchBudget) {
    this.#narrow = narrow;
    this.#budget = budget;
  }

  /** A heavy set of a graph whose vertices are ordered by weight, the heaviest first. */
  run(graph: Graph): HeavySet {
    return this.#solveParts(graph, partsOf(graph.rows, 0, graph.words, undominated(graph, this.#budget)));
  }

  /** Sets that do not weigh more than `floor` are of no use, and are not looked for. */
  #heaviest(graph: Graph, floor: number): HeavySet {
    if (graph.size <= narrowMax) return this.#solveNarrow(graph);
    this.nodes++;
    const bound = boundByCliques(graph, this.#budget);
    const known = { set: bound.set, value: bound.value, upper: bound.upper };
    const beaten = Math.max(floor, bound.value);
    if (bound.upper <= beaten) return known;
    const parts = partsOf(graph.rows, 0, graph.words, openVertices(graph, bound, beaten));
    const found = parts[0]?.length === graph.size ? this.#divide(graph, bound, beaten) : this.#solveParts(graph, parts);
    const upper = Math.min(bound.upper, Math.max(beaten, found.upper));
    return found.value > bound.value ? { ...found, upper } : { ...known, upper };
  }

  #solveNarrow({ size, rows, weights }: Graph): HeavySet {
    for (let vertex = 0; vertex < size; vertex++) {
      this.#narrow.adjacency[vertex] = rows[vertex] ?? 0;
      this.#narrow.weights[vertex] = weights[vertex] ?? 0;
    }
    const mask = this.#narrow.heaviest(size === narrowMax ? -1 : (1 << size) - 1);
    const set: number[] = [];
    for (let rest = mask; rest !== 0; rest &= rest - 1) set.push(31 - Math.clz32(rest & -rest));
    return { set, value: this.#narrow.value, upper: this.#narrow.value };
  }

  #solveParts(graph: Graph, parts: readonly (readonly number[])[]): HeavySet {
    const set: number[] = [];
    let value = 0;
    let upper = 0;
    for (const part of parts) {
      const found = this.#solveWithin(graph, part, 0);
      for (const vertex of found.set) set.push(vertex);
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
    this.#budget.steps -= vertices.length ** 2;
    const part = subgraph(graph.rows, 0, graph.words, vertices, (vertex) => graph.weights[vertex] ?? 0);
    const { set, value, upper } = this.#heaviest(part, floor);
    return { set: set.map((vertex) => vertices[vertex] ?? 0), value, upper };
  }

  /** With and without the vertex about which the prices say least, among those that conflict with many. */
  #divide(graph: Graph, { reduced, upper }: CliqueBound, beaten: number): HeavySet {
    if (this.#budget.steps <= 0) return { set: [], value: 0, upper };
    const vertex = undecidedVertex(graph, reduced);
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

/**
 * The vertices of sets that weigh more than `beaten`: not those that cost too much of the bound to take, nor the neighbours
 * of those that cost too much to leave out.
 */
function openVertices({ size, words, rows }: Graph, { upper, reduced }: CliqueBound, beaten: number): Int32Array {
  const open = new Int32Array(words);
  for (let vertex = 0; vertex < size; vertex++) {
    if (upper + Math.min(0, reduced[vertex] ?? 0) > beaten) putBit(open, 0, vertex);
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
