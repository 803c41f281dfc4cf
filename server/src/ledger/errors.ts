import { ClickHouseError } from "@clickhouse/client";
import { SluiceError } from "@sluice/contract/errors";

/**
 * The ledger could not be reached, or went away during the call. Whether the call took effect is not known; it may be
 * repeated (inserts of this room repeat themselves without doubling rows).
 */
export class LedgerUnavailableError extends SluiceError {
  constructor(reason: string, cause?: unknown) {
    super("OVERLOADED", { message: `The ledger is not available: ${reason}`, cause });
    this.name = "LedgerUnavailableError";
  }
}

/**
 * The engine refused or failed a statement; `engineCode` is ClickHouse's number (62 is SYNTAX_ERROR). The message may
 * quote the statement and its parameters: it is for operators and for the statement's own author.
 */
export class LedgerQueryError extends SluiceError {
  readonly engineCode: number;

  constructor(engineCode: number, message: string) {
    super("INTERNAL_ERROR", { message: message.slice(0, messageMax) });
    this.name = "LedgerQueryError";
    this.engineCode = engineCode;
  }

  /** True when the same statement may succeed later: load, memory, network between servers, a replica catching up. */
  get transient(): boolean {
    return transientCodes.has(this.engineCode);
  }
}

/** The caller's own signal ended the call. */
export class LedgerAbortedError extends SluiceError {
  constructor() {
    super("INTERNAL_ERROR", { message: "The call to the ledger was aborted by its caller" });
    this.name = "LedgerAbortedError";
  }
}

/** The ledger cannot be opened as asked; for the operator, at start. */
export class LedgerOpenError extends Error {
  constructor(message: string) {
    super(message);
    this.name = "LedgerOpenError";
  }
}

/** Characters kept of an engine's message: it repeats whole statements, long lists included. */
const messageMax = 1_000;

const transientCodes = new Set([
  159, // TIMEOUT_EXCEEDED
  202, // TOO_MANY_SIMULTANEOUS_QUERIES
  209, // SOCKET_TIMEOUT
  210, // NETWORK_ERROR
  236, // ABORTED
  241, // MEMORY_LIMIT_EXCEEDED
  242, // TABLE_IS_READ_ONLY
  243, // NOT_ENOUGH_SPACE
  252, // TOO_MANY_PARTS
  279, // ALL_CONNECTION_TRIES_FAILED
  319, // UNKNOWN_STATUS_OF_INSERT
  394, // QUERY_WAS_CANCELLED
  439, // CANNOT_SCHEDULE_TASK
  999, // KEEPER_EXCEPTION
]);

/** Maps whatever `@clickhouse/client` threw. */
export function fromClient(thrown: unknown, signal?: AbortSignal): SluiceError {
  if (thrown instanceof SluiceError) return thrown;
  if (signal?.aborted) return new LedgerAbortedError();
  if (thrown instanceof ClickHouseError) {
    return new LedgerQueryError(Number(thrown.code), thrown.message.trim());
  }
  return new LedgerUnavailableError(thrown instanceof Error ? thrown.message : String(thrown), thrown);
}
