import type { Graph, SearchBudget } from "./graph.ts";
import { hasBit, putBit } from "./graph.ts";

/** Rounds in which vertices that another one makes needless are removed; what later rounds find is little. */
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
