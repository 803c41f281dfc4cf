import type { CommitmentName } from "@sluice/contract/rpc";
import type { Clock, MonotonicMs, Random } from "@sluice/lib";
import type { UpstreamGroup } from "../config/index.ts";
import type { UpstreamNode } from "./node.ts";
import { lagOf, mayBeAsked, type NodeHealth } from "./node-health.ts";
import type { SlotTracker } from "./slot-tracker.ts";
import type { UpstreamCall } from "./upstream-call.ts";

/**
 * Where no node is in the send group, a transaction goes to this many of the best. Source: decisions.md, Upstream
 * choice.
 */
const sendersWithoutGroup = 2;
/** A node must be this much quicker than the one drawn before it; within this margin the weights alone decide. */
const costMargin = 0.7;
/** Where the shares of failed calls differ by more than this, they alone decide: a quick error is no answer. */
const errorRateMargin = 0.3;

/** What a call requires of the node that it is sent to. */
export interface SelectionCriteria {
  /** Null where the call's method does not matter. */
  readonly method: string | null;
  readonly group: UpstreamGroup;
  readonly commitment: CommitmentName;
  readonly minimumSlot: bigint | null;
  /** Nodes that the call was sent to already. */
  readonly asked: readonly UpstreamNode[];
  /** Whether a node that is out serves where none is in: to get an answer at all, never to get it sooner. */
  readonly mayBeOut: boolean;
}

export interface NodeSelectorDependencies {
  readonly nodeSet: { readonly nodes: readonly UpstreamNode[] };
  readonly slots: Pick<SlotTracker, "newest">;
  readonly health: Pick<NodeHealth, "speaks" | "isPlausible">;
  readonly clock: Pick<Clock, "monotonic">;
  readonly random: Random;
}

/** Chooses the nodes of a network for its calls. Takes a turn of the rate of each node that it chooses. */
export class NodeSelector {
  readonly #dependencies: NodeSelectorDependencies;

  constructor(dependencies: NodeSelectorDependencies) {
    this.#dependencies = dependencies;
  }

  /**
   * The node for a call: of the group first, else any; in rather than out; nodes that have reached the slot rather than
   * others; among these by two choices. If none is in, the least bad one serves where the criteria allow it: a gateway
   * that refuses because it is unsure is worse than a slow answer. One that asked for a rest is left alone. Null where
   * there is none.
   */
  choose(criteria: SelectionCriteria): UpstreamNode | null {
    const { nodes } = this.#dependencies.nodeSet;
    const nowMs = this.#dependencies.clock.monotonic();
    for (let isOfGroup = true; ; isOfGroup = false) {
      let among = candidates(nodes, criteria, { isOfGroup, isAtSlot: true, nowMs });
      if (among.length === 0 && criteria.minimumSlot !== null) {
        among = candidates(nodes, criteria, { isOfGroup, isAtSlot: false, nowMs });
      }
      const node = this.#withTurn(among, nowMs);
      if (node !== null) return node;
      if (!isOfGroup) break;
    }
    if (!criteria.mayBeOut) return null;
    const others = nodes.filter((node) => mayBeAsked(node) && !criteria.asked.includes(node));
    return others.toSorted(this.#byRank(nowMs, criteria.method)).find((node) => node.takeTurn()) ?? null;
  }

  /** The node for a call that was sent to `asked` already. */
  chooseFor(call: UpstreamCall, asked: readonly UpstreamNode[], mayBeOut: boolean): UpstreamNode | null {
    const { method, kind, commitment, minimumSlot } = call;
    const group = kind === "archive" ? "archive" : "read";
    return this.choose({ method, group, commitment, minimumSlot, asked, mayBeOut });
  }

  /**
   * The nodes that a transaction is sent to, the best first: those of the send group, else the best two. Of a
   * transaction that was sent to `asked` in vain, the best two of the others.
   */
  chooseSenders(asked: readonly UpstreamNode[]): readonly UpstreamNode[] {
    const { nodes } = this.#dependencies.nodeSet;
    const open = nodes.filter((node) => mayBeAsked(node) && !asked.includes(node));
    const ranked = open.toSorted(this.#byRank(this.#dependencies.clock.monotonic(), "sendTransaction"));
    if (asked.length > 0) return ranked.slice(0, sendersWithoutGroup).filter((node) => node.takeTurn());
    const group = ranked.filter((node) => node.serves("send"));
    const among = group.length > 0 ? group : ranked;
    const inside = among.filter((node) => node.isIn);
    const chosen = inside.length > 0 ? inside : among.slice(0, 1);
    const bounded = group.length > 0 ? chosen : chosen.slice(0, sendersWithoutGroup);
    return bounded.filter((node) => node.takeTurn());
  }

  /** Whether some node that is in has reached the slot. */
  hasReached(commitment: CommitmentName, slot: bigint): boolean {
    for (const node of this.#dependencies.nodeSet.nodes) {
      if (node.isIn && (node.feed.slotOf(commitment) ?? 0n) >= slot) return true;
    }
    return false;
  }

  #outRank(node: UpstreamNode): number {
    const { health } = this.#dependencies;
    if (node.isIn) return 0;
    return !health.speaks(node) ? 3 : health.isPlausible(node) ? 1 : 2;
  }

  /** One of the nodes whose provider allows another call now. */
  #withTurn(nodes: readonly UpstreamNode[], nowMs: MonotonicMs): UpstreamNode | null {
    let left = nodes;
    while (left.length > 0) {
      const node = this.#chooseOfTwo(left, nowMs);
      if (node === null || node.takeTurn()) return node;
      left = left.filter((other) => other !== node);
    }
    return null;
  }

