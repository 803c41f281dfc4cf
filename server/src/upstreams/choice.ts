import type { CommitmentName } from "@sluice/contract";
import type { Random } from "../lib/index.ts";
import type { UpstreamNode } from "./node.ts";
import { byPlace, type StandingRules } from "./standing.ts";
import type { UpstreamGroup } from "./upstream-call.ts";

/** Where no node is of the send group: so many of the best placed. Source: decisions, Upstream choice. */
const sendersWithoutGroup = 2;

/** What a call asks of the node that it goes to. */
export interface Wanted {
  readonly group: UpstreamGroup;
  readonly commitment: CommitmentName;
  readonly minimumSlot: bigint | null;
  readonly asked: ReadonlySet<UpstreamNode>;
}

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

/** Where the shares of calls that fail lie further apart than this, they alone decide: a quick error is no answer. */
const errorsApart = 0.3;

/**
 * Power of two choices: of two nodes drawn by weight the first, unless the other is expected to answer clearly sooner.
 * Always taking the best would send every caller to the same node between two looks at it.
 */
function chooseOfTwo(nodes: readonly UpstreamNode[], random: Random): UpstreamNode | null {
  if (nodes.length <= 1) return nodes[0] ?? null;
  const one = drawn(nodes, random);
  const other = drawn(
    nodes.filter((node) => node !== one),
    random,
  );
  if (one === null || other === null) return one ?? other;
  const moreErrors = one.recentErrors - other.recentErrors;
  if (Math.abs(moreErrors) > errorsApart) return moreErrors > 0 ? other : one;
  return other.cost < one.cost * margin ? other : one;
}

/** One of these whose provider allows another call now. */
function withTurn(nodes: readonly UpstreamNode[], random: Random): UpstreamNode | null {
  let left = nodes;
  while (left.length > 0) {
    const node = chooseOfTwo(left, random);
    if (node === null || node.takeTurn()) return node;
    left = left.filter((other) => other !== node);
  }
  return null;
}

/**
 * The node for a call: in the group first, else any; in rather than out; those that have reached the slot rather than those
 * that have not; then by two choices. If none is in the least bad serves: a gateway that refuses because it is unsure is
 * worse than a slow answer.
 */
export function chooseNode(
  nodes: readonly UpstreamNode[],
  wanted: Wanted,
  place: { readonly newest: bigint | null; readonly rules: StandingRules; readonly random: Random },
): UpstreamNode | null {
  const { group, commitment, minimumSlot, asked } = wanted;
  const others = nodes.filter((node) => !asked.has(node) && node.order === "open");
  const ofGroup = others.filter((node) => node.serves(group));
  for (const among of [ofGroup, others]) {
    const inside = among.filter((node) => node.isIn);
    const reached =
      minimumSlot === null ? inside : inside.filter((node) => (node.feed.slotOf(commitment) ?? 0n) >= minimumSlot);
    const node = withTurn(reached.length > 0 ? reached : inside, place.random);
    if (node !== null) return node;
  }
  return others.toSorted(byPlace(place.newest, place.rules)).find((node) => node.takeTurn()) ?? null;
}

/** The nodes that a transaction goes to, best placed first. */
export function chooseSenders(
  nodes: readonly UpstreamNode[],
  place: { readonly newest: bigint | null; readonly rules: StandingRules },
): readonly UpstreamNode[] {
  const ranked = nodes.filter(({ order }) => order === "open").toSorted(byPlace(place.newest, place.rules));
  const group = ranked.filter((node) => node.serves("send"));
  const among = group.length > 0 ? group : ranked;
  const inside = among.filter((node) => node.isIn);
  const chosen = inside.length > 0 ? inside : among.slice(0, 1);
  const bounded = group.length > 0 ? chosen : chosen.slice(0, sendersWithoutGroup);
  return bounded.filter((node) => node.takeTurn());
}
