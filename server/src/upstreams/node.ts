import type { CommitmentName } from "@sluice/contract/rpc";
import type { Network } from "@sluice/contract/tiers";
import type { Clock, MonotonicMs, Random } from "@sluice/lib";
import { SlotFeed } from "../chain/index.ts";
import type { UpstreamConfig, UpstreamGroup } from "../config/index.ts";
import { comingAnswer, type NodeAnswer, readAnswer } from "./answer.ts";
import { Breaker, breakerDefaults } from "./breaker.ts";
import { LargeAnswer, readBeginning } from "./large-answer.ts";
import { type ExchangeOutcome, Transport } from "./transport.ts";
import type { UpstreamCall, UpstreamFailure, UpstreamOutcome, UpstreamTracing } from "./upstream-call.ts";

export interface NodeLimits {
  readonly deadlineMs: number;
  readonly answerBytesMax: number;
  /** For an answer that is streamed to its caller and takes no memory. */
  readonly largeBytesMax: number;
  readonly inFlightMax: number;
  readonly waitingMax: number;
}

/**
 * Errors of an unhealthy node. They arrive sooner than any answer: if their latency counted, the node would look like
 * the quickest one.
 */
const nodeBehind = -32005;
const internalError = -32603;

const refusals = {
  timeout: "UPSTREAM_TIMEOUT",
  unreachable: "NETWORK_UNAVAILABLE",
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
}

/** One upstream node: its connections, its rate, the averages of its calls, its breaker and its slots. */
export class UpstreamNode implements AsyncDisposable {
  readonly label: string;
  readonly options: UpstreamConfig;
  readonly feed: SlotFeed;
  readonly breaker: Breaker;
  order: NodeOrder = "open";
  /** Whether it gets calls: the last decision of NodeHealth. */
  isIn = false;
  /** Good trials in a row since it was taken out. */
  trialsPassed = 0;
  isOnTrial = false;
  readonly #network: Network;
  readonly #limits: NodeLimits;
  readonly #dependencies: UpstreamNodeDependencies;
  readonly #transport: Transport;
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
    const { url, ws, headers, requestsPerSecond } = upstream;
    this.breaker = new Breaker(breakerDefaults, dependencies);
    this.#gate = requestsPerSecond === null ? null : new RateGate(requestsPerSecond, dependencies);
    this.#transport = new Transport(
      {
        url,
        headers: { ...headers, "content-type": "application/json", accept: "application/json" },
        inFlightMax: limits.inFlightMax,
        waitingMax: limits.waitingMax,
      },
      dependencies,
    );
    this.feed = new SlotFeed({ url, ws, headers }, dependencies);
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
    const params = call.params === null ? "" : `,"params":${call.params}`;
    const body = `{"jsonrpc":"2.0","id":${id},"method":${quoted(call.method)}${params}}`;
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
    if (exchanged.kind !== "answered" && exchanged.kind !== "large") {
      if (exchanged.kind === "unreachable") this.#unreachableAtMs = nowMs;
      // A full queue is no fault of the node, and the call itself causes an answer that is too large.
      if (exchanged.kind !== "overloaded" && exchanged.kind !== "too-large") this.breaker.failed();
      return this.#failed(refusals[exchanged.kind], isRead(call) && exchanged.kind !== "too-large", nowMs);
    }
    const answer =
      exchanged.kind === "large" ? this.#largeAnswer(exchanged, id) : readAnswer(exchanged.bytes, id, this.label);
    if (answer === null) {
      this.breaker.failed();
      // A load balancer in front of the node may refuse in its own format; that is not an answer of the node.
      const isRefusal = exchanged.kind === "answered" && (exchanged.status === 429 || exchanged.status >= 500);
      return this.#failed(isRefusal ? "NETWORK_UNAVAILABLE" : "UPSTREAM_INVALID", isRead(call), nowMs);
    }
    this.#unreachableAtMs = Number.NEGATIVE_INFINITY;
    // Only "node is behind" counts against the node itself; the call may have caused an internal error.
    if (answer.errorCode === nodeBehind) this.breaker.failed();
    else this.breaker.passed(nowMs);
    if (answer.errorCode === nodeBehind || answer.errorCode === internalError) this.#averages.add(null, 1, nowMs);
    else this.#averages.add(latencyMs, 0, nowMs);
    return { ok: true, answer, latencyMs };
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
        },
      },
    );
    return comingAnswer(large, { bytes, valueStart: read.valueStart }, this.label);
  }

  #failed(refused: UpstreamFailure, repeatable: boolean, nowMs: number): UpstreamOutcome {
    this.#averages.add(null, 1, nowMs);
    return { ok: false, refused, label: this.label, repeatable };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#transport[Symbol.dispose]();
    await this.feed[Symbol.asyncDispose]();
  }
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
