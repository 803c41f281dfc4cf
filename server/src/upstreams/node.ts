import { type CommitmentName, SlotFeed } from "../chain/index.ts";
import type { Clock, Random } from "../lib/index.ts";
import { comingAnswer, type NodeAnswer, readAnswer } from "./answer.ts";
import { Breaker, breakerDefaults } from "./breaker.ts";
import { LargeAnswer, readBeginning } from "./large-answer.ts";
import { RateGate } from "./rate-gate.ts";
import { type ExchangeOutcome, Transport } from "./transport.ts";
import type {
  UpstreamCall,
  UpstreamFailure,
  UpstreamGroup,
  UpstreamOptions,
  UpstreamOutcome,
} from "./upstream-call.ts";

export interface NodeLimits {
  readonly deadlineMs: number;
  readonly answerBytesMax: number;
  /** For an answer that is passed on while it comes and takes up no memory. */
  readonly largeBytesMax: number;
  readonly inFlightMax: number;
  readonly waitingMax: number;
}

/** The weight of a new sample in the moving averages: the last ten or so calls decide. */
const sampleWeight = 0.2;
/** What a latency or an error is worth when so long has passed since it was measured: half. */
const halfLifeMs = 5_000;
const faded = (ageMs: number): number => 2 ** (-ageMs / halfLifeMs);
/** The share of passing calls below which a node is not counted as worse still. */
const passesMin = 0.01;

/**
 * Errors of a node that is unwell. They come sooner than any answer: were their latency taken for the node's, it would look
 * like the quickest one.
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

/** What an operator has said of a node: `cordoned` gets no calls until he takes it back, `drained` is on its way out. */
export type NodeOrder = "open" | "cordoned" | "drained";

