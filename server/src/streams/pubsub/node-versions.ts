import type { Network } from "@sluice/contract/tiers";
import type { Clock } from "@sluice/lib";
import { jsonRpcFailureBody } from "../../http/index.ts";
import type { NodeAnswer, UpstreamOutcome } from "../../upstreams/index.ts";
import type { PubSubPool } from "./node-subscriptions.ts";

/** Nodes are updated rarely, and clients ask when they connect. */
const keptMs = 10_000;

interface Kept {
  readonly outcome: Promise<UpstreamOutcome>;
  readonly untilMs: number;
}

interface NodeVersionsDependencies {
  readonly clock: Pick<Clock, "monotonic">;
  readonly pool: (network: Network) => PubSubPool | null;
}

/** Answers getVersion, the one method beside subscriptions that a node answers over its socket. */
export class NodeVersions {
  readonly #dependencies: NodeVersionsDependencies;
  readonly #kept = new Map<Network, Kept>();

  constructor(dependencies: NodeVersionsDependencies) {
    this.#dependencies = dependencies;
  }

  /** The whole answer to the call `id` (JSON text). */
  async answer(network: Network, id: string, requestId: string): Promise<string> {
    const outcome = await this.#ask(network);
    if (outcome === null) return jsonRpcFailureBody("NETWORK_UNAVAILABLE", { requestId, idJson: id });
    if (!outcome.ok) return jsonRpcFailureBody(outcome.refused, { requestId, idJson: id });
    return withId(outcome.answer, id) ?? jsonRpcFailureBody("UPSTREAM_INVALID", { requestId, idJson: id });
  }

  #ask(network: Network): Promise<UpstreamOutcome> | null {
    const { clock, pool } = this.#dependencies;
    const nowMs = clock.monotonic();
    const kept = this.#kept.get(network);
    if (kept !== undefined && kept.untilMs > nowMs) return kept.outcome;
    const nodes = pool(network);
    if (nodes === null) return null;
    const call = {
      method: "getVersion",
      params: null,
      kind: "read",
      commitment: "processed",
      minimumSlot: null,
    } as const;
    const outcome = nodes.call(call);
    this.#kept.set(network, { outcome, untilMs: nowMs + keptMs });
    // What failed is asked again by the next.
    const forget = (): void => void this.#kept.delete(network);
    outcome.then(({ ok }) => ok || forget(), forget);
    return outcome;
  }
}

/** Null for an answer that has no end yet. */
function withId({ body }: NodeAnswer, id: string): string | null {
  if (body.kind === "text") return body.head + id + body.tail;
  if (body.kind === "bytes") return Buffer.concat([body.head, Buffer.from(id), body.tail]).toString("utf8");
  body.large.cancel();
  return null;
}
