import type { CommitmentName, Network } from "@sluice/contract";
import { type Clock, type Random, seededRandom } from "../lib/index.ts";
import { chooseNode, chooseSenders } from "./choice.ts";
import { HedgeBudget } from "./hedge-budget.ts";
import { LatencyBook } from "./latency-book.ts";
import { type NodeLimits, type NodeOrder, UpstreamNode } from "./node.ts";
import { Reads } from "./reads.ts";
import { sendToEach } from "./sends.ts";
import { Shadows } from "./shadows.ts";
import { SlotBoard } from "./slot-board.ts";
import { healthOf, judge, type StandingRules, type UpstreamHealth } from "./standing.ts";
import {
  type ExtraCall,
  outcomeName,
  type UpstreamCall,
  type UpstreamEvents,
  type UpstreamFailure,
  type UpstreamOptions,
  type UpstreamOutcome,
  type UpstreamTracing,
} from "./upstream-call.ts";

export interface PoolOptions {
  readonly network: Network;
  readonly nodes: readonly UpstreamOptions[];
  readonly limits: NodeLimits;
  readonly rules: StandingRules;
  /** How long a call waits for some node to reach a slot that its key has seen. */
  readonly floorWaitMs: number;
}

export interface PoolDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly onSlot: (commitment: CommitmentName, slot: bigint) => void;
  readonly events: UpstreamEvents | null;
  readonly tracing: UpstreamTracing | null;
}

/** How often standings are looked at beside each notice of a slot: silence and rests end without one. */
const lookMs = 250;

/** The nodes of one network and the policy that spreads calls over them. */
export class UpstreamPool implements AsyncDisposable {
  readonly network: Network;
  readonly #options: PoolOptions;
  readonly #deps: PoolDependencies;
  readonly #draw: Random;
  readonly #board: SlotBoard;
  readonly #reads: Reads;
  readonly #shadows: Shadows;
  #nodes: readonly UpstreamNode[] = [];
  #isStarted = false;
  #timer: ReturnType<typeof setInterval> | null = null;

