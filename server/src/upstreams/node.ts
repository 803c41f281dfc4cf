import type { CommitmentName } from "@sluice/contract/rpc";
import type { Network } from "@sluice/contract/tiers";
import type { Clock, MonotonicMs, Random } from "@sluice/lib";
import { SlotFeed } from "../chain/index.ts";
import type { UpstreamConfig, UpstreamGroup } from "../config/index.ts";
import { comingAnswer, type NodeAnswer, readAnswer } from "./answer.ts";
import { type AnswerClass, answerClass, garbage, retryAfterMs } from "./answer-class.ts";
import { Breaker, breakerDefaults } from "./breaker.ts";
import type { Membership } from "./chain-check.ts";
import type { RestEvent } from "./events.ts";
import { LargeAnswer, readBeginning } from "./large-answer.ts";
import { NodeRests } from "./node-rests.ts";
import { type ExchangeOutcome, Transport } from "./transport.ts";
import type { NodeFault, UpstreamCall, UpstreamFailure, UpstreamOutcome, UpstreamTracing } from "./upstream-call.ts";

export interface NodeLimits {
  readonly deadlineMs: number;
  readonly answerBytesMax: number;
  /** For an answer that is streamed to its caller and takes no memory. */
  readonly largeBytesMax: number;
  readonly inFlightMax: number;
  readonly waitingMax: number;
}

/** The texts of errors that stand in the place of a node's. */
const messages: Partial<Record<UpstreamFailure, string>> = {
  BODY_TOO_LARGE: "The node refused the call as too large",
  INVALID_PARAMS: "The node refused the form of the call",
};

const failures = {
  timeout: "UPSTREAM_TIMEOUT",
  unreachable: "NETWORK_UNAVAILABLE",
  closed: "NETWORK_UNAVAILABLE",
  "too-large": "UPSTREAM_INVALID",
  malformed: "UPSTREAM_INVALID",
  overloaded: "OVERLOADED",
} as const;

/** Only these may be sent again, to this node or another. */
const isRead = ({ kind }: UpstreamCall): boolean => kind === "read" || kind === "archive";

/** A method's name as JSON text; nearly all are plain, and JSON.stringify takes 0.2 µs. */
const quoted = (method: string): string => (/^[A-Za-z0-9_]+$/.test(method) ? `"${method}"` : JSON.stringify(method));

/**
 * What an operator ordered for a node: `cordoned` gets no calls until it is opened again, `drained` is to be removed.
 */
export type NodeOrder = "open" | "cordoned" | "drained";

/** The ways to a node: its calls, and what it says of its slots. */
export interface NodeConnections {
  readonly transport: Pick<Transport, "exchange" | "inFlight"> & Disposable;
  readonly feed: Pick<SlotFeed, "start" | "slotOf" | "isLive" | "silentForMs" | "stillForMs"> & AsyncDisposable;
}

/** Opens the ways to a node. Throws for an address or headers that the transport cannot send to. */
export type ConnectNode = (
  upstream: UpstreamConfig,
  dependencies: Pick<UpstreamNodeDependencies, "clock" | "random" | "onSlot">,
) => NodeConnections;

export interface UpstreamNodeOptions {
  readonly network: Network;
  readonly upstream: UpstreamConfig;
  readonly limits: NodeLimits;
}

export interface UpstreamNodeDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly tracing: UpstreamTracing | null;
  readonly onSlot: (commitment: CommitmentName, slot: bigint) => void;
  /** Called at the end of each call, before the caller has its outcome. */
  readonly onOutcome: (outcome: UpstreamOutcome, latencyMs: number) => void;
  /** Called when a fault of a call has been counted. */
  readonly onFault: () => void;
  readonly onRest: (reason: RestEvent) => void;
  /** Absent, over HTTP and WebSockets. */
  readonly connect?: ConnectNode | undefined;
}

/** One upstream node: its connections, its rate, the averages of its calls, its breaker, its rests and its slots. */
export class UpstreamNode implements AsyncDisposable {
  readonly label: string;
  readonly options: UpstreamConfig;
  readonly feed: NodeConnections["feed"];
  readonly breaker: Breaker;
  readonly rests: NodeRests;
  order: NodeOrder = "open";
  /** Whether it is of its network's chain; the pool says otherwise where chains are checked. */
  chain: Membership = "joined";
  /** Whether it gets calls: the last decision of NodeHealth. */
  isIn = false;
  /** Good trials in a row since it was taken out. */
  trialsPassed = 0;
  isOnTrial = false;
  readonly #network: Network;
  readonly #limits: NodeLimits;
  readonly #dependencies: UpstreamNodeDependencies;
  readonly #transport: NodeConnections["transport"];
  readonly #gate: RateGate | null;
  #nextId = 0;
  readonly #averages = new CallAverages();
  /** When the last call could not connect; monotonic, long ago when that never happened. */
  #unreachableAtMs = Number.NEGATIVE_INFINITY;

