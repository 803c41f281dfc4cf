import type { ErrorCode } from "@sluice/contract/errors";
import type { AnswerPosition, CommitmentName } from "@sluice/contract/rpc";
import type { NodeAnswer } from "./answer.ts";

/** A call as the pool receives it. */
export interface UpstreamCall {
  readonly method: string;
  /** JSON text of the parameters, an array; null leaves the member out. */
  readonly params: string | null;
  /**
   * `read` and `archive` may be repeated on another node; `once` goes to one node, once; `send` goes to each node of
   * the send group, once.
   */
  readonly kind: "read" | "archive" | "once" | "send";
  /** The commitment whose slots `minimumSlot` counts. */
  readonly commitment: CommitmentName;
  /** A node behind this slot is not asked while another has reached it; null without a minimum. */
  readonly minimumSlot: bigint | null;
  /** How the answer states how far the chain was; `context` when left out. */
  readonly position?: AnswerPosition;
  /** An answer whose height or counter is below this is as good as one from before `minimumSlot`. */
  readonly minimumNumber?: bigint | null;
  /**
   * Bytes from which on the answer may be streamed (body kind `large`). Left out, it is gathered whole, within the
   * bound on answers.
   */
  readonly largeFrom?: number | undefined;
}

export type UpstreamFailure = Extract<
  ErrorCode,
  | "NETWORK_UNAVAILABLE"
  | "UPSTREAM_TIMEOUT"
  | "UPSTREAM_INVALID"
  | "UPSTREAM_LIMITED"
  | "OVERLOADED"
  | "BODY_TOO_LARGE"
  | "INVALID_PARAMS"
>;

/**
 * What a call shows against its node. The call may have caused it, so it counts only where another node answers the
 * same call. `failed`: a failure of the breaker and of the share of errors. `errored`: of the share of errors alone.
 * `denied`: the node rests for the method.
 */
export type NodeFault = "failed" | "errored" | "denied";

export interface AnsweredCall {
  readonly ok: true;
  readonly answer: NodeAnswer;
  readonly latencyMs: number;
  readonly fault?: NodeFault;
}

export interface FailedCall {
  readonly ok: false;
  readonly refused: UpstreamFailure;
  readonly label: string;
  /** Whether another node may be asked: the call had no effect. */
  readonly repeatable: boolean;
  readonly fault?: NodeFault | undefined;
  /** Replaces the code's text for the caller. */
  readonly message?: string | undefined;
  /** Milliseconds until a node may be asked again; for UPSTREAM_LIMITED. */
  readonly retryAfterMs?: number | undefined;
}

export type UpstreamOutcome = AnsweredCall | FailedCall;

/** Spans of calls, where an operator has loaded an OpenTelemetry SDK; the Tracing of observe. */
export interface UpstreamTracing {
  span<T>(name: string, attributes: Record<string, string>, work: () => T): T;
}
