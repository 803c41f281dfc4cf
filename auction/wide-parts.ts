import type { Choice } from "./choice.ts";
import { boundByCliques, type CliqueBound } from "./clique-bound.ts";
import { cliquesOf } from "./clique-cover.ts";
import type { Group } from "./conflicts.ts";
import { putBit, subgraph } from "./graph.ts";
import type { GroupOptima } from "./group-optimum.ts";
import type { Problem } from "./problem.ts";

/** Leaves of the live members of a large group those that by the prices of cliques may fall short by no more than `window`. */
export function keepWithin(live: Int32Array, { upper, value, reduced }: CliqueBound, window: number): void {
  for (let local = 0; local < reduced.length; local++) {
    if (upper + Math.min(0, reduced[local] ?? 0) >= value - window) continue;
    live[local >> 5] = (live[local >> 5] ?? 0) & ~(1 << (local & 31));
  }
}

/** What a large part comes apart into by the prices of its own largest cliques. */
export function reducedParts(
  { conflicts }: Problem,
  group: Group,
  locals: readonly number[],
  weights: Float64Array,
  window: number,
  optima: GroupOptima,
): number[][] {
  const { members, words, rowStart } = group;
  const { budget } = optima;
  const whole = [locals.slice()];
  if (budget.steps <= 0) return whole;
  const weightOf = (local: number): number => weights[members[local] ?? 0] ?? 0;
  const order = locals.toSorted((a, b) => weightOf(b) - weightOf(a) || a - b);
  const graph = subgraph(conflicts.rows, rowStart, words, order, weightOf);
  budget.steps -= locals.length * words * 4;
  const cliques = cliquesOf(graph, budget);
  if (cliques === null) return whole;
  const { upper, value, reduced } = boundByCliques(graph, cliques, budget);
  const live = new Int32Array(words);
  order.forEach((local, vertex) => {
    if (upper + Math.min(0, reduced[vertex] ?? 0) >= value - window) putBit(live, 0, local);
  });
  return optima.partsOf(group, live);
}

/** A bound on what a large group is worth beyond its price: the evaluation's, or what the rivals' prices say if it is lower. */
export function upperOf(
  { members, words, bitStart }: Group,
  slack: number,
  weights: Float64Array,
  choice: Choice,
  wide: CliqueBound | null,
): number {
  let known = slack;
  for (let word = 0; word < words; word++) {
    for (let rest = choice[bitStart + word] ?? 0; rest !== 0; rest &= rest - 1) {
      known += weights[members[word * 32 + 31 - Math.clz32(rest & -rest)] ?? 0] ?? 0;
    }
  }
  return Math.min(known, wide?.upper ?? known);
}