  /** @throws {Error} for an address or headers that the transport cannot send to. */
  constructor({ network, upstream, limits }: UpstreamNodeOptions, dependencies: UpstreamNodeDependencies) {
    this.label = upstream.label;
    this.options = upstream;
    this.#network = network;
    this.#limits = limits;
    this.#dependencies = dependencies;
    const { requestsPerSecond } = upstream;
    this.breaker = new Breaker(breakerDefaults, dependencies);
    this.rests = new NodeRests(dependencies);
    this.#gate = requestsPerSecond === null ? null : new RateGate(requestsPerSecond, dependencies);
    const { connect = connectOver(limits) } = dependencies;
    const { transport, feed } = connect(upstream, dependencies);
    this.#transport = transport;
    this.feed = feed;
  }

  get latencyMs(): number | null {
    return this.#averages.latencyMs;
  }

  get errorRate(): number {
    return this.#averages.errorRate;
  }

  get inFlight(): number {
    return this.#transport.inFlight;
  }

  /** Whether it could not be reached since it last reported a slot. */
  get isUnreachable(): boolean {
    return this.#dependencies.clock.monotonic() - this.#unreachableAtMs < this.feed.silentForMs();
  }

  serves(group: UpstreamGroup): boolean {
    return this.options.groups.includes(group);
  }

  /** What the next call is expected to cost, for selection among nodes; `nowMs` is monotonic. */
  cost(nowMs: number): number {
    return this.#averages.cost(1 + this.inFlight / this.options.weight, nowMs);
  }

  /** Share of its last calls that failed, 0 to 1; it decays while the node gets no calls. */
  recentErrors(nowMs: number): number {
    return this.#averages.recentErrors(nowMs);
  }

  /** Takes one of the calls that its provider allows in this second. */
  takeTurn(): boolean {
    return this.#gate?.take() ?? true;
  }

  /**
   * Sends one call. The deadline covers waiting for a connection, the call and its body. Never rejects for a fault of
   * the node: that is an outcome.
   */
  call(call: UpstreamCall, deadlineMs = this.#limits.deadlineMs): Promise<UpstreamOutcome> {
    const { tracing } = this.#dependencies;
    if (tracing === null) return this.#exchange(call, deadlineMs);
    const attributes = { "sluice.network": this.#network, "sluice.upstream": this.label, "rpc.method": call.method };
    return tracing.span("upstream call", attributes, () => this.#exchange(call, deadlineMs));
  }

  #exchange(call: UpstreamCall, deadlineMs: number): Promise<UpstreamOutcome> {
    const { clock, onOutcome } = this.#dependencies;
    const startedMs = clock.monotonic();
    this.#nextId = (this.#nextId + 1) % 1_000_000_000;
    const id = String(this.#nextId);
    const body = bodyOf(call, id);
    const options = {
      deadlineMs,
      answerBytesMax: this.#limits.answerBytesMax,
      ownConnection: !isRead(call),
      large: call.largeFrom === undefined ? undefined : this.#largeOptions(call.largeFrom, id),
    };
    return this.#transport.exchange(body, options).then((exchanged) => {
      const nowMs = clock.monotonic();
      const outcome = this.#outcomeOf(call, id, exchanged, { nowMs, latencyMs: nowMs - startedMs });
      onOutcome(outcome, nowMs - startedMs);
      return outcome;
    });
  }

