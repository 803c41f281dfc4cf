import type { Random } from "../lib/index.ts";
import type { UpstreamNode } from "./node.ts";

/** One of the nodes, as often as its weight is of theirs together. */
function drawn(nodes: readonly UpstreamNode[], random: Random): UpstreamNode | null {
  let all = 0;
  for (const node of nodes) all += node.options.weight;
  let left = random.next() * all;
  for (const node of nodes) {
    left -= node.options.weight;
    if (left < 0) return node;
  }
  return nodes.at(-1) ?? null;
}

/** A node has to be this much quicker than one that was drawn before it: within it the weights alone decide. */
const margin = 0.7;

/**
 * Power of two choices: of two nodes drawn by weight the first, unless the other is expected to answer clearly sooner.
 * Always taking the best would send every caller to the same node between two looks at it.
 */
export function chooseOfTwo(nodes: readonly UpstreamNode[], random: Random): UpstreamNode | null {
  if (nodes.length <= 1) return nodes[0] ?? null;
  const one = drawn(nodes, random);
  const other = drawn(
    nodes.filter((node) => node !== one),
    random,
  );
  if (one === null || other === null) return one ?? other;
  return other.cost < one.cost * margin ? other : one;
}
