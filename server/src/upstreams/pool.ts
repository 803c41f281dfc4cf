import type { CommitmentName } from "@sluice/contract/rpc";
import type { Network } from "@sluice/contract/tiers";
import { type Clock, type Random, seededRandom, type Timer } from "@sluice/lib";
import type { UpstreamConfig } from "../config/index.ts";
import type { ExtraCall, UpstreamCallEvents } from "./events.ts";
import { MethodLatencies } from "./method-latencies.ts";
import { MirroredReads } from "./mirrored-reads.ts";
import { type NodeLimits, type NodeOrder, UpstreamNode } from "./node.ts";
import { type HealthRules, NodeHealth, type UpstreamHealth } from "./node-health.ts";
import { NodeSet } from "./node-set.ts";
import { HedgeBudget, ReadPolicy } from "./read-policy.ts";
import { NodeSelector } from "./selection.ts";
import { sendToEach } from "./send-policy.ts";
import { SlotTracker } from "./slot-tracker.ts";
import type { UpstreamCall, UpstreamFailure, UpstreamOutcome, UpstreamTracing } from "./upstream-call.ts";

export interface UpstreamPoolOptions {
  readonly network: Network;
  readonly nodes: readonly UpstreamConfig[];
  readonly limits: NodeLimits;
  readonly rules: HealthRules;
  /** How long a call waits for some node to reach a slot that its key has seen. */
  readonly floorWaitMs: number;
}

export interface UpstreamPoolDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly onSlot: (commitment: CommitmentName, slot: bigint) => void;
  readonly events: UpstreamCallEvents | null;
  readonly tracing: UpstreamTracing | null;
}

/** How often health is evaluated beside each notice of a slot: silence and rests change it without one. */
const evaluationMs = 250;

/**
 * The nodes of one network and the policies that spread calls over them. A call goes one way: pool, policy, selector,
 * node.
 */
export class UpstreamPool implements AsyncDisposable {
  readonly network: Network;
  readonly nodeSet: NodeSet;
  readonly #options: UpstreamPoolOptions;
  readonly #dependencies: UpstreamPoolDependencies;
  readonly #slots: SlotTracker;
  readonly #health: NodeHealth;
  readonly #selector: NodeSelector;
  readonly #reads: ReadPolicy;
  readonly #mirrored: MirroredReads;
  #timer: Timer | null = null;