/** One upstream node: its connections, its averages, its breaker and how far it is. */
export class UpstreamNode implements AsyncDisposable {
  readonly label: string;
  readonly options: UpstreamOptions;
  readonly feed: SlotFeed;
  readonly breaker: Breaker;
  order: NodeOrder = "open";
  /** The pool's judgement at the last look; see standing.ts. */
  isIn = false;
  /** Trials that went well since it was taken out; what brings it back. */
  trialsPassed = 0;
  isOnTrial = false;
  readonly #limits: NodeLimits;
  readonly #clock: Clock;
  readonly #transport: Transport;
  readonly #gate: RateGate | null;
  #nextId = 0;
  #latencyMs: number | null = null;
  #errorRate = 0;
  /** When a latency was last measured, and when anything came of a call. */
  #sampledAtMs = 0;
  #askedAtMs = 0;
  /** When the last call found nobody there; monotonic, long ago when it never happened. */
  #unreachableAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    options: UpstreamOptions,
    limits: NodeLimits,
    dependencies: { clock: Clock; random: Random; onSlot: (commitment: CommitmentName, slot: bigint) => void },
  ) {
    this.label = options.label;
    this.options = options;
    this.#limits = limits;
    this.#clock = dependencies.clock;
    this.breaker = new Breaker(breakerDefaults, dependencies);
    this.#gate = options.requestsPerSecond === null ? null : new RateGate(options.requestsPerSecond, dependencies);
    this.#transport = new Transport(
      {
        url: options.url,
        headers: { ...options.headers, "content-type": "application/json", accept: "application/json" },
        inFlightMax: limits.inFlightMax,
        waitingMax: limits.waitingMax,
      },
      dependencies,
    );
    this.feed = new SlotFeed({ url: options.url, ws: options.ws, headers: options.headers }, dependencies);
  }

  get latencyMs(): number | null {
    return this.#latencyMs;
  }

  get errorRate(): number {
    return this.#errorRate;
  }

  get inFlight(): number {
    return this.#transport.inFlight;
  }

  /** Whether it could not be reached since it was last heard of. */
  get isUnreachable(): boolean {
    return this.#clock.monotonic() - this.#unreachableAtMs < this.feed.silentForMs();
  }

  serves(group: UpstreamGroup): boolean {
    return this.options.groups.includes(group);
  }

  /**
   * What the next call is expected to take, for choosing among nodes: latency, made worse by load and by errors. What is
   * known of a node that was not asked for a while counts less and less, so that one slow answer does not shut it out.
   *
   * Errors weigh more than any load does: a node that fails at once never has calls under way, and looks idle beside the
   * ones that do the work. Measured with one of three nodes that fails every call, 24 readers (bench/failover): 46% of the
   * reads went there while errors made it five times dearer at most, 0.2% with this factor.
   */
  get cost(): number {
    const load = 1 + this.inFlight / this.options.weight;
    const nowMs = this.#clock.monotonic();
    const latencyMs = (this.#latencyMs ?? 1) * faded(nowMs - this.#sampledAtMs);
    const errors = this.recentErrors;
    return latencyMs * load * ((1 + 4 * errors) / Math.max(1 - errors, passesMin));
  }

  /** Share of its last calls that failed, 0 to 1; it fades while the node is not asked. */
  get recentErrors(): number {
    return this.#errorRate * faded(this.#clock.monotonic() - this.#askedAtMs);
  }

  /** Takes one of the calls that its provider allows in this second. */
  takeTurn(): boolean {
    return this.#gate?.take() ?? true;
  }

  /** Sends one call under an id of our own. The deadline covers waiting for a connection, the call and its body. */
  async call(call: UpstreamCall, deadlineMs = this.#limits.deadlineMs): Promise<UpstreamOutcome> {
    const startedMs = this.#clock.monotonic();
    const isRead = call.kind === "read" || call.kind === "archive";
    this.#nextId = (this.#nextId + 1) % 1_000_000_000;
    const id = String(this.#nextId);
    const params = call.params === null ? "" : `,"params":${call.params}`;
    const body = `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(call.method)}${params}}`;
    const outcome = await this.#transport.exchange(body, {
      deadlineMs,
      answerBytesMax: this.#limits.answerBytesMax,
      ownConnection: !isRead,
      ...(call.largeFrom === undefined ? {} : { large: this.#largeOptions(call.largeFrom, id) }),
    });
    const latencyMs = this.#clock.monotonic() - startedMs;
    if (outcome.kind !== "answered" && outcome.kind !== "large") {
      const refused = refusals[outcome.kind];
      if (outcome.kind === "unreachable") this.#unreachableAtMs = this.#clock.monotonic();
      // A full queue is ours; an answer that is too large is the question's.
      if (outcome.kind !== "overloaded" && outcome.kind !== "too-large") this.breaker.failed();
      return this.#failed(refused, isRead && outcome.kind !== "too-large");
    }
    const answer = outcome.kind === "large" ? this.#coming(outcome, id) : readAnswer(outcome.bytes, id, this.label);
    if (answer === null) {
      this.breaker.failed();
      // A balancer before the node says no in words of its own; that is not an answer of the node.
      const isRefusal = outcome.kind === "answered" && (outcome.status === 429 || outcome.status >= 500);
      return this.#failed(isRefusal ? "NETWORK_UNAVAILABLE" : "UPSTREAM_INVALID", isRead);
    }
    this.#unreachableAtMs = Number.NEGATIVE_INFINITY;
    // Only its own word that it is behind speaks against the node itself; an internal error the call may have caused.
    if (answer.errorCode === nodeBehind) this.breaker.failed();
    else this.breaker.passed();
    if (answer.errorCode === nodeBehind || answer.errorCode === internalError) this.#sample(null, 1);
    else this.#sample(latencyMs, 0);
    return { ok: true, answer, latencyMs };
  }

  #largeOptions(from: number, id: string) {
    const isPassedOn = (beginning: Uint8Array): boolean => readBeginning(beginning, id) !== null;
    return { from, isPassedOn, bytesMax: this.#limits.largeBytesMax };
  }

  /** A node that breaks off an answer has failed, however well it began. */
  #coming({ beginning: bytes, rest }: Extract<ExchangeOutcome, { kind: "large" }>, id: string): NodeAnswer | null {
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
          this.#sample(null, 1);
        },
      },
    );
    return comingAnswer(large, { bytes, valueStart: read.valueStart }, this.label);
  }

  #failed(refused: UpstreamFailure, repeatable: boolean): UpstreamOutcome {
    this.#sample(null, 1);
    return { ok: false, refused, label: this.label, repeatable };
  }

  #sample(latencyMs: number | null, error: 0 | 1): void {
    this.#errorRate += sampleWeight * (error - this.#errorRate);
    this.#askedAtMs = this.#clock.monotonic();
    if (latencyMs === null) return;
    this.#sampledAtMs = this.#askedAtMs;
    this.#latencyMs =
      this.#latencyMs === null ? latencyMs : this.#latencyMs + sampleWeight * (latencyMs - this.#latencyMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#transport[Symbol.dispose]();
    await this.feed[Symbol.asyncDispose]();
  }
}
