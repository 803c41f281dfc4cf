import type { CommitmentName } from "@sluice/contract/rpc";
import type { Random } from "@sluice/lib";
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
  /** Nodes that it has been sent to already. */
  readonly asked: readonly UpstreamNode[];
  /** Whether a node that is out serves where none is in: so that somebody answers, never for the sake of speed. */
  readonly mayBeOut: boolean;
}

/** What choosing stands on: the newest slot that any node has shown, and the rules of the pool. */
export interface Place {
  readonly newest: bigint | null;
  readonly rules: StandingRules;
  readonly random: Random;
  /** Monotonic milliseconds. */
  readonly nowMs: number;
}

/** One of the nodes other than `except`, as often as its weight is of theirs together. */
function drawn(nodes: readonly UpstreamNode[], except: UpstreamNode | null, random: Random): UpstreamNode | null {
  let all = 0;
  for (const node of nodes) if (node !== except) all += node.options.weight;
  let left = random.next() * all;
  let last: UpstreamNode | null = null;
  for (const node of nodes) {
    if (node === except) continue;
    left -= node.options.weight;
    if (left < 0) return node;
    last = node;
  }
  return last;
}

/** A node has to be this much quicker than one that was drawn before it: within it the weights alone decide. */
const margin = 0.7;

/** Where the shares of calls that fail lie further apart than this, they alone decide: a quick error is no answer. */
const errorsApart = 0.3;

/**
 * Power of two choices: of two nodes drawn by weight the first, unless the other is expected to answer clearly sooner.
 * Always taking the best would send every caller to the same node between two looks at it.
 */
function chooseOfTwo(nodes: readonly UpstreamNode[], { random, nowMs }: Place): UpstreamNode | null {
  if (nodes.length <= 1) return nodes[0] ?? null;
  const one = drawn(nodes, null, random);
  const other = drawn(nodes, one, random);
  if (one === null || other === null) return one ?? other;
  const moreErrors = one.recentErrors(nowMs) - other.recentErrors(nowMs);
  if (Math.abs(moreErrors) > errorsApart) return moreErrors > 0 ? other : one;
  return other.cost(nowMs) < one.cost(nowMs) * margin ? other : one;
}

/** One of these whose provider allows another call now. */
function withTurn(nodes: readonly UpstreamNode[], place: Place): UpstreamNode | null {
  let left = nodes;
  while (left.length > 0) {
    const node = chooseOfTwo(left, place);
    if (node === null || node.takeTurn()) return node;
    left = left.filter((other) => other !== node);
  }
  return null;
}

/** The nodes that are in and that this call has not been sent to, of its group alone or not, at its slot or not. */
function candidates(
  nodes: readonly UpstreamNode[],
  { group, commitment, minimumSlot, asked }: Wanted,
  isOfGroup: boolean,
  isAtSlot: boolean,
): readonly UpstreamNode[] {
  const found: UpstreamNode[] = [];
  for (const node of nodes) {
    if (!node.isIn || node.order !== "open" || asked.includes(node)) continue;
    if (isOfGroup && !node.serves(group)) continue;
    if (isAtSlot && minimumSlot !== null && (node.feed.slotOf(commitment) ?? 0n) < minimumSlot) continue;
    found.push(node);
  }
  return found;
}

/**
 * The node for a call: in the group first, else any; in rather than out; those that have reached the slot rather than those
 * that have not; then by two choices. If none is in the least bad serves: a gateway that refuses because it is unsure is
 * worse than a slow answer.
 */
export function chooseNode(nodes: readonly UpstreamNode[], wanted: Wanted, place: Place): UpstreamNode | null {
  for (let isOfGroup = true; ; isOfGroup = false) {
    let among = candidates(nodes, wanted, isOfGroup, true);
    if (among.length === 0 && wanted.minimumSlot !== null) among = candidates(nodes, wanted, isOfGroup, false);
    const node = withTurn(among, place);
    if (node !== null) return node;
    if (!isOfGroup) break;
  }
  if (!wanted.mayBeOut) return null;
  const others = nodes.filter((node) => node.order === "open" && !wanted.asked.includes(node));
  return others.toSorted(byPlace(place)).find((node) => node.takeTurn()) ?? null;
}

/** Whether some node that is in has reached the slot that a call must not fall behind. */
export function hasReached(nodes: readonly UpstreamNode[], commitment: CommitmentName, slot: bigint): boolean {
  for (const node of nodes) if (node.isIn && (node.feed.slotOf(commitment) ?? 0n) >= slot) return true;
  return false;
}

/** The nodes that a transaction goes to, best placed first. */
export function chooseSenders(nodes: readonly UpstreamNode[], place: Omit<Place, "random">): readonly UpstreamNode[] {
  const ranked = nodes.filter(({ order }) => order === "open").toSorted(byPlace(place));
  const group = ranked.filter((node) => node.serves("send"));
  const among = group.length > 0 ? group : ranked;
  const inside = among.filter((node) => node.isIn);
  const chosen = inside.length > 0 ? inside : among.slice(0, 1);
  const bounded = group.length > 0 ? chosen : chosen.slice(0, sendersWithoutGroup);
  return bounded.filter((node) => node.takeTurn());
}
