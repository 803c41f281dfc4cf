import type { ErrorCode } from "@sluice/contract";
import { type CommitmentName, SlotFeed } from "../chain/index.ts";
import type { Clock, Random } from "../lib/index.ts";
import { type NodeAnswer, readAnswer } from "./answer.ts";
import { Transport } from "./transport.ts";

/** One node as it is configured; config's upstream entries have this shape. */
export interface UpstreamOptions {
  readonly label: string;
  readonly url: string;
  readonly ws: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** A call as a node is sent it. */
export interface UpstreamCall {
  readonly method: string;
  /** JSON text of the parameters, an array; null leaves the member out. */
  readonly params: string | null;
  /** `send` goes out exactly once, on a connection of its own. */
  readonly kind: "read" | "send";
}

export type UpstreamFailure = Extract<
  ErrorCode,
  "NETWORK_UNAVAILABLE" | "UPSTREAM_TIMEOUT" | "UPSTREAM_INVALID" | "OVERLOADED"
>;

export type UpstreamOutcome =
  | { readonly ok: true; readonly answer: NodeAnswer; readonly latencyMs: number }
  | { readonly ok: false; readonly refused: UpstreamFailure; readonly label: string; readonly repeatable: boolean };

/** Spans of calls, where an operator has loaded an OpenTelemetry SDK; observe's Tracing has this shape. */
export interface UpstreamTracing {
  span<T>(name: string, attributes: Record<string, string>, work: () => T): T;
}

/** What is told about each call to a node; observe's events have this shape. */
export interface UpstreamEvents {
  upstreamCalled(
    network: string,
    upstream: string,
    outcome: "ok" | "rpc-error" | "timeout" | "unreachable" | "invalid" | "refused",
    latencyMs: number,
  ): void;
}

export interface NodeLimits {
  readonly deadlineMs: number;
  readonly answerBytesMax: number;
  readonly inFlightMax: number;
  readonly waitingMax: number;
}

/** The weight of a new sample in the moving averages: the last ten or so calls decide. */
const sampleWeight = 0.2;

const refusals = {
  timeout: "UPSTREAM_TIMEOUT",
  unreachable: "NETWORK_UNAVAILABLE",
  "too-large": "UPSTREAM_INVALID",
  malformed: "UPSTREAM_INVALID",
  overloaded: "OVERLOADED",
} as const;

/** How the node does, as the console and getHealth see it. */
export interface NodeView {
  readonly label: string;
  readonly slot: bigint | null;
  readonly latencyMs: number | null;
  readonly errorRate: number;
  readonly inFlight: number;
  /** Since the node was last heard of on any of its ways. */
  readonly silentForMs: number;
  /** Whether it could not be reached since it was last heard of. */
  readonly isUnreachable: boolean;
}

/** One upstream node: its connection, its averages and how far it is. */
export class UpstreamNode implements AsyncDisposable {
  readonly label: string;
  readonly ws: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly feed: SlotFeed;
  readonly #limits: NodeLimits;
  readonly #clock: Clock;
  readonly #transport: Transport;
  #nextId = 0;
  #latencyMs: number | null = null;
  #errorRate = 0;
  /** When the last call found nobody there; monotonic, long ago when it never happened. */
  #unreachableAtMs = Number.NEGATIVE_INFINITY;

  constructor(
    options: UpstreamOptions & { readonly limits: NodeLimits },
    dependencies: { clock: Clock; random: Random; onSlot: (commitment: CommitmentName, slot: bigint) => void },
  ) {
    this.label = options.label;
    this.ws = options.ws;
    this.headers = options.headers;
    this.#limits = options.limits;
    this.#clock = dependencies.clock;
    this.#transport = new Transport(
      {
        url: options.url,
        headers: { ...options.headers, "content-type": "application/json", accept: "application/json" },
        inFlightMax: options.limits.inFlightMax,
        waitingMax: options.limits.waitingMax,
      },
      dependencies,
    );
    this.feed = new SlotFeed({ url: options.url, ws: options.ws, headers: options.headers }, dependencies);
  }

  view(): NodeView {
    return {
      label: this.label,
      slot: this.feed.slotOf("processed"),
      latencyMs: this.#latencyMs,
      errorRate: this.#errorRate,
      inFlight: this.#transport.inFlight,
      silentForMs: this.feed.silentForMs(),
      isUnreachable: this.#clock.monotonic() - this.#unreachableAtMs < this.feed.silentForMs(),
    };
  }

  /** Sends one call under an id of our own. The deadline covers waiting for a connection, the call and its body. */
  async call(call: UpstreamCall, deadlineMs = this.#limits.deadlineMs): Promise<UpstreamOutcome> {
    const startedMs = this.#clock.monotonic();
    this.#nextId = (this.#nextId + 1) % 1_000_000_000;
    const id = String(this.#nextId);
    const params = call.params === null ? "" : `,"params":${call.params}`;
    const body = `{"jsonrpc":"2.0","id":${id},"method":${JSON.stringify(call.method)}${params}}`;
    const outcome = await this.#transport.exchange(body, {
      deadlineMs,
      answerBytesMax: this.#limits.answerBytesMax,
      ownConnection: call.kind === "send",
    });
    const latencyMs = this.#clock.monotonic() - startedMs;
    if (outcome.kind !== "answered") {
      const refused = refusals[outcome.kind];
      if (outcome.kind === "unreachable") this.#unreachableAtMs = this.#clock.monotonic();
      return this.#failed(refused, refused === "NETWORK_UNAVAILABLE" && call.kind === "read");
    }
    const answer = readAnswer(outcome.bytes, id, this.label);
    // A balancer before the node says no in words of its own; that is not an answer of the node.
    if (answer === null && (outcome.status === 429 || outcome.status === 503)) {
      return this.#failed("NETWORK_UNAVAILABLE", false);
    }
    if (answer === null) return this.#failed("UPSTREAM_INVALID", false);
    this.#sample(latencyMs, 0);
    this.#unreachableAtMs = Number.NEGATIVE_INFINITY;
    return { ok: true, answer, latencyMs };
  }

  #failed(refused: UpstreamFailure, repeatable: boolean): UpstreamOutcome {
    this.#sample(null, 1);
    return { ok: false, refused, label: this.label, repeatable };
  }

  #sample(latencyMs: number | null, error: 0 | 1): void {
    this.#errorRate += sampleWeight * (error - this.#errorRate);
    if (latencyMs === null) return;
    this.#latencyMs =
      this.#latencyMs === null ? latencyMs : this.#latencyMs + sampleWeight * (latencyMs - this.#latencyMs);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#transport[Symbol.dispose]();
    await this.feed[Symbol.asyncDispose]();
  }
}
