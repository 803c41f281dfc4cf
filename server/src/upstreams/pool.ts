import type { CommitmentName, Network } from "@sluice/contract";
import type { Clock, Random } from "../lib/index.ts";
import {
  type NodeLimits,
  type UpstreamCall,
  type UpstreamEvents,
  UpstreamNode,
  type UpstreamOptions,
  type UpstreamOutcome,
  type UpstreamTracing,
} from "./node.ts";

/** How one node stands among the others of its network. */
export interface UpstreamHealth {
  readonly label: string;
  readonly slot: bigint | null;
  /** Slots behind the newest slot that any node of the network has shown; null before it showed one itself. */
  readonly slotLag: bigint | null;
  /** Moving average over the last calls, milliseconds; null before the first. */
  readonly latencyMs: number | null;
  /** Moving average, 0..1. */
  readonly errorRate: number;
  readonly inFlight: number;
  /** Whether it is heard of now: what a silent node's last slot says of its lag is worth nothing. */
  readonly speaks: boolean;
  readonly healthy: boolean;
}

export interface PoolOptions {
  readonly network: Network;
  readonly nodes: readonly UpstreamOptions[];
  readonly limits: NodeLimits;
  /** A node further behind than this is not healthy (decisions: Upstream choice). */
  readonly slotLagMax: bigint;
  /** A node that said nothing about slots for this long is not healthy. */
  readonly silenceMsMax: number;
}

/** The nodes of one network and the policy that spreads calls over them. */
export class UpstreamPool implements AsyncDisposable {
  readonly network: Network;
  readonly #options: PoolOptions;
  readonly #nodes: readonly UpstreamNode[];
  readonly #onSlot: (commitment: CommitmentName, slot: bigint) => void;
  readonly #clock: Clock;
  readonly #events: UpstreamEvents | null;
  readonly #tracing: UpstreamTracing | null;
  readonly #newest = new Map<CommitmentName, bigint>();

  constructor(
    options: PoolOptions,
    dependencies: {
      readonly clock: Clock;
      readonly random: Random;
      readonly onSlot: (commitment: CommitmentName, slot: bigint) => void;
      readonly events: UpstreamEvents | null;
      readonly tracing: UpstreamTracing | null;
    },
  ) {
    this.network = options.network;
    this.#options = options;
    this.#onSlot = dependencies.onSlot;
    this.#clock = dependencies.clock;
    this.#events = dependencies.events;
    this.#tracing = dependencies.tracing;
    this.#nodes = options.nodes.map(
      (node) =>
        new UpstreamNode(
          { ...node, limits: options.limits },
          { ...dependencies, onSlot: (commitment) => this.#heard(commitment) },
        ),
    );
  }

