import { commitments } from "@sluice/contract/rpc";
import type { Clock } from "@sluice/lib";
import type { OutReason } from "./events.ts";
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

/** A node whose slot has not changed for this long does not move on with its chain: a slot takes 0.4 s. */
const stillMsMax = 5_000;

/** The state of one node among the others of its network. */
export interface UpstreamHealth {
  readonly label: string;
  readonly slot: bigint | null;
  /**
   * Slots behind the newest believed slot, below 0 for a node that claims a later one; null before it has shown one.
   */
  readonly slotLag: bigint | null;
  /** Moving average over the last calls, milliseconds; null before the first. */
  readonly latencyMs: number | null;
  /** Moving average, 0 to 1. */
  readonly errorRate: number;
  readonly inFlight: number;
  /** Whether it reports slots now. The last slot of a silent node says nothing about its lag. */
  readonly speaks: boolean;
  /** Whether calls may be sent to it when no other node serves; see `mayBeAsked`. */
  readonly mayServe: boolean;
  /** Whether it may serve, reports slots and is near the newest one, whatever its answers are like. */
  readonly healthy: boolean;
  /** Why it gets no calls; null while it does. */
  readonly out: OutReason | null;
  /** Milliseconds until it is asked again, where it rests as a whole; null otherwise. */
  readonly restMs: number | null;
  /** The methods that it refuses, each with the milliseconds until it is asked for them again. */
  readonly refuses: readonly { readonly method: string; readonly restMs: number }[];
}

export interface NodeHealthDependencies {
  readonly nodeSet: { readonly nodes: readonly UpstreamNode[] };
  readonly slots: Pick<SlotTracker, "newest" | "standard" | "isPlausible">;
  readonly clock: Pick<Clock, "monotonic">;
}

/** Decides which nodes of a network get calls: `isIn` of each node is its last decision. */
export class NodeHealth {
  #rules: HealthRules;
  readonly #nodeSet: NodeHealthDependencies["nodeSet"];
  readonly #slots: NodeHealthDependencies["slots"];
  readonly #clock: NodeHealthDependencies["clock"];

  constructor(rules: HealthRules, dependencies: NodeHealthDependencies) {
    this.#rules = rules;
    this.#nodeSet = dependencies.nodeSet;
    this.#slots = dependencies.slots;
    this.#clock = dependencies.clock;
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
    for (const node of this.#nodeSet.nodes) this.#evaluate(node);
  }

  /**
   * A fault takes a node out at once. It is in again after as many good trials in a row as the rules demand, since a
   * node that has just caught up or restarted may not answer yet.
   */
  #evaluate(node: UpstreamNode): void {
    const isFit = this.#faultOf(node) === null;
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
    // It has asked not to be called, and is as well as before: it needs no trials.
    if (isFit && node.rests.whole !== null) node.isIn = false;
  }

  /** Whether a node gets calls, or would if it had not asked for a rest. Its notices may be relied upon. */
  mayNotify(node: UpstreamNode): boolean {
    return node.isIn || (!node.isOnTrial && this.#faultOf(node) === null);
  }

  /**
   * What keeps a node out regardless of its trials. A node that was out for its lag must come well within the bound.
   */
  #faultOf(node: UpstreamNode): OutReason | null {
    if (node.order !== "open") return node.order;
    if (node.chain === "other-chain") return node.chain;
    const isMoving = node.feed.stillForMs("processed") <= stillMsMax;
    const lag = lagOf(node, this.#slots.standard(isMoving));
    if (!this.speaks(node)) return "silent";
    if (node.chain === "unverified") return node.chain;
    if (lag === null) return "silent";
    if (!this.isPlausible(node)) return "implausible";
    const { slotLagMax } = this.#rules;
    if (lag > (node.isOnTrial ? slotLagMax / 2n : slotLagMax)) return "lagging";
    return node.breaker.state === "open" ? "failing" : null;
  }

  /** Whether what the node claims of each commitment may be so, as far as the others show. */
  isPlausible(node: UpstreamNode): boolean {
    return commitments.every((commitment) => {
      const slot = node.feed.slotOf(commitment);
      return slot === null || this.#slots.isPlausible(commitment, slot);
    });
  }

  /** Whether the node reports slots. */
  speaks(node: UpstreamNode): boolean {
    return !node.isUnreachable && node.feed.silentForMs() <= this.#rules.silenceMsMax;
  }

  /** Whether a trial can bring the node back: no fault keeps it out. A trial of any other node would be wasted. */
  mayBeTried(node: UpstreamNode): boolean {
    return node.isOnTrial && this.#faultOf(node) === null && node.rests.whole === null;
  }

  /** The health of every node of the set, in its order. */
  report(): UpstreamHealth[] {
    const newest = this.#slots.newest("processed");
    const nowMs = this.#clock.monotonic();
    return this.#nodeSet.nodes.map((node) => {
      const slotLag = lagOf(node, newest);
      const speaks = this.speaks(node);
      const rest = node.rests.whole;
      const mayServe = mayBeAsked(node);
      const isNear = slotLag !== null && slotLag <= this.#rules.slotLagMax && this.isPlausible(node);
      return {
        label: node.label,
        slot: node.feed.slotOf("processed"),
        slotLag,
        latencyMs: node.latencyMs,
        errorRate: node.errorRate,
        inFlight: node.inFlight,
        speaks,
        mayServe,
        healthy: mayServe && speaks && isNear,
        out: this.#faultOf(node) ?? rest?.reason ?? (node.isIn ? null : "on-trial"),
        restMs: rest === null ? null : rest.untilMs - nowMs,
        refuses: node.rests.methods.map(({ method, untilMs }) => ({ method, restMs: untilMs - nowMs })),
      };
    });
  }
}

/** Slots that the node is behind the newest one; null where either is unknown. */
export function lagOf(node: UpstreamNode, newest: bigint | null): bigint | null {
  const slot = node.feed.slotOf("processed");
  return slot === null || newest === null ? null : newest - slot;
}

/** Whether a node may be asked at all: it is of the chain, and neither an operator nor the node itself forbids it. */
export const mayBeAsked = (node: UpstreamNode): boolean =>
  node.chain === "joined" && node.order === "open" && node.rests.whole === null;
