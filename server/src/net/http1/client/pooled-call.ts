import type { BodySource } from "./body-source.ts";
import type { RequestTarget } from "./request-target.ts";
import type { ResponseReader } from "./response-reader.ts";

export interface ConnectionPoolOptions {
  readonly target: RequestTarget;
  /** Connections at a time, and so calls on the wire. */
  readonly connectionsMax: number;
  /** Calls that wait for a connection; more are refused. */
  readonly waitingMax: number;
  /** An idle connection is closed after this; shorter than nodes and balancers commonly keep theirs (5 s and more). */
  readonly idleMsMax?: number;
  /** A connection that is not there by then counts as refused, so that a read still has time for another node. */
  readonly connectMsMax?: number;
  /** PEM; the roots that certificates are verified by in place of the runtime's. */
  readonly authorities?: readonly string[];
}

/** One call while it is in the pool's hands. */
export interface PooledCall {
  /** JSON text. */
  readonly body: string;
  readonly ownConnection: boolean;
  readonly answerBytesMax: number;
  /** Bytes of body beyond which it is handed out as it comes; infinite for who wants it whole. */
  readonly streamsFrom: number;
  /** Monotonic milliseconds. */
  readonly deadlineAt: number;
  readonly settle: (outcome: PooledOutcome) => void;
  /** Whether it has been written to a kept connection that turned out to be closed. */
  isRepeated: boolean;
}

export type PooledOutcome =
  | { readonly kind: "answered"; readonly status: number; readonly bytes: Uint8Array; readonly coding: string | null }
  /** It is large and still coming. The source reports how it ends. */
  | {
      readonly kind: "streaming";
      readonly status: number;
      readonly coding: string | null;
      readonly contentLength: number | null;
      readonly source: BodySource;
    }
  | { readonly kind: "timeout" | "unreachable" | "too-large" | "malformed" }
  | { readonly kind: "overloaded" };

type Ending = Exclude<PooledOutcome, { kind: "streaming" | "overloaded" }> | { readonly kind: "unread" };

/** A call that has been taken off its connection, and who reads its body if that is handed out already. */
export class UnderWay {
  readonly call: PooledCall;
  readonly #source: BodySource | null;

  constructor(call: PooledCall, source: BodySource | null) {
    this.call = call;
    this.#source = source;
  }

  get isRepeatable(): boolean {
    return !this.call.ownConnection && !this.call.isRepeated;
  }

  /** Reports the outcome to the caller. Only a body that is handed out can be left unread. */
  settle(ending: Ending): void {
    if (this.#source === null) {
      if (ending.kind !== "unread") this.call.settle(ending);
    } else if (ending.kind === "answered") this.#source.end();
    else this.#source.fail(ending.kind);
  }
}

export function answerIn(reader: ResponseReader): Extract<PooledOutcome, { kind: "answered" }> {
  return { kind: "answered", status: reader.head.status, bytes: reader.body(), coding: reader.head.contentEncoding };
}
