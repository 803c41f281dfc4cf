import { type BundleReason, type EngineErrorCode, engineErrorTable } from "@sluice/contract/engine";
import type { CallContext, GrpcErrorStatus, GrpcStatusError } from "../../net/index.ts";
import { type RecordedCaller, type RefusalRecords, recordRefusal } from "../model/refusal-records.ts";

interface Call {
  readonly startedMs: number;
  caller: RecordedCaller | null;
}

/** What a status is in the records where the fault says nothing more exact. */
const codes: Readonly<Record<GrpcErrorStatus, EngineErrorCode>> = {
  UNKNOWN: "INTERNAL_ERROR",
  INVALID_ARGUMENT: "INVALID_INPUT",
  UNAUTHENTICATED: "MISSING_API_KEY",
  PERMISSION_DENIED: "PERMISSION_DENIED",
  RESOURCE_EXHAUSTED: "RATE_LIMIT_EXCEEDED",
  OUT_OF_RANGE: "INVALID_INPUT",
  UNIMPLEMENTED: "NOT_FOUND",
  INTERNAL: "INTERNAL_ERROR",
  UNAVAILABLE: "UNAVAILABLE",
};

/**
 * The records of what is refused over gRPC, for callers whose account is known, as the REST endpoint has them. The
 * status is that of REST for the same refusal; a bundle's fault is an answer, so its status is 200.
 */
export class CallRecords {
  readonly #records: RefusalRecords;
  readonly #calls = new WeakMap<CallContext, Call>();

  constructor(records: RefusalRecords) {
    this.#records = records;
  }

  begin(context: CallContext): void {
    this.#calls.set(context, { startedMs: this.#records.clock.monotonic(), caller: null });
  }

  identified(context: CallContext, caller: RecordedCaller): void {
    const call = this.#calls.get(context);
    if (call !== undefined) call.caller = caller;
  }

  /** The call ended with a status. */
  readonly refused = (context: CallContext, { code, details: { publicCode } }: GrpcStatusError): void => {
    const shown = codes[code];
    this.#record(context, { code: publicCode ?? shown, status: engineErrorTable[shown].status });
  };

  /** A bundle of the call, or of its stream, was not taken; `sinceMs`, monotonic, is when it came. */
  rejected(context: CallContext, reason: BundleReason, sinceMs?: number): void {
    this.#record(context, { code: reason, status: 200 }, sinceMs);
  }

  #record(context: CallContext, answer: { readonly code: string; readonly status: number }, sinceMs?: number): void {
    const call = this.#calls.get(context);
    if (call === undefined || call.caller === null) return;
    const { requestId, method } = context;
    recordRefusal(this.#records, {
      ...answer,
      requestId,
      method,
      caller: call.caller,
      sinceMs: sinceMs ?? call.startedMs,
    });
  }
}
