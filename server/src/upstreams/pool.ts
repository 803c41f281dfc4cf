import type { CommitmentName } from "@sluice/contract/rpc";
import type { Network } from "@sluice/contract/tiers";
import { type Clock, type Random, seededRandom, type Timer } from "@sluice/lib";
import { callNode } from "../chain/index.ts";
import type { UpstreamConfig } from "../config/index.ts";
import type { ChainRecord } from "../state/index.ts";
import { ChainCheck, type ChainCheckDependencies, type ChainCheckOptions } from "./chain-check.ts";
import type { ExtraCall, UpstreamCallEvents, UpstreamCallOutcome } from "./events.ts";
import { MethodLatencies } from "./method-latencies.ts";
import { MirroredReads } from "./mirrored-reads.ts";
import { type ConnectNode, isLargerThan, type NodeLimits, type NodeOrder, UpstreamNode } from "./node.ts";
import { type HealthRules, mayBeAsked, NodeHealth, type UpstreamHealth } from "./node-health.ts";
import { NodeSet } from "./node-set.ts";
import { HedgeBudget, ReadPolicy } from "./read-policy.ts";
import { RefusalProbes } from "./refusal-probes.ts";
import { NodeSelector } from "./selection.ts";
import { sendToEach } from "./send-policy.ts";
import type { SlotClaim } from "./slot-belief.ts";
import { SlotTracker } from "./slot-tracker.ts";
import type { UpstreamCall, UpstreamOutcome, UpstreamTracing } from "./upstream-call.ts";

export interface UpstreamPoolOptions {
  readonly network: Network;
  readonly nodes: readonly UpstreamConfig[];
  readonly limits: NodeLimits;
  /** Bytes of a call as it goes to a node; a larger one is refused before a node is asked. */
  readonly callBytesMax: number;
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
  /** Absent, over HTTP and WebSockets. */
  readonly connect?: ConnectNode | undefined;
  /** How nodes of another chain are found; null lets every node join. */
  readonly chain: PoolChain | null;
}

/** What the check of a pool's chain takes from outside. */
export interface PoolChain {
  readonly options: Omit<ChainCheckOptions, "network">;
  readonly store: ChainCheckDependencies["store"];
  /** Called when the network's chain is another one than before. */
  readonly onNewChain: () => void;
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
  readonly #probes: RefusalProbes;
  readonly #chain: ChainCheck | null;
  #timer: Timer | null = null;

