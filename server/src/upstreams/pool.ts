import type { CommitmentName } from "@sluice/contract/rpc";
import type { Network } from "@sluice/contract/tiers";
import { type Clock, type Random, seededRandom } from "@sluice/lib";
import { chooseNode, chooseSenders, hasReached } from "./choice.ts";
import type { ExtraCall, UpstreamCallEvents } from "./events.ts";
import { HedgeBudget } from "./hedge-budget.ts";
import { LatencyBook } from "./latency-book.ts";
import { type NodeLimits, type NodeOrder, UpstreamNode } from "./node.ts";
import { Reads } from "./reads.ts";
import { Roster } from "./roster.ts";
import { sendToEach } from "./sends.ts";
import { Shadows } from "./shadows.ts";
import { SlotBoard } from "./slot-board.ts";
import { healthOf, judge, mayBeTried, type StandingRules, type UpstreamHealth } from "./standing.ts";
import {
  outcomeName,
  type UpstreamCall,
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
  readonly events: UpstreamCallEvents | null;
  readonly tracing: UpstreamTracing | null;
}

/** How often standings are looked at beside each notice of a slot: silence and rests end without one. */
const lookMs = 250;

/** The nodes of one network and the policy that spreads calls over them. */
export class UpstreamPool implements AsyncDisposable {
  readonly network: Network;
  readonly roster: Roster;
  readonly #rules: StandingRules;
  readonly #options: PoolOptions;
  readonly #deps: PoolDependencies;
  readonly #draw: Random;
  readonly #board: SlotBoard;
  readonly #reads: Reads;
  readonly #shadows: Shadows;
  #timer: ReturnType<typeof setInterval> | null = null;