  /**
   * Power of two choices: of two nodes drawn by weight the first, unless the other is expected to answer clearly
   * sooner. Always taking the best one would send every caller to the same node until the next measurement.
   */
  #chooseOfTwo(nodes: readonly UpstreamNode[], nowMs: MonotonicMs): UpstreamNode | null {
    if (nodes.length <= 1) return nodes[0] ?? null;
    const { random } = this.#dependencies;
    const one = drawByWeight(nodes, null, random);
    const other = drawByWeight(nodes, one, random);
    if (one === null || other === null) return one ?? other;
    const moreErrors = one.recentErrors(nowMs) - other.recentErrors(nowMs);
    if (Math.abs(moreErrors) > errorRateMargin) return moreErrors > 0 ? other : one;
    return other.cost(nowMs) < one.cost(nowMs) * costMargin ? other : one;
  }

  /**
   * In before out, of those that are out the ones that speak and claim nothing implausible first; those that refuse the
   * method last; then the smaller lag, then the smaller cost. For sends, and for when no node is in.
   */
  #byRank(nowMs: MonotonicMs, method: string | null) {
    const { slots } = this.#dependencies;
    const newest = slots.newest("processed");
    const unknownLag = 2n ** 64n;
    const keyOf = (node: UpstreamNode) => ({
      outRank: method !== null && node.rests.refuses(method, nowMs) ? 4 : this.#outRank(node),
      lag: lagOf(node, newest) ?? unknownLag,
      cost: node.cost(nowMs),
    });
    return (one: UpstreamNode, other: UpstreamNode): number => {
      const [left, right] = [keyOf(one), keyOf(other)];
      if (left.outRank !== right.outRank) return left.outRank - right.outRank;
      if (left.lag !== right.lag) return left.lag < right.lag ? -1 : 1;
      return left.cost - right.cost;
    };
  }
}

/** One of the nodes other than `except`, with a probability in proportion to its weight. */
function drawByWeight(
  nodes: readonly UpstreamNode[],
  except: UpstreamNode | null,
  random: Random,
): UpstreamNode | null {
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

/**
 * The nodes that are in, that do not refuse the method and that the call was not sent to: of its group alone or of any;
 * those that have reached its slot or, where no node has, those that are furthest.
 */
function candidates(
  nodes: readonly UpstreamNode[],
  { method, group, commitment, minimumSlot, asked }: SelectionCriteria,
  { isOfGroup, isAtSlot, nowMs }: { readonly isOfGroup: boolean; readonly isAtSlot: boolean; readonly nowMs: number },
): readonly UpstreamNode[] {
  const found: UpstreamNode[] = [];
  for (const node of nodes) {
    if (!node.isIn || node.order !== "open" || asked.includes(node)) continue;
    if (isOfGroup && !node.serves(group)) continue;
    if (method !== null && node.rests.refuses(method, nowMs)) continue;
    if (isAtSlot && minimumSlot !== null && (node.feed.slotOf(commitment) ?? 0n) < minimumSlot) continue;
    found.push(node);
  }
  return isAtSlot ? found : furthest(found, commitment);
}

/** Where no node reaches what a caller has seen, the furthest ones go back no further than needed. */
function furthest(nodes: readonly UpstreamNode[], commitment: CommitmentName): readonly UpstreamNode[] {
  let newest = 0n;
  for (const { feed } of nodes) {
    const slot = feed.slotOf(commitment) ?? 0n;
    if (slot > newest) newest = slot;
  }
  return nodes.filter(({ feed }) => (feed.slotOf(commitment) ?? 0n) === newest);
}