  constructor(options: UpstreamPoolOptions, dependencies: UpstreamPoolDependencies) {
    this.network = options.network;
    this.#options = options;
    this.#dependencies = dependencies;
    const { clock, events } = dependencies;
    const onError = (error: unknown): void => events?.internalError("upstreams", error);
    const onExtraCall = ({ label }: UpstreamNode, reason: ExtraCall) => events?.extraCall(this.network, label, reason);
    const slots = new SlotTracker(dependencies);
    const nodeSet = new NodeSet(
      { leaveMsMax: options.limits.deadlineMs },
      {
        clock,
        create: (node) => this.#create(node),
        onChange: () => this.#health.evaluate(),
        onLeave: (node) => {
          this.#slots.forget(node);
          this.#mirrored.forget(node);
        },
      },
    );
    const health = new NodeHealth(options.rules, { nodeSet, slots });
    // Selection needs no secret, and the system's randomness costs more than the selection.
    const random = seededRandom(Math.floor(dependencies.random.next() * 2 ** 32));
    const selector = new NodeSelector({ nodeSet, slots, health, clock, random });
    this.nodeSet = nodeSet;
    this.#slots = slots;
    this.#health = health;
    this.#selector = selector;
    this.#reads = new ReadPolicy(
      { deadlineMs: options.limits.deadlineMs },
      { clock, latencies: new MethodLatencies(), budget: new HedgeBudget(), selector, onExtraCall, onError },
    );
    this.#mirrored = new MirroredReads({
      clock,
      slots,
      health,
      onTrial: (node) => onExtraCall(node, "mirrored"),
      onError,
    });
    for (const node of options.nodes) this.add(node);
  }

  get #nodes(): readonly UpstreamNode[] {
    return this.nodeSet.nodes;
  }

  start(): void {
    this.nodeSet.start();
    const evaluate = (): void => {
      this.#health.evaluate();
      this.#mirrored.probe(this.#nodes);
    };
    this.#timer ??= this.#dependencies.clock.every(evaluationMs, evaluate, { keepsAlive: true });
  }

  /**
   * Adds a node at run time. Throws RangeError for a label that is taken, and where the transport cannot send to it.
   */
  add(options: UpstreamConfig): void {
    if (this.nodeSet.find(options.label) !== null) throw new RangeError(`there is a node ${options.label} already`);
    this.nodeSet.put(this.nodeSet.create(options));
  }

  /** False when no node has this label. */
  order(label: string, order: NodeOrder): boolean {
    return this.nodeSet.order(label, order);
  }

  /** Removes a node; its calls in flight end as unreachable, so it is drained before. */
  remove(label: string): Promise<boolean> {
    return this.nodeSet.remove(label);
  }

  /** Changes how far a node may lag behind. */
  setSlotLagMax(slotLagMax: bigint): void {
    this.#health.setSlotLagMax(slotLagMax);
  }

  /** Sends a call by the policy of its kind. Rejects for a defect of this system alone. */
  call(call: UpstreamCall): Promise<UpstreamOutcome> {
    if (call.kind === "send") return this.#send(call);
    const { commitment, minimumSlot } = call;
    if (minimumSlot === null || this.#selector.hasReached(commitment, minimumSlot)) return this.#ask(call);
    return this.#slots.reached(commitment, minimumSlot, this.#options.floorWaitMs).then((isReached) => {
      if (!isReached) this.#dependencies.events?.floorMissed(this.network);
      return this.#ask(call);
    });
  }

  #ask(call: UpstreamCall): Promise<UpstreamOutcome> {
    const node = this.#selector.chooseFor(call, none, true);
    if (node === null) return Promise.resolve(this.#refusal());
    if (call.kind === "once") return node.call(call, this.#options.limits.deadlineMs);
    this.#mirrored.mirror(this.#nodes, call);
    return this.#nodes.length === 1 ? this.#reads.runAlone(call, node) : this.#reads.run(call, node);
  }

  async #send(call: UpstreamCall): Promise<UpstreamOutcome> {
    const { clock } = this.#dependencies;
    const { deadlineMs } = this.#options.limits;
    return (await sendToEach(this.#selector.chooseSenders(), call, { deadlineMs, clock })) ?? this.#refusal();
  }

  /** The node that a PubSub client is connected to; null when there is none beside `except`. */
  pubsubNode(except: ReadonlySet<string> = new Set()): Pick<UpstreamConfig, "label" | "ws" | "headers"> | null {
    const asked = this.#nodes.filter((node) => except.has(node.label));
    const criteria = { group: "read", commitment: "processed", minimumSlot: null, asked, mayBeOut: true } as const;
    const node = this.#selector.choose(criteria);
    return node === null ? null : { label: node.label, ws: node.options.ws, headers: node.options.headers };
  }

  /** Whether the node of this label gets calls now. */
  isIn(label: string): boolean {
    return this.nodeSet.find(label)?.isIn === true;
  }

  slotOf(commitment: CommitmentName): bigint | null {
    return this.#slots.newest(commitment);
  }

  /** Whether some node reports new slots of this commitment, so that answers may be stored until the next slot. */
  isLive(commitment: CommitmentName): boolean {
    return this.#nodes.some((node) => node.feed.isLive(commitment));
  }

  health(): UpstreamHealth[] {
    return this.#health.report();
  }

  /** The outcome without a node to ask: OVERLOADED where one is in and its provider allows no more. */
  #refusal(): UpstreamOutcome {
    const refused: UpstreamFailure = this.#nodes.some(({ isIn }) => isIn) ? "OVERLOADED" : "NETWORK_UNAVAILABLE";
    return { ok: false, refused, label: "", repeatable: false };
  }

  #create(options: UpstreamConfig): UpstreamNode {
    const node: UpstreamNode = new UpstreamNode(
      { network: this.network, upstream: options, limits: this.#options.limits },
      {
        ...this.#dependencies,
        onSlot: (commitment) => this.#slotReported(node, commitment),
        onOutcome: (outcome, latencyMs) => this.#callEnded(node, outcome, latencyMs),
      },
    );
    return node;
  }

  #callEnded(node: UpstreamNode, outcome: UpstreamOutcome, latencyMs: number): void {
    this.#dependencies.events?.upstreamCalled(this.network, node.label, outcomeName(outcome), latencyMs);
    if (!outcome.ok && node.isIn && node.breaker.state !== "closed") this.#health.evaluate();
  }

  #slotReported(node: UpstreamNode, commitment: CommitmentName): void {
    const slot = node.feed.slotOf(commitment);
    if (slot !== null) this.#slots.report(node, commitment, slot);
    if (commitment === "processed") this.#health.evaluate();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#timer?.cancel();
    this.#reads[Symbol.dispose]();
    this.#slots[Symbol.dispose]();
    await this.nodeSet[Symbol.asyncDispose]();
  }
}

const none: readonly UpstreamNode[] = [];

const failureNames = {
  NETWORK_UNAVAILABLE: "unreachable",
  UPSTREAM_TIMEOUT: "timeout",
  UPSTREAM_INVALID: "invalid",
  OVERLOADED: "refused",
} as const;

/** The name of an outcome in metrics. */
function outcomeName(outcome: UpstreamOutcome): Parameters<UpstreamCallEvents["upstreamCalled"]>[2] {
  if (!outcome.ok) return failureNames[outcome.refused];
  return outcome.answer.errorCode === null ? "ok" : "rpc-error";
}
