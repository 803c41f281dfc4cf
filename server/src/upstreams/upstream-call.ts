import type { ErrorCode } from "@sluice/contract/errors";
import type { CommitmentName } from "@sluice/contract/rpc";
import type { NodeAnswer } from "./answer.ts";

/** One node as it is configured; config's upstream entries have this shape. */
export interface UpstreamOptions {
  /** Unique in its network; the only name of the node that outsiders see. */
  readonly label: string;
  readonly url: string;
  readonly ws: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly groups: readonly UpstreamGroup[];
  /** Its share of the calls, relative to the others'. */
  readonly weight: number;
  /** The most calls a second that it is sent; null is no limit. */
  readonly requestsPerSecond: number | null;
}

export type UpstreamGroup = "read" | "archive" | "send";

/** A call as the pool is handed it. */
export interface UpstreamCall {
  readonly method: string;
  /** JSON text of the parameters, an array; null leaves the member out. */
  readonly params: string | null;
  /**
   * `read` and `archive` may be repeated on another node; `once` goes to one node, once; `send` goes to each node of the
   * send group, once.
   */
  readonly kind: "read" | "archive" | "once" | "send";
  /** The commitment whose slots `minimumSlot` counts. */
  readonly commitment: CommitmentName;
  /** A node that is behind this slot does not answer while another has reached it; null where none was seen. */
  readonly minimumSlot: bigint | null;
  /**
   * Bytes from which on the answer may be handed out while it still comes (body kind `large`). Left out, it is gathered
   * whole, within the bound on answers.
   */
  readonly largeFrom?: number | undefined;
}

export type UpstreamFailure = Extract<
  ErrorCode,
  "NETWORK_UNAVAILABLE" | "UPSTREAM_TIMEOUT" | "UPSTREAM_INVALID" | "OVERLOADED"
>;

export interface AnsweredCall {
  readonly ok: true;
  readonly answer: NodeAnswer;
  readonly latencyMs: number;
}

export interface FailedCall {
  readonly ok: false;
  readonly refused: UpstreamFailure;
  readonly label: string;
  /** Another node may be asked: nothing came of it, or nothing that could have an effect. */
  readonly repeatable: boolean;
}

export type UpstreamOutcome = AnsweredCall | FailedCall;

/** Spans of calls, where an operator has loaded an OpenTelemetry SDK; observe's Tracing has this shape. */
export interface UpstreamTracing {
  span<T>(name: string, attributes: Record<string, string>, work: () => T): T;
}

/** Why a call was made beside the one that the client asked for. */
export type ExtraCall = "hedge" | "stalled" | "retry" | "stale" | "shadow";

/** What is told about calls to nodes; observe's events have this shape. */
export interface UpstreamEvents {
  upstreamCalled(
    network: string,
    upstream: string,
    outcome: "ok" | "rpc-error" | "timeout" | "unreachable" | "invalid" | "refused",
    latencyMs: number,
  ): void;
  /** A call beyond the client's own was made, and why. */
  extraCall(network: string, upstream: string, why: ExtraCall): void;
  /** No node had reached the slot that a key has already seen; the best one answered. */
  floorMissed(network: string): void;
  /** A fault of ours; the call goes on without the attempt in which it happened. */
  internalError(where: string, fault: unknown): void;
}

const failureNames = {
  NETWORK_UNAVAILABLE: "unreachable",
  UPSTREAM_TIMEOUT: "timeout",
  UPSTREAM_INVALID: "invalid",
  OVERLOADED: "refused",
} as const;

/** What metrics call an outcome. */
export function outcomeName(outcome: UpstreamOutcome): Parameters<UpstreamEvents["upstreamCalled"]>[2] {
  if (!outcome.ok) return failureNames[outcome.refused];
  return outcome.answer.errorCode === null ? "ok" : "rpc-error";
}