  constructor(options: PoolOptions, dependencies: PoolDependencies) {
    this.network = options.network;
    this.#options = options;
    this.#deps = dependencies;
    // Choosing needs no secret, and the system's randomness costs more than the choice.
    this.#draw = seededRandom(Math.floor(dependencies.random.next() * 2 ** 32));
    this.#board = new SlotBoard({ onSlot: dependencies.onSlot });
    const attempt = this.#attempt.bind(this);
    const { clock } = dependencies;
    const fault = (caught: unknown): void => dependencies.events?.faultCaught("upstreams", caught);
    this.#reads = new Reads(
      { deadlineMs: options.limits.deadlineMs },
      {
        clock,
        book: new LatencyBook(),
        budget: new HedgeBudget(),
        choose: (call, asked) => this.#choose(call, asked),
        attempt,
        fault,
        extra: (node, why) => this.#extra(node, why),
      },
    );
    this.#shadows = new Shadows(
      { slotLagMax: options.rules.slotLagMax },
      {
        clock,
        fault,
        attempt: (node, call, deadlineMs) => {
          this.#extra(node, "shadow");
          return attempt(node, call, deadlineMs);
        },
        slotOf: (commitment) => this.slotOf(commitment),
        passed: () => this.#look(),
      },
    );
    for (const node of options.nodes) this.add(node);
  }

  start(): void {
    this.#isStarted = true;
    for (const node of this.#nodes) node.feed.start();
    this.#timer ??= setInterval(() => {
      this.#look();
      this.#shadows.probe(this.#nodes);
    }, lookMs);
  }

  /** Adds a node at run time. Throws RangeError for a label that is taken, and what the transport cannot send to. */
  add(options: UpstreamOptions): void {
    if (this.#find(options.label) !== null) throw new RangeError(`there is a node ${options.label} already`);
    const node: UpstreamNode = new UpstreamNode(
      { ...options, limits: this.#options.limits },
      { ...this.#deps, onSlot: (commitment) => this.#heard(node, commitment) },
    );
    this.#nodes = [...this.#nodes, node];
    if (this.#isStarted) node.feed.start();
    this.#look();
  }

  /** What an operator orders; false when no node has this label. */
  order(label: string, order: NodeOrder): boolean {
    const node = this.#find(label);
    if (node === null) return false;
    node.order = order;
    // A person vouches for it: it need not prove itself first.
    if (order === "open") node.isOnTrial = false;
    this.#look();
    return true;
  }

  /** Takes a node away; calls under way on it end as unreachable, so it is drained before. */
  async remove(label: string): Promise<boolean> {
    const node = this.#find(label);
    if (node === null) return false;
    this.#nodes = this.#nodes.filter((other) => other !== node);
    this.#board.forget(node);
    this.#shadows.forget(node);
    this.#look();
    await node[Symbol.asyncDispose]();
    return true;
  }

  #find(label: string): UpstreamNode | null {
    return this.#nodes.find((node) => node.label === label) ?? null;
  }

  /** Sends a call by the policy of its kind. */
  async call(call: UpstreamCall): Promise<UpstreamOutcome> {
    if (call.kind === "send") return await this.#send(call);
    if (call.minimumSlot !== null) await this.#awaitSlot(call);
    const node = this.#choose(call, none);
    if (node === null) return this.#nobody();
    if (call.kind === "once") return await this.#attempt(node, call, this.#options.limits.deadlineMs);
    this.#shadows.mirror(this.#nodes, call);
    return await (this.#nodes.length === 1 ? this.#reads.runAlone(call, node) : this.#reads.run(call, node));
  }

  async #send(call: UpstreamCall): Promise<UpstreamOutcome> {
    const senders = chooseSenders(this.#nodes, this.#place());
    const { clock } = this.#deps;
    const attempt = this.#attempt.bind(this);
    const outcome = await sendToEach(senders, call, this.#options.limits.deadlineMs, { clock, attempt });
    return outcome ?? this.#nobody();
  }

  #place() {
    return { newest: this.slotOf("processed"), rules: this.#options.rules, random: this.#draw };
  }

  /** The node that a PubSub client is passed to. */
  pubsubNode(except: ReadonlySet<string> = new Set()): {
    readonly label: string;
    readonly ws: string;
    readonly headers: Readonly<Record<string, string>>;
  } | null {
    const asked = new Set(this.#nodes.filter((node) => except.has(node.label)));
    const wanted = { group: "read", commitment: "processed", minimumSlot: null, asked } as const;
    const node = chooseNode(this.#nodes, wanted, this.#place());
    return node === null ? null : { label: node.label, ws: node.options.ws, headers: node.options.headers };
  }

  /** Whether the node of this label gets calls now. */
  isIn(label: string): boolean {
    return this.#find(label)?.isIn === true;
  }

  slotOf(commitment: CommitmentName): bigint | null {
    return this.#board.newest(commitment);
  }

  /** True while a node tells of new slots of this commitment, so that what is kept until the next slot may be kept. */
  isLive(commitment: CommitmentName): boolean {
    return this.#nodes.some((node) => node.feed.isLive(commitment));
  }

  health(): UpstreamHealth[] {
    const newest = this.slotOf("processed");
    return this.#nodes.map((node) => healthOf(node, newest, this.#options.rules));
  }

  async #attempt(node: UpstreamNode, call: UpstreamCall, deadlineMs: number): Promise<UpstreamOutcome> {
    const startedMs = this.#deps.clock.monotonic();
    const { tracing, events } = this.#deps;
    const attributes = { "sluice.network": this.network, "sluice.upstream": node.label, "rpc.method": call.method };
    const outcome = await (tracing === null
      ? node.call(call, deadlineMs)
      : tracing.span("upstream call", attributes, () => node.call(call, deadlineMs)));
    events?.upstreamCalled(this.network, node.label, outcomeName(outcome), this.#deps.clock.monotonic() - startedMs);
    if (!outcome.ok && node.isIn && node.breaker.state !== "closed") this.#look();
    return outcome;
  }

  #extra(node: UpstreamNode, why: ExtraCall): void {
    this.#deps.events?.extraCall(this.network, node.label, why);
  }

  #choose({ kind, commitment, minimumSlot }: UpstreamCall, asked: ReadonlySet<UpstreamNode>): UpstreamNode | null {
    const group = kind === "archive" ? "archive" : "read";
    return chooseNode(this.#nodes, { group, commitment, minimumSlot, asked }, this.#place());
  }

  /** Waits until some node in the pool has reached the slot that the call must not fall behind. */
  async #awaitSlot({ commitment, minimumSlot }: UpstreamCall): Promise<void> {
    if (minimumSlot === null) return;
    if (this.#nodes.some((node) => node.isIn && (node.feed.slotOf(commitment) ?? 0n) >= minimumSlot)) return;
    if (await this.#board.reached(commitment, minimumSlot, this.#options.floorWaitMs)) return;
    this.#deps.events?.floorMissed(this.network);
  }

  #nobody(): UpstreamOutcome {
    const isOutOfTurns = this.#nodes.some((node) => node.isIn);
    const refused: UpstreamFailure = isOutOfTurns ? "OVERLOADED" : "NETWORK_UNAVAILABLE";
    return { ok: false, refused, label: "", repeatable: false };
  }

  #heard(node: UpstreamNode, commitment: CommitmentName): void {
    const slot = node.feed.slotOf(commitment);
    if (slot !== null) this.#board.heard(node, commitment, slot);
    if (commitment === "processed") this.#look();
  }

  #look(): void {
    const newest = this.slotOf("processed");
    for (const node of this.#nodes) judge(node, newest, this.#options.rules);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer ?? undefined);
    this.#reads[Symbol.dispose]();
    this.#board[Symbol.dispose]();
    await Promise.all(this.#nodes.map((node) => node[Symbol.asyncDispose]()));
  }
}

const none: ReadonlySet<UpstreamNode> = new Set();
