import type { UpstreamNode } from "./node.ts";
import type { SlotTracker } from "./slot-tracker.ts";

export interface HealthRules {
  /** A node further behind than this gets no calls (decisions.md, Upstream choice). */
  readonly slotLagMax: bigint;
  /** Nor does a node that has reported no slot for this long. */
  readonly silenceMsMax: number;
  /** Good answers in a row to mirrored calls after which a node that was out is in again. */
  readonly trials: number;
}

export type OutReason = "silent" | "lagging" | "failing" | "cordoned" | "drained" | "on-trial";

/** The state of one node among the others of its network. */
export interface UpstreamHealth {
  readonly label: string;
  readonly slot: bigint | null;
  /** Slots behind the newest slot that any node of the network has shown; null before it showed one itself. */
  readonly slotLag: bigint | null;
  /** Moving average over the last calls, milliseconds; null before the first. */
  readonly latencyMs: number | null;
  /** Moving average, 0 to 1. */
  readonly errorRate: number;
  readonly inFlight: number;
  /** Whether it reports slots now. The last slot of a silent node says nothing about its lag. */
  readonly speaks: boolean;
  /** Whether it reports slots and is near the newest one, whatever its answers are like. */
  readonly healthy: boolean;
  /** Why it gets no calls; null while it does. */
  readonly out: OutReason | null;
}

export interface NodeHealthDependencies {
  readonly nodeSet: { readonly nodes: readonly UpstreamNode[] };
  readonly slots: Pick<SlotTracker, "newest">;
}

/** Decides which nodes of a network get calls: `isIn` of each node is its last decision. */
export class NodeHealth {
  #rules: HealthRules;
  readonly #nodeSet: NodeHealthDependencies["nodeSet"];
  readonly #slots: NodeHealthDependencies["slots"];

  constructor(rules: HealthRules, dependencies: NodeHealthDependencies) {
    this.#rules = rules;
    this.#nodeSet = dependencies.nodeSet;
    this.#slots = dependencies.slots;
  }

  get slotLagMax(): bigint {
    return this.#rules.slotLagMax;
  }

  setSlotLagMax(slotLagMax: bigint): void {
    this.#rules = { ...this.#rules, slotLagMax };
    this.evaluate();
  }

  /** Evaluates every node of the set. */
  evaluate(): void {
    const newest = this.#slots.newest("processed");
    for (const node of this.#nodeSet.nodes) this.#evaluate(node, newest);
  }

  /**
   * A fault takes a node out at once. It is in again after as many good trials in a row as the rules demand, since a
   * node that has just caught up or restarted may not answer yet.
   */
  #evaluate(node: UpstreamNode, newest: bigint | null): void {
    const isFit = this.#faultOf(node, newest) === null;
    if (!isFit) {
      node.trialsPassed = 0;
      // A node that was never in has no trials to pass: it is in as soon as it reports slots.
      if (node.isIn || node.breaker.state !== "closed") node.isOnTrial = true;
      node.isIn = false;
    } else if (node.isOnTrial || node.breaker.state !== "closed") {
      node.isOnTrial = node.trialsPassed < this.#rules.trials;
      if (!node.isOnTrial) node.breaker.trusted();
      node.isIn = !node.isOnTrial;
    } else node.isIn = true;
  }

  /**
   * What keeps a node out regardless of its trials. A node that was out for its lag must come well within the bound.
   */
  #faultOf(node: UpstreamNode, newest: bigint | null): OutReason | null {
    if (node.order !== "open") return node.order;
    const lag = lagOf(node, newest);
    if (lag === null || !this.speaks(node)) return "silent";
    const { slotLagMax } = this.#rules;
    if (lag > (node.isOnTrial ? slotLagMax / 2n : slotLagMax)) return "lagging";
    return node.breaker.state === "open" ? "failing" : null;
  }

  /** Whether the node reports slots. */
  speaks(node: UpstreamNode): boolean {
    return !node.isUnreachable && node.feed.silentForMs() <= this.#rules.silenceMsMax;
  }

  /** Whether a trial can bring the node back: no fault keeps it out. A trial of any other node would be wasted. */
  mayBeTried(node: UpstreamNode): boolean {
    return node.isOnTrial && this.#faultOf(node, this.#slots.newest("processed")) === null;
  }

  /** The health of every node of the set, in its order. */
  report(): UpstreamHealth[] {
    const newest = this.#slots.newest("processed");
    return this.#nodeSet.nodes.map((node) => {
      const slotLag = lagOf(node, newest);
      const speaks = this.speaks(node);
      return {
        label: node.label,
        slot: node.feed.slotOf("processed"),
        slotLag,
        latencyMs: node.latencyMs,
        errorRate: node.errorRate,
        inFlight: node.inFlight,
        speaks,
        healthy: speaks && slotLag !== null && slotLag <= this.#rules.slotLagMax,
        out: this.#faultOf(node, newest) ?? (node.isIn ? null : "on-trial"),
      };
    });
  }
}

/** Slots that the node is behind the newest one; null where either is unknown. */
export function lagOf(node: UpstreamNode, newest: bigint | null): bigint | null {
  const slot = node.feed.slotOf("processed");
  return slot === null || newest === null ? null : newest - slot;
}
