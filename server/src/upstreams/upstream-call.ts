import type { ErrorCode } from "@sluice/contract/errors";
import type { CommitmentName } from "@sluice/contract/rpc";
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
  /**
   * Bytes from which on the answer may be streamed (body kind `large`). Left out, it is gathered whole, within the
   * bound on answers.
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

interface FailedCall {
  readonly ok: false;
  readonly refused: UpstreamFailure;
  readonly label: string;
  /** Whether another node may be asked: the call had no effect. */
  readonly repeatable: boolean;
}

export type UpstreamOutcome = AnsweredCall | FailedCall;

/** Spans of calls, where an operator has loaded an OpenTelemetry SDK; the Tracing of observe. */
export interface UpstreamTracing {
  span<T>(name: string, attributes: Record<string, string>, work: () => T): T;
}
