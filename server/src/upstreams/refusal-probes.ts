import type { Clock } from "@sluice/lib";
import { discard } from "./answer.ts";
import type { UpstreamNode } from "./node.ts";
import type { UpstreamCall, UpstreamOutcome } from "./upstream-call.ts";

/** Probes of one node are at least this far apart, however many calls it refuses. */
const intervalMs = 1_000;
const deadlineMs = 5_000;

/** A call that no caller has shaped, and that any credential may make. */
const probeCall: UpstreamCall = {
  method: "getSlot",
  params: '[{"commitment":"processed"}]',
  kind: "read",
  commitment: "processed",
  minimumSlot: null,
};

export interface RefusalProbesDependencies {
  readonly clock: Pick<Clock, "monotonic">;
  /** Called before each probe. */
  readonly onProbe: (node: UpstreamNode) => void;
  /** Called when a node has begun or ended to refuse everything. */
  readonly onChange: () => void;
  /** Receives what a probe throws: a defect of this system. */
  readonly onError: (error: unknown) => void;
}

/** Whether the node or a server in front of it refused the call, for the credential or for its form. */
function isRefusal(outcome: UpstreamOutcome): boolean {
  if (outcome.ok) return false;
  return outcome.fault === "denied" || outcome.refused === "BODY_TOO_LARGE" || outcome.refused === "INVALID_PARAMS";
}

/**
 * Finds out whether a node that refused a call refuses every call: it is sent a getSlot of ours. If that is refused
 * too, the node rests as a whole, and is asked again with growing pauses until it accepts.
 */
export class RefusalProbes {
  readonly #dependencies: RefusalProbesDependencies;
  readonly #probedAt = new WeakMap<UpstreamNode, number>();

  constructor(dependencies: RefusalProbesDependencies) {
    this.#dependencies = dependencies;
  }

  /** A call to the node has ended. */
  ended(node: UpstreamNode, outcome: UpstreamOutcome): void {
    if (!isRefusal(outcome) || node.rests.whole !== null) return;
    const nowMs = this.#dependencies.clock.monotonic();
    if (nowMs - (this.#probedAt.get(node) ?? Number.NEGATIVE_INFINITY) >= intervalMs) void this.#probe(node, nowMs);
  }

  /** Asks nodes again whose rest is over. */
  sweep(nodes: readonly UpstreamNode[]): void {
    const nowMs = this.#dependencies.clock.monotonic();
    for (const node of nodes) {
      if (node.order !== "open" || !node.rests.isDenialOver) continue;
      if (nowMs - (this.#probedAt.get(node) ?? Number.NEGATIVE_INFINITY) >= intervalMs) void this.#probe(node, nowMs);
    }
  }

  async #probe(node: UpstreamNode, nowMs: number): Promise<void> {
    if (!node.takeTurn()) return;
    const { onProbe, onChange, onError } = this.#dependencies;
    this.#probedAt.set(node, nowMs);
    try {
      onProbe(node);
      const outcome = await node.call(probeCall, deadlineMs);
      if (isRefusal(outcome)) node.deny();
      else if (outcome.ok) node.rests.accepted();
      if (outcome.ok) discard(outcome.answer);
      onChange();
    } catch (error) {
      onError(error);
    }
  }
}