  start(): void {
    for (const node of this.#nodes) node.feed.start();
  }

  /** The policy, in one sentence: deadline(repeatReadOnce(choose(healthy first, then least lag, then least latency))). */
  async call(call: UpstreamCall): Promise<UpstreamOutcome> {
    const first = this.#choose(null);
    if (first === null) return { ok: false, refused: "NETWORK_UNAVAILABLE", label: "", repeatable: false };
    const startedMs = this.#clock.monotonic();
    const { deadlineMs } = this.#options.limits;
    const outcome = await this.#attempt(first, call, deadlineMs);
    if (outcome.ok || !outcome.repeatable) return outcome;
    // One deadline covers both tries: a client waits for the answer, not for our policy.
    const leftMs = deadlineMs - (this.#clock.monotonic() - startedMs);
    if (leftMs <= 0) return outcome;
    return this.#attempt(this.#choose(first) ?? first, call, leftMs);
  }

  async #attempt(node: UpstreamNode, call: UpstreamCall, deadlineMs: number): Promise<UpstreamOutcome> {
    const startedMs = this.#clock.monotonic();
    const outcome = await (this.#tracing === null
      ? node.call(call, deadlineMs)
      : this.#traced(this.#tracing, node, call, deadlineMs));
    this.#events?.upstreamCalled(this.network, node.label, outcomeName(outcome), this.#clock.monotonic() - startedMs);
    return outcome;
  }

  #traced(
    tracing: UpstreamTracing,
    node: UpstreamNode,
    call: UpstreamCall,
    deadlineMs: number,
  ): Promise<UpstreamOutcome> {
    const attributes = { "sluice.network": this.network, "sluice.upstream": node.label, "rpc.method": call.method };
    return tracing.span("upstream call", attributes, () => node.call(call, deadlineMs));
  }

  /** The node that a PubSub client is passed to. */
  pubsubNode(): {
    readonly label: string;
    readonly ws: string;
    readonly headers: Readonly<Record<string, string>>;
  } | null {
    return this.#choose(null);
  }

  slotOf(commitment: CommitmentName): bigint | null {
    return this.#newest.get(commitment) ?? null;
  }

  /** True while a node tells of new slots of this commitment, so that what is kept until the next slot may be kept. */
  isLive(commitment: CommitmentName): boolean {
    return this.#nodes.some((node) => node.feed.isLive(commitment));
  }

  health(): UpstreamHealth[] {
    return this.#nodes.map((node) => this.#healthOf(node));
  }

  #healthOf(node: UpstreamNode): UpstreamHealth {
    const view = node.view();
    const newest = this.#newest.get("processed") ?? null;
    const slotLag = view.slot === null || newest === null ? null : newest - view.slot;
    const speaks = !view.isUnreachable && view.silentForMs <= this.#options.silenceMsMax;
    return {
      label: view.label,
      slot: view.slot,
      slotLag,
      latencyMs: view.latencyMs,
      errorRate: view.errorRate,
      inFlight: view.inFlight,
      speaks,
      healthy: speaks && slotLag !== null && slotLag <= this.#options.slotLagMax,
    };
  }

  /** If none is healthy the least bad serves: a gateway that refuses because it is unsure is worse than a slow answer. */
  #choose(except: UpstreamNode | null): UpstreamNode | null {
    if (this.#nodes.length <= 1) return this.#nodes[0] === except ? null : (this.#nodes[0] ?? null);
    let best: { readonly node: UpstreamNode; readonly health: UpstreamHealth } | null = null;
    for (const node of this.#nodes) {
      if (node === except) continue;
      const health = this.#healthOf(node);
      if (best === null || isBetter(health, best.health)) best = { node, health };
    }
    return best?.node ?? null;
  }

  #heard(commitment: CommitmentName): void {
    let newest: bigint | null = null;
    for (const node of this.#nodes) {
      const slot = node.feed.slotOf(commitment);
      if (slot !== null && (newest === null || slot > newest)) newest = slot;
    }
    if (newest === null || newest === this.#newest.get(commitment)) return;
    this.#newest.set(commitment, newest);
    this.#onSlot(commitment, newest);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#nodes.map((node) => node[Symbol.asyncDispose]()));
  }
}

const failureNames = {
  NETWORK_UNAVAILABLE: "unreachable",
  UPSTREAM_TIMEOUT: "timeout",
  UPSTREAM_INVALID: "invalid",
  OVERLOADED: "refused",
} as const;

function outcomeName(outcome: UpstreamOutcome): Parameters<UpstreamEvents["upstreamCalled"]>[2] {
  if (!outcome.ok) return failureNames[outcome.refused];
  return outcome.answer.errorCode === null ? "ok" : "rpc-error";
}

function isBetter(one: UpstreamHealth, other: UpstreamHealth): boolean {
  if (one.healthy !== other.healthy) return one.healthy;
  if (one.slotLag !== other.slotLag)
    return one.slotLag !== null && (other.slotLag === null || one.slotLag < other.slotLag);
  return (one.latencyMs ?? 0) < (other.latencyMs ?? 0);
}