  constructor(options: PoolOptions, dependencies: PoolDependencies) {
    this.network = options.network;
    this.#options = options;
    this.#rules = { ...options.rules };
    this.#deps = dependencies;
    // Choosing needs no secret, and the system's randomness costs more than the choice.
    this.#draw = seededRandom(Math.floor(dependencies.random.next() * 2 ** 32));
    this.#board = new SlotBoard({ onSlot: dependencies.onSlot });
    const attempt = this.#attempt.bind(this);
    const { clock } = dependencies;
    const fault = (caught: unknown): void => dependencies.events?.internalError("upstreams", caught);
    const extra = ({ label }: UpstreamNode, why: ExtraCall) => dependencies.events?.extraCall(this.network, label, why);
    this.#reads = new Reads(
      { deadlineMs: options.limits.deadlineMs },
      {
        clock,
        book: new LatencyBook(),
        budget: new HedgeBudget(),
        choose: (call, asked, mayBeOut) => this.#choose(call, asked, mayBeOut),
        attempt,
        fault,
        extra,
      },
    );
    this.#shadows = new Shadows(this.#rules, {
      clock,
      fault,
      attempt: (node, call, deadlineMs) => {
        extra(node, "shadow");
        return attempt(node, call, deadlineMs);
      },
      slotOf: (commitment) => this.slotOf(commitment),
      mayBeTried: (node) => mayBeTried(node, this.slotOf("processed"), this.#rules),
      passed: () => this.#look(),
    });
    this.roster = new Roster(
      { leaveMsMax: options.limits.deadlineMs },
      {
        make: (node) => this.#make(node),
        changed: () => this.#look(),
        left: (node) => {
          this.#board.forget(node);
          this.#shadows.forget(node);
        },
      },
    );
    for (const node of options.nodes) this.add(node);
  }

  get #nodes(): readonly UpstreamNode[] {
    return this.roster.nodes;
  }

  start(): void {
    this.roster.start();
    this.#timer ??= setInterval(() => {
      this.#look();
      this.#shadows.probe(this.#nodes);
    }, lookMs);
  }

  /** Adds a node at run time. Throws RangeError for a label that is taken, and what the transport cannot send to. */
  add(options: UpstreamOptions): void {
    if (this.roster.find(options.label) !== null) throw new RangeError(`there is a node ${options.label} already`);
    this.roster.put(this.roster.make(options));
  }

  /** False when no node has this label. */
  order(label: string, order: NodeOrder): boolean {
    return this.roster.order(label, order);
  }

  /** Takes a node away; calls under way on it end as unreachable, so it is drained before. */
  remove(label: string): Promise<boolean> {
    return this.roster.remove(label);
  }

  /** How far a node may lag behind from now on. */
  setSlotLagMax(slotLagMax: bigint): void {
    this.#rules.slotLagMax = slotLagMax;
    this.#look();
  }

  /** Sends a call by the policy of its kind. Rejects for a fault of ours alone. */
  call(call: UpstreamCall): Promise<UpstreamOutcome> {
    if (call.kind === "send") return this.#send(call);
    const { commitment, minimumSlot } = call;
    if (minimumSlot === null || hasReached(this.#nodes, commitment, minimumSlot)) return this.#ask(call);
    return this.#board.reached(commitment, minimumSlot, this.#options.floorWaitMs).then((isReached) => {
      if (!isReached) this.#deps.events?.floorMissed(this.network);
      return this.#ask(call);
    });
  }

  #ask(call: UpstreamCall): Promise<UpstreamOutcome> {
    const node = this.#choose(call, none, true);
    if (node === null) return Promise.resolve(this.#nobody());
    if (call.kind === "once") return this.#attempt(node, call, this.#options.limits.deadlineMs);
    this.#shadows.mirror(this.#nodes, call);
    return this.#nodes.length === 1 ? this.#reads.runAlone(call, node) : this.#reads.run(call, node);
  }

  async #send(call: UpstreamCall): Promise<UpstreamOutcome> {
    const senders = chooseSenders(this.#nodes, this.#place());
    const deps = { clock: this.#deps.clock, attempt: this.#attempt.bind(this) };
    const outcome = await sendToEach(senders, call, this.#options.limits.deadlineMs, deps);
    return outcome ?? this.#nobody();
  }

  #place() {
    const nowMs = this.#deps.clock.monotonic();
    return { newest: this.slotOf("processed"), rules: this.#rules, random: this.#draw, nowMs };
  }

  /** The node that a PubSub client is passed to. */
  pubsubNode(except: ReadonlySet<string> = new Set()): Pick<UpstreamOptions, "label" | "ws" | "headers"> | null {
    const asked = this.#nodes.filter((node) => except.has(node.label));
    const wanted = { group: "read", commitment: "processed", minimumSlot: null, asked, mayBeOut: true } as const;
    const node = chooseNode(this.#nodes, wanted, this.#place());
    return node === null ? null : { label: node.label, ws: node.options.ws, headers: node.options.headers };
  }

  /** Whether the node of this label gets calls now. */
  isIn(label: string): boolean {
    return this.roster.find(label)?.isIn === true;
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
    return this.#nodes.map((node) => healthOf(node, newest, this.#rules));
  }

  #attempt(node: UpstreamNode, call: UpstreamCall, deadlineMs: number): Promise<UpstreamOutcome> {
    const { tracing } = this.#deps;
    if (tracing === null) return node.call(call, deadlineMs);
    const attributes = { "sluice.network": this.network, "sluice.upstream": node.label, "rpc.method": call.method };
    return tracing.span("upstream call", attributes, () => node.call(call, deadlineMs));
  }

  #told(node: UpstreamNode, outcome: UpstreamOutcome, latencyMs: number): void {
    this.#deps.events?.upstreamCalled(this.network, node.label, outcomeName(outcome), latencyMs);
    if (!outcome.ok && node.isIn && node.breaker.state !== "closed") this.#look();
  }

  #choose(call: UpstreamCall, asked: readonly UpstreamNode[], mayBeOut: boolean): UpstreamNode | null {
    const { kind, commitment, minimumSlot } = call;
    const group = kind === "archive" ? "archive" : "read";
    return chooseNode(this.#nodes, { group, commitment, minimumSlot, asked, mayBeOut }, this.#place());
  }

  #nobody(): UpstreamOutcome {
    // One that is in, and whose provider allows no more.
    const refused: UpstreamFailure = this.#nodes.some(({ isIn }) => isIn) ? "OVERLOADED" : "NETWORK_UNAVAILABLE";
    return { ok: false, refused, label: "", repeatable: false };
  }

  #make(options: UpstreamOptions): UpstreamNode {
    const node: UpstreamNode = new UpstreamNode(options, this.#options.limits, {
      ...this.#deps,
      onSlot: (commitment) => this.#heard(node, commitment),
      told: (of, outcome, latencyMs) => this.#told(of, outcome, latencyMs),
    });
    return node;
  }

  #heard(node: UpstreamNode, commitment: CommitmentName): void {
    const slot = node.feed.slotOf(commitment);
    if (slot !== null) this.#board.heard(node, commitment, slot);
    if (commitment === "processed") this.#look();
  }

  #look(): void {
    const newest = this.slotOf("processed");
    for (const node of this.#nodes) judge(node, newest, this.#rules);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer ?? undefined);
    this.#reads[Symbol.dispose]();
    this.#board[Symbol.dispose]();
    await this.roster[Symbol.asyncDispose]();
  }
}

const none: readonly UpstreamNode[] = [];