  #outcomeOf(
    call: UpstreamCall,
    id: string,
    exchanged: ExchangeOutcome,
    { nowMs, latencyMs }: { readonly nowMs: MonotonicMs; readonly latencyMs: number },
  ): UpstreamOutcome {
    if (exchanged.kind === "large") {
      const answer = this.#largeAnswer(exchanged, id);
      if (answer === null) return this.#refused(call, garbage, null);
      return this.#answered(answer, latencyMs, nowMs);
    }
    if (exchanged.kind !== "answered") {
      if (exchanged.kind === "unreachable") this.#unreachableAtMs = nowMs;
      // A full queue is no fault of the node, and the call itself causes an answer that is too large.
      const isFault = exchanged.kind !== "overloaded" && exchanged.kind !== "too-large";
      const repeatable = isRead(call) && exchanged.kind !== "too-large";
      return this.#failed(failures[exchanged.kind], { repeatable, fault: isFault ? "failed" : undefined });
    }
    const answer = readAnswer(exchanged.bytes, { id, position: call.position }, this.label);
    if (answer !== null && answer.errorCode === null) return this.#answered(answer, latencyMs, nowMs);
    const body = answer === null ? "other" : "error";
    const found = answerClass({ status: exchanged.status, body, code: answer?.errorCode ?? null });
    if (answer === null || found.refused !== null) return this.#refused(call, found, exchanged.retryAfter);
    if (found.node === "well") return this.#answered(answer, latencyMs, nowMs);
    this.#unreachableAtMs = Number.NEGATIVE_INFINITY;
    return { ok: true, answer, latencyMs, ...(found.node === "errored" ? { fault: found.node } : {}) };
  }

  /** A good answer, or an error of the call itself. */
  #answered(answer: NodeAnswer, latencyMs: number, nowMs: MonotonicMs): UpstreamOutcome {
    this.#unreachableAtMs = Number.NEGATIVE_INFINITY;
    this.breaker.passed(nowMs);
    this.rests.passed();
    this.#averages.add(latencyMs, 0, nowMs);
    return { ok: true, answer, latencyMs };
  }

  /** An answer that is not passed on. A rest for the rate begins at once: no call can cause that refusal. */
  #refused(
    call: UpstreamCall,
    { node, call: effect, refused }: AnswerClass,
    retryAfter: string | null,
  ): UpstreamOutcome {
    const waitMs = retryAfterMs(retryAfter, this.#dependencies.clock.now());
    if (node === "limited" && this.rests.limited(waitMs)) this.#dependencies.onRest("limited");
    const fault = node === "failed" || node === "denied" ? node : undefined;
    return this.#failed(refused ?? "UPSTREAM_INVALID", { repeatable: isRead(call) && effect === "elsewhere", fault });
  }

  /** Counts a fault that a call has shown, since another node has answered the same call. */
  count(fault: NodeFault, method: string): void {
    if (fault === "failed") this.breaker.failed();
    if (fault === "denied") {
      if (this.rests.methodRefused(method)) this.#dependencies.onRest("method");
      return;
    }
    this.#averages.add(null, 1, this.#dependencies.clock.monotonic());
    this.#dependencies.onFault();
  }

  /** The node refused a call of ours that no caller has shaped. */
  deny(): void {
    if (this.rests.denied()) this.#dependencies.onRest("denied");
  }

  #largeOptions(from: number, id: string) {
    const isPassedOn = (beginning: Uint8Array): boolean => readBeginning(beginning, id) !== null;
    return { from, isPassedOn, bytesMax: this.#limits.largeBytesMax };
  }

  /** An answer that is still arriving. A node that breaks it off has failed. */
  #largeAnswer({ beginning: bytes, rest }: Extract<ExchangeOutcome, { kind: "large" }>, id: string): NodeAnswer | null {
    const read = readBeginning(bytes, id);
    if (read === null) return null;
    const large = new LargeAnswer(
      { id, bytesMax: this.#limits.largeBytesMax },
      { bytes, read },
      {
        rest,
        onCut: (kind) => {
          if (kind === "unread" || kind === "too-large") return;
          this.breaker.failed();
          this.#averages.add(null, 1, this.#dependencies.clock.monotonic());
          this.#dependencies.onFault();
        },
      },
    );
    return comingAnswer(large, { bytes, valueStart: read.valueStart }, this.label);
  }

  #failed(
    refused: UpstreamFailure,
    { repeatable, fault }: { readonly repeatable: boolean; readonly fault: NodeFault | undefined },
  ): UpstreamOutcome {
    const rest = refused === "UPSTREAM_LIMITED" ? this.rests.whole : null;
    const retryAfterMs = rest === null ? undefined : rest.untilMs - this.#dependencies.clock.monotonic();
    return { ok: false, refused, label: this.label, repeatable, fault, message: messages[refused], retryAfterMs };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#transport[Symbol.dispose]();
    await this.feed[Symbol.asyncDispose]();
  }
}

