import type { Cliques } from "./clique-bound.ts";
import { type Graph, putBit, type SearchBudget } from "./graph.ts";

/** Maximal cliques that cover every edge, grown from edges that none covers yet; null where the steps do not suffice. */
export function cliquesOf({ size, words, rows }: Graph, budget: SearchBudget): Cliques | null {
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
