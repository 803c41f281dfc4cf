import type { Clock } from "@sluice/lib";
import { discard } from "./answer.ts";
import type { UpstreamNode } from "./node.ts";
import { isStale } from "./reads.ts";
import type { UpstreamCall, UpstreamOutcome } from "./upstream-call.ts";

/** Trials of one node come at least so far apart, whatever the traffic. */
const apartMs = 100;
/** A trial must not hold a node's connection for longer. */
const deadlineMs = 5_000;
/** A trial without traffic to mirror: cheap, and its answer tells the slot. */
const ownTrial: UpstreamCall = {
  method: "getLatestBlockhash",
  params: '[{"commitment":"processed"}]',
  kind: "read",
  commitment: "processed",
  minimumSlot: null,
};

export interface ShadowsDependencies {
  readonly clock: Clock;
  readonly attempt: (node: UpstreamNode, call: UpstreamCall, deadlineMs: number) => Promise<UpstreamOutcome>;
  readonly slotOf: (commitment: UpstreamCall["commitment"]) => bigint | null;
  /** Whether nothing but trials keeps a node out. */
  readonly mayBeTried: (node: UpstreamNode) => boolean;
  readonly passed: () => void;
  readonly fault: (fault: unknown) => void;
}

/**
 * Trials of nodes that are out: reads that somebody else's answer is used for are sent there as well, and what comes back
 * is judged and dropped. Without traffic a trial of our own takes their place.
 */
export class Shadows {
  readonly #rules: { readonly slotLagMax: bigint };
  readonly #deps: ShadowsDependencies;
  readonly #triedAt = new Map<UpstreamNode, number>();
  readonly #underWay = new Set<UpstreamNode>();

  /** The rules may change while it runs. */
  constructor(rules: { readonly slotLagMax: bigint }, dependencies: ShadowsDependencies) {
    this.#rules = rules;
    this.#deps = dependencies;
  }

  /** Mirrors a read to those of the nodes that are on trial. */
  mirror(nodes: readonly UpstreamNode[], call: UpstreamCall): void {
    for (const node of nodes) {
      if (node.isOnTrial && this.#deps.mayBeTried(node)) void this.#try(node, call);
    }
  }

  /** Where there was no traffic to mirror lately. */
  probe(nodes: readonly UpstreamNode[]): void {
    this.mirror(nodes, ownTrial);
  }

  async #try(node: UpstreamNode, call: UpstreamCall): Promise<void> {
    const nowMs = this.#deps.clock.monotonic();
    if (this.#underWay.has(node) || nowMs - (this.#triedAt.get(node) ?? Number.NEGATIVE_INFINITY) < apartMs) return;
    if (!node.takeTurn()) return;
    this.#underWay.add(node);
    this.#triedAt.set(node, nowMs);
    try {
      const outcome = await this.#deps.attempt(node, { ...call, minimumSlot: null }, deadlineMs);
      node.trialsPassed = this.#isGood(outcome, call) ? node.trialsPassed + 1 : 0;
      if (outcome.ok) discard(outcome.answer);
      this.#deps.passed();
    } catch (fault) {
      this.#deps.fault(fault);
    } finally {
      this.#underWay.delete(node);
    }
  }

  /** An answer, of a slot that is near the newest. An error that the call itself may deserve says nothing against the node. */
  #isGood(outcome: UpstreamOutcome, call: UpstreamCall): boolean {
    if (!outcome.ok || outcome.answer.errorCode === -32005 || outcome.answer.errorCode === -32603) return false;
    const newest = this.#deps.slotOf(call.commitment);
    return newest === null || !isStale(outcome, { ...call, minimumSlot: newest - this.#rules.slotLagMax });
  }

  forget(node: UpstreamNode): void {
    this.#triedAt.delete(node);
  }
}