  constructor(options: UpstreamPoolOptions, dependencies: UpstreamPoolDependencies) {
    this.network = options.network;
    this.#options = options;
    this.#dependencies = dependencies;
    const { clock, events } = dependencies;
    const onError = (error: unknown): void => events?.internalError("upstreams", error);
    const onExtraCall = ({ label }: UpstreamNode, reason: ExtraCall) => events?.extraCall(this.network, label, reason);
    const slots = new SlotTracker({
      clock,
      claims: (commitment) => this.#claims(commitment),
      onSlot: dependencies.onSlot,
      onRestart: (commitment, reason) => events?.beliefRestarted(this.network, commitment, reason),
    });
    const nodeSet = new NodeSet(
      { leaveMsMax: options.limits.deadlineMs },
      {
        clock,
        create: (node) => this.#create(node),
        onChange: () => {
          this.#evaluate();
          void this.#chain?.check();
        },
        onLeave: (node) => this.#mirrored.forget(node),
      },
    );
    const health = new NodeHealth(options.rules, { nodeSet, slots, clock });
    // Selection needs no secret, and the system's randomness costs more than the selection.
    const random = seededRandom(Math.floor(dependencies.random.next() * 2 ** 32));
    const selector = new NodeSelector({ nodeSet, slots, health, clock, random });
    this.nodeSet = nodeSet;
    this.#slots = slots;
    this.#health = health;
    this.#selector = selector;
    this.#reads = new ReadPolicy(
      { deadlineMs: options.limits.deadlineMs },
      { clock, latencies: new MethodLatencies(), budget: new HedgeBudget(), selector, slots, onExtraCall, onError },
    );
    this.#mirrored = new MirroredReads({
      clock,
      slots,
      health,
      onTrial: (node) => onExtraCall(node, "mirrored"),
      onError,
    });
    this.#probes = new RefusalProbes({
      clock,
      onProbe: (node) => onExtraCall(node, "probe"),
      onChange: () => this.#health.evaluate(),
      onError,
    });
    this.#chain = dependencies.chain === null ? null : this.#checkOf(dependencies.chain);
    for (const node of options.nodes) this.add(node);
  }

  #checkOf({ options, store, onNewChain }: PoolChain): ChainCheck {
    const { clock, events } = this.#dependencies;
    const { network } = this;
    return new ChainCheck(
      { ...options, network },
      {
        clock,
        store,
        ask: callNode,
        nodes: () => this.#nodes,
        onMembership: ({ label, chain }) => {
          events?.membershipChanged(network, label, chain);
          this.#evaluate();
        },
        onNewChain: (chain) => {
          events?.chainChanged(network, chain.genesis);
          this.#slots.restart();
          this.#health.evaluate();
          onNewChain();
        },
        onError: (error) => events?.chainUnread(network, error),
      },
    );
  }

  get #nodes(): readonly UpstreamNode[] {
    return this.nodeSet.nodes;
  }

  start(): void {
    this.nodeSet.start();
    this.#chain?.start();
    const evaluate = (): void => {
      this.#evaluate();
      this.#mirrored.probe(this.#nodes);
      this.#probes.sweep(this.#nodes);
    };
    this.#timer ??= this.#dependencies.clock.every(evaluationMs, evaluate, { keepsAlive: true });
  }

  /** Which chain the network is; null before it is known, and where nodes are not asked. */
  get chain(): ChainRecord | null {
    return this.#chain?.chain ?? null;
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
    const { callBytesMax } = this.#options;
    if (isLargerThan(call, callBytesMax)) return Promise.resolve(tooLarge(callBytesMax));
    if (call.kind === "send") return this.#send(call);
    const { commitment, minimumSlot } = call;
    if (minimumSlot === null || this.#selector.hasReached(commitment, minimumSlot)) return this.#ask(call);
    return this.#slots.reached(commitment, minimumSlot, this.#options.floorWaitMs).then((isReached) => {
      if (!isReached) this.#dependencies.events?.floorMissed(this.network);
      return this.#ask(call);
    });
  }

  #ask(call: UpstreamCall, mayWait = true): Promise<UpstreamOutcome> {
    const node = this.#selector.chooseFor(call, none, true);
    if (node === null) {
      // A node may be about to join: the gateway has just started, or the node has just been added.
      const pending = mayWait ? (this.#chain?.pending ?? null) : null;
      return pending === null ? Promise.resolve(this.#refusal()) : pending.then(() => this.#ask(call, false));
    }
    if (call.kind === "once") return node.call(call, this.#options.limits.deadlineMs);
    const answered = this.#nodes.length === 1 ? this.#reads.runAlone(call, node) : this.#reads.run(call, node);
    this.#mirrored.mirror(this.#nodes, call, answered);
    return answered;
  }

  async #send(call: UpstreamCall): Promise<UpstreamOutcome> {
    const chooseSenders = this.#selector.chooseSenders.bind(this.#selector);
    const { clock } = this.#dependencies;
    if (!this.#nodes.some(mayBeAsked)) await this.checked();
    const outcome = await sendToEach(call, this.#options.limits, { clock, chooseSenders });
    return outcome ?? this.#refusal();
  }

  /** The node that a PubSub client is connected to; null when there is none beside `except`. */
  pubsubNode(except: ReadonlySet<string> = new Set()): Pick<UpstreamConfig, "label" | "ws" | "headers"> | null {
    const asked = this.#nodes.filter((node) => except.has(node.label));
    const node = this.#selector.choose({
      method: null,
      group: "read",
      commitment: "processed",
      minimumSlot: null,
      asked,
      mayBeOut: true,
    });
    return node === null ? null : { label: node.label, ws: node.options.ws, headers: node.options.headers };
  }

  /** Whether PubSub clients may stay with the node of this label. A rest of its calls does not move them. */
  mayNotify(label: string): boolean {
    const node = this.nodeSet.find(label);
    return node !== null && this.#health.mayNotify(node);
  }

  /** The newest believed slot of a commitment. */
  slotOf(commitment: CommitmentName): bigint | null {
    return this.#slots.newest(commitment);
  }

  /** The slot of a commitment that the node of this label has shown last. */
  slotOfNode(label: string, commitment: CommitmentName): bigint | null {
    return this.nodeSet.find(label)?.feed.slotOf(commitment) ?? null;
  }

  /** The newest root that a second reading node confirms; of a single reading node, its own. */
  confirmedRoot(): bigint | null {
    return this.#slots.confirmedByTwo("finalized");
  }

  /**
   * The newest root up to which blocks may be told as final: a confirmed one, and while one reading node alone is heard
   * its own, so that the loss of the others does not hold up what is told.
   */
  finalRoot(): bigint | null {
    const heard = this.#claims("finalized").filter(({ isHeard }) => isHeard);
    return heard.length === 1 ? this.slotOf("finalized") : this.confirmedRoot();
  }

  /** Whether an answer may be from this slot, as far as the nodes show. */
  isPlausible(commitment: CommitmentName, slot: bigint): boolean {
    return this.#slots.isPlausible(commitment, slot);
  }

  /** Whether the two nodes that are heard contradict each other about the slot, and there is no third. */
  get isDisputed(): boolean {
    return this.#slots.isDisputed;
  }

  /** Whether some node reports new slots of this commitment, so that answers may be stored until the next slot. */
  isLive(commitment: CommitmentName): boolean {
    return this.#nodes.some((node) => node.feed.isLive(commitment));
  }

  health(): UpstreamHealth[] {
    return this.#health.report();
  }

  /**
   * The outcome without a node to ask: OVERLOADED where one is in and no more calls are allowed to it, UPSTREAM_LIMITED
   * where all that could be asked rest.
   */
  #refusal(): UpstreamOutcome {
    const failed = { ok: false, label: "", repeatable: false } as const;
    if (this.#nodes.some(mayBeAsked)) {
      const isOverloaded = this.#nodes.some(({ isIn }) => isIn);
      return { ...failed, refused: isOverloaded ? "OVERLOADED" : "NETWORK_UNAVAILABLE" };
    }
    const retryAfterMs = this.#restMs();
    return retryAfterMs === null
      ? { ...failed, refused: "NETWORK_UNAVAILABLE" }
      : { ...failed, refused: "UPSTREAM_LIMITED", retryAfterMs };
  }

  /** Milliseconds until the first of the nodes that rest may be asked; null when none of them rests. */
  #restMs(): number | null {
    const nowMs = this.#dependencies.clock.monotonic();
    const open = this.#nodes.filter(({ order, chain }) => order === "open" && chain === "joined");
    const rests = open.flatMap(({ rests: { whole } }) => (whole === null ? [] : [whole.untilMs - nowMs]));
    return rests.length === 0 ? null : Math.min(...rests);
  }

  /** Resolves when no node is left that was never asked for its chain, or could not be within two seconds. */
  async checked(): Promise<void> {
    await this.#chain?.pending;
  }

  #create(options: UpstreamConfig): UpstreamNode {
    const node: UpstreamNode = new UpstreamNode(
      { network: this.network, upstream: options, limits: this.#options.limits },
      {
        ...this.#dependencies,
        onSlot: (commitment) => this.#slotReported(node, commitment),
        onOutcome: (outcome, latencyMs) => this.#callEnded(node, outcome, latencyMs),
        onFault: () => this.#health.evaluate(),
        onRest: (reason) => {
          this.#dependencies.events?.rested(this.network, node.label, reason);
          this.#health.evaluate();
        },
      },
    );
    if (this.#chain !== null) node.chain = "unverified";
    return node;
  }

  #callEnded(node: UpstreamNode, outcome: UpstreamOutcome, latencyMs: number): void {
    this.#dependencies.events?.upstreamCalled(this.network, node.label, outcomeName(outcome), latencyMs);
    this.#probes.ended(node, outcome);
  }

  #slotReported(node: UpstreamNode, commitment: CommitmentName): void {
    this.#chain?.heard(node);
    if (isReading(node)) this.#slots.update(commitment);
    if (commitment === "processed") this.#health.evaluate();
  }

  #evaluate(): void {
    this.#slots.updateAll();
    this.#health.evaluate();
  }

  /**
   * Nodes that only send have no part in what is believed while there is another, nor have those of another chain and
   * those that an operator has taken out.
   */
  #claims(commitment: CommitmentName): SlotClaim[] {
    const open = this.#nodes.filter(({ order }) => order === "open");
    const reading = open.filter(isReading);
    return (reading.length > 0 ? reading : open).map((node) => ({
      node,
      slot: node.feed.slotOf(commitment),
      isHeard: this.#health.speaks(node),
    }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#timer?.cancel();
    this.#chain?.[Symbol.dispose]();
    this.#reads[Symbol.dispose]();
    this.#slots[Symbol.dispose]();
    await this.nodeSet[Symbol.asyncDispose]();
  }
}

const isReading = (node: UpstreamNode): boolean => node.serves("read") || node.serves("archive");

const none: readonly UpstreamNode[] = [];

const tooLarge = (bytesMax: number): UpstreamOutcome => ({
  ok: false,
  refused: "BODY_TOO_LARGE",
  label: "",
  repeatable: false,
  message: `The call is larger than the ${bytesMax} bytes that nodes take`,
});

const failureNames = {
  NETWORK_UNAVAILABLE: "unreachable",
  UPSTREAM_TIMEOUT: "timeout",
  UPSTREAM_INVALID: "invalid",
  UPSTREAM_LIMITED: "limited",
  OVERLOADED: "refused",
  BODY_TOO_LARGE: "rejected",
  INVALID_PARAMS: "rejected",
} as const;

/** The name of an outcome in metrics. */
function outcomeName(outcome: UpstreamOutcome): UpstreamCallOutcome {
  if (!outcome.ok) return outcome.fault === "denied" ? "denied" : failureNames[outcome.refused];
  return outcome.answer.errorCode === null ? "ok" : "rpc-error";
}
