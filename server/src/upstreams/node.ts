import type { CommitmentName } from "@sluice/contract/rpc";
import type { Clock, MonotonicMs, Random } from "@sluice/lib";
import { SlotFeed } from "../chain/index.ts";
import { comingAnswer, type NodeAnswer, readAnswer } from "./answer.ts";
import { Breaker, breakerDefaults } from "./breaker.ts";
import { LargeAnswer, readBeginning } from "./large-answer.ts";
import { NodeAverages } from "./node-averages.ts";
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

/** Only these may be written again, to this node or another. */
const isRead = ({ kind }: UpstreamCall): boolean => kind === "read" || kind === "archive";

/** A method's name as JSON text; nearly all are plain, and the runtime's own quoting takes 0.2 µs. */
const quoted = (method: string): string => (/^[A-Za-z0-9_]+$/.test(method) ? `"${method}"` : JSON.stringify(method));

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
  readonly #told: (node: UpstreamNode, outcome: UpstreamOutcome, latencyMs: number) => void;
  readonly #transport: Transport;
  readonly #gate: RateGate | null;
  #nextId = 0;
  readonly #averages = new NodeAverages();
  /** When the last call found nobody there; monotonic, long ago when it never happened. */
  #unreachableAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    options: UpstreamOptions,
    limits: NodeLimits,
    dependencies: {
      clock: Clock;
      random: Random;
      onSlot: (commitment: CommitmentName, slot: bigint) => void;
      /** Told of each call once it is over. */
      told: (node: UpstreamNode, outcome: UpstreamOutcome, latencyMs: number) => void;
    },
  ) {
    this.label = options.label;
    this.options = options;
    this.#limits = limits;
    this.#clock = dependencies.clock;
    this.#told = dependencies.told;
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
    return this.#averages.latencyMs;
  }

  get errorRate(): number {
    return this.#averages.errorRate;
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

  /** What the next call is expected to take, for choosing among nodes. Monotonic milliseconds. */
  cost(nowMs: number): number {
    return this.#averages.cost(1 + this.inFlight / this.options.weight, nowMs);
  }

  /** Share of its last calls that failed, 0 to 1; it fades while the node is not asked. */
  recentErrors(nowMs: number): number {
    return this.#averages.recentErrors(nowMs);
  }

  /** Takes one of the calls that its provider allows in this second. */
  takeTurn(): boolean {
    return this.#gate?.take() ?? true;
  }

  /**
   * Sends one call under an id of our own. The deadline covers waiting for a connection, the call and its body. Neither
   * throws nor rejects for a fault of the node; `told` hears of it before the caller does.
   */
  call(call: UpstreamCall, deadlineMs = this.#limits.deadlineMs): Promise<UpstreamOutcome> {
    const startedMs = this.#clock.monotonic();
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
    return this.#transport.exchange(body, options).then((came) => {
      const nowMs = this.#clock.monotonic();
      const outcome = this.#judged(call, id, came, { nowMs, latencyMs: nowMs - startedMs });
      this.#told(this, outcome, nowMs - startedMs);
      return outcome;
    });
  }

  #judged(
    call: UpstreamCall,
    id: string,
    came: ExchangeOutcome,
    { nowMs, latencyMs }: { readonly nowMs: MonotonicMs; readonly latencyMs: number },
  ): UpstreamOutcome {
    if (came.kind !== "answered" && came.kind !== "large") {
      if (came.kind === "unreachable") this.#unreachableAtMs = nowMs;
      // A full queue is ours; an answer that is too large is the question's.
      if (came.kind !== "overloaded" && came.kind !== "too-large") this.breaker.failed();
      return this.#failed(refusals[came.kind], isRead(call) && came.kind !== "too-large", nowMs);
    }
    const answer = came.kind === "large" ? this.#coming(came, id) : readAnswer(came.bytes, id, this.label);
    if (answer === null) {
      this.breaker.failed();
      // A balancer before the node says no in words of its own; that is not an answer of the node.
      const isRefusal = came.kind === "answered" && (came.status === 429 || came.status >= 500);
      return this.#failed(isRefusal ? "NETWORK_UNAVAILABLE" : "UPSTREAM_INVALID", isRead(call), nowMs);
    }
    this.#unreachableAtMs = Number.NEGATIVE_INFINITY;
    // Only its own word that it is behind speaks against the node itself; an internal error the call may have caused.
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
          this.#averages.add(null, 1, this.#clock.monotonic());
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