const connectOver =
  ({ inFlightMax, waitingMax }: NodeLimits): ConnectNode =>
  ({ url, ws, headers }, dependencies) => ({
    transport: new Transport(
      {
        url,
        headers: { ...headers, "content-type": "application/json", accept: "application/json" },
        inFlightMax,
        waitingMax,
      },
      dependencies,
    ),
    feed: new SlotFeed({ url, ws, headers }, dependencies),
  });

function bodyOf({ method, params }: Pick<UpstreamCall, "method" | "params">, id: string): string {
  return `{"jsonrpc":"2.0","id":${id},"method":${quoted(method)}${params === null ? "" : `,"params":${params}`}}`;
}

/** The longest id that a call is sent under. */
const longestId = "9".repeat(9);

/** Whether a call is larger than so many bytes as it would go to a node. */
export function isLargerThan(call: Pick<UpstreamCall, "method" | "params">, bytesMax: number): boolean {
  // Three bytes a character are the most; nearly every call is far below.
  const characters = call.method.length + (call.params?.length ?? 0);
  return characters * 3 + 64 > bytesMax && Buffer.byteLength(bodyOf(call, longestId)) > bytesMax;
}

/** The calls a second that the provider of a node allows: a bucket that holds one second's worth. */
export class RateGate {
  readonly #perSecond: number;
  readonly #clock: Pick<Clock, "monotonic">;
  #tokens: number;
  #atMs: MonotonicMs;

  constructor(perSecond: number, dependencies: { readonly clock: Pick<Clock, "monotonic"> }) {
    this.#perSecond = perSecond;
    this.#clock = dependencies.clock;
    this.#tokens = perSecond;
    this.#atMs = dependencies.clock.monotonic();
  }

  take(): boolean {
    const nowMs = this.#clock.monotonic();
    this.#tokens = Math.min(this.#perSecond, this.#tokens + ((nowMs - this.#atMs) / 1_000) * this.#perSecond);
    this.#atMs = nowMs;
    if (this.#tokens < 1) return false;
    this.#tokens -= 1;
    return true;
  }
}

/** The weight of a new sample in the moving averages: about the last ten calls decide. */
const sampleWeight = 0.2;
/** Half of a latency's or an error's weight is gone when this much time has passed since it was measured. */
const halfLifeMs = 5_000;
const decayed = (ageMs: number): number => 2 ** (-ageMs / halfLifeMs);
/** A share of errors below this counts as zero; about sixty good calls after one that failed. */
const errorRateMin = 1e-6;
/** The share of successful calls below which a node's cost rises no further. */
const successesMin = 0.01;

/** Moving averages over the last calls of a node. All moments are monotonic milliseconds. */
class CallAverages {
  #latencyMs: number | null = null;
  #errorRate = 0;
  /** When a latency was last measured, and when a call last ended. */
  #measuredAtMs = 0;
  #endedAtMs = 0;

  get latencyMs(): number | null {
    return this.#latencyMs;
  }

  get errorRate(): number {
    return this.#errorRate;
  }

  /** Adds one call; `latencyMs` is null where it says nothing about the speed of the node. */
  add(latencyMs: number | null, error: 0 | 1, nowMs: number): void {
    const errorRate = this.#errorRate + sampleWeight * (error - this.#errorRate);
    this.#errorRate = errorRate < errorRateMin ? 0 : errorRate;
    this.#endedAtMs = nowMs;
    if (latencyMs === null) return;
    this.#measuredAtMs = nowMs;
    this.#latencyMs =
      this.#latencyMs === null ? latencyMs : this.#latencyMs + sampleWeight * (latencyMs - this.#latencyMs);
  }

  /**
   * Latency, increased by load and by errors. Measurements decay while the node gets no calls, so that one slow answer
   * does not exclude it.
   *
   * Errors weigh more than any load: a node that fails at once never has calls in flight, and looks idle beside the
   * nodes that do the work. Measured with one of three nodes that fails every call, 24 readers (bench/failover): 46% of
   * the reads went there while errors raised the cost to five times at most, 0.2% with this factor.
   */
  cost(load: number, nowMs: number): number {
    const latencyMs = (this.#latencyMs ?? 1) * decayed(nowMs - this.#measuredAtMs);
    const errors = this.recentErrors(nowMs);
    return latencyMs * load * ((1 + 4 * errors) / Math.max(1 - errors, successesMin));
  }

  recentErrors(nowMs: number): number {
    return this.#errorRate === 0 ? 0 : this.#errorRate * decayed(nowMs - this.#endedAtMs);
  }
}
