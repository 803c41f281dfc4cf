import type { Clock } from "@sluice/lib";
import { discard } from "./answer.ts";
import { asksElsewhere } from "./answer-class.ts";
import type { UpstreamNode } from "./node.ts";
import type { NodeHealth } from "./node-health.ts";
import { isStale } from "./read-policy.ts";
import type { SlotTracker } from "./slot-tracker.ts";
import type { UpstreamCall, UpstreamOutcome } from "./upstream-call.ts";

const isAnswer = (outcome: UpstreamOutcome): boolean => outcome.ok && !asksElsewhere(outcome.answer.errorCode);

/** Trials of one node are at least this far apart, whatever the traffic. */
const intervalMs = 100;
/** A trial must not hold a node's connection for longer. */
const deadlineMs = 5_000;
/** The trial without traffic to mirror: cheap, and its answer contains the slot. */
const probeCall: UpstreamCall = {
  method: "getLatestBlockhash",
  params: '[{"commitment":"processed"}]',
  kind: "read",
  commitment: "processed",
  minimumSlot: null,
};

export interface MirroredReadsDependencies {
  readonly clock: Pick<Clock, "monotonic">;
  readonly slots: Pick<SlotTracker, "newest">;
  readonly health: Pick<NodeHealth, "mayBeTried" | "slotLagMax" | "evaluate">;
  /** Called before each trial. */
  readonly onTrial: (node: UpstreamNode) => void;
  /** Receives what a trial throws: a defect of this system. */
  readonly onError: (error: unknown) => void;
}

/**
 * Trials of nodes that are out: reads that another node answers are sent to them as well, and their answers are checked
 * and dropped. Without traffic a probe takes the place of a read.
 */
export class MirroredReads {
  readonly #dependencies: MirroredReadsDependencies;
  readonly #triedAt = new Map<UpstreamNode, number>();
  readonly #trials = new Set<UpstreamNode>();
  /**
   * Nodes whose last trial failed by a read that no other node has answered: the read may be the cause, so that probes
   * alone decide from then on. Otherwise whoever sends such reads could keep a node out.
   */
  readonly #probedAlone = new Set<UpstreamNode>();

  constructor(dependencies: MirroredReadsDependencies) {
    this.#dependencies = dependencies;
  }

  /** Sends a read to those of the nodes that are on trial. `answered` is the outcome that its caller receives. */
  mirror(nodes: readonly UpstreamNode[], call: UpstreamCall, answered: Promise<UpstreamOutcome>): void {
    for (const node of nodes) {
      if (!node.isOnTrial || this.#probedAlone.has(node) || !this.#dependencies.health.mayBeTried(node)) continue;
      void this.#try(node, call, answered);
    }
  }

  /** Probes the nodes on trial to which no read was mirrored lately. */
  probe(nodes: readonly UpstreamNode[]): void {
    for (const node of nodes) {
      if (!node.isOnTrial) this.#probedAlone.delete(node);
      else if (this.#dependencies.health.mayBeTried(node)) void this.#try(node, probeCall, null);
    }
  }

  async #try(node: UpstreamNode, call: UpstreamCall, answered: Promise<UpstreamOutcome> | null): Promise<void> {
    const { clock, health, onTrial, onError } = this.#dependencies;
    const nowMs = clock.monotonic();
    const triedAt = this.#triedAt.get(node) ?? Number.NEGATIVE_INFINITY;
    if (this.#trials.has(node) || nowMs - triedAt < intervalMs || !node.takeTurn()) return;
    this.#trials.add(node);
    this.#triedAt.set(node, nowMs);
    try {
      onTrial(node);
      const outcome = await node.call({ ...call, minimumSlot: null }, deadlineMs);
      if (outcome.ok) discard(outcome.answer);
      if (this.#isGood(outcome, call)) node.trialsPassed += 1;
      else if (answered === null) this.#failed(node, call, outcome);
      else {
        this.#probedAlone.add(node);
        void answered.then((other) => {
          if (!isAnswer(other)) return;
          this.#probedAlone.delete(node);
          this.#failed(node, call, outcome);
        }, onError);
      }
      health.evaluate();
    } catch (error) {
      onError(error);
    } finally {
      this.#trials.delete(node);
    }
  }

  #failed(node: UpstreamNode, { method }: UpstreamCall, { fault }: UpstreamOutcome): void {
    node.trialsPassed = 0;
    if (fault !== undefined) node.count(fault, method);
  }

  /** An answer at a slot near the newest, or an error that says nothing about the node. */
  #isGood(outcome: UpstreamOutcome, call: UpstreamCall): boolean {
    if (!outcome.ok || outcome.fault !== undefined) return false;
    const newest = this.#dependencies.slots.newest(call.commitment);
    return (
      newest === null || !isStale(outcome, { ...call, minimumSlot: newest - this.#dependencies.health.slotLagMax })
    );
  }

  forget(node: UpstreamNode): void {
    this.#triedAt.delete(node);
    this.#probedAlone.delete(node);
  }
}
