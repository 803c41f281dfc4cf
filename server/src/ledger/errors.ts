import { ClickHouseError } from "@clickhouse/client";
import { CodedError, SluiceError } from "@sluice/contract/errors";

/**
 * The ledger could not be reached, or went away during the call. Whether the call took effect is not known; it may be
 * repeated (inserts are repeated by this room without doubling rows).
 */
export class LedgerUnavailableError extends SluiceError {
  constructor(reason: string, cause?: unknown) {
    super("OVERLOADED", { message: `The ledger is not available: ${reason}`, cause });
    this.name = "LedgerUnavailableError";
  }
}

/**
 * The engine refused or failed a statement; `engineCode` is ClickHouse's number (62 is SYNTAX_ERROR). The message may
 * quote the statement and its parameters: it is for operators and for the author of the statement.
 */
export class LedgerQueryError extends SluiceError {
  readonly engineCode: number;

  constructor(engineCode: number, message: string) {
    super("INTERNAL_ERROR", { message: message.slice(0, messageMax) });
    this.name = "LedgerQueryError";
    this.engineCode = engineCode;
  }

  /** Whether the same statement may succeed later: load, memory, network between servers, a replica that catches up. */
  get transient(): boolean {
    return transientCodes.has(this.engineCode);
  }
}

/** The caller aborted the call by its signal. */
export class LedgerAbortedError extends SluiceError {
  constructor() {
    super("INTERNAL_ERROR", { message: "The call to the ledger was aborted by its caller" });
    this.name = "LedgerAbortedError";
  }
}

/** The ledger cannot be opened; its sentence is for the operator, at start. */
export class LedgerOpenError extends CodedError<"CANNOT_OPEN"> {
  constructor(message: string) {
    super("CANNOT_OPEN", { message, details: {} });
  }
}

/** Characters kept of an engine's message, which repeats whole statements with their lists. */
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

/** Maps an error of `@clickhouse/client`. */
export function fromClient(error: unknown, signal?: AbortSignal): SluiceError {
  if (error instanceof SluiceError) return error;
  if (signal?.aborted) return new LedgerAbortedError();
  if (error instanceof ClickHouseError) {
    return new LedgerQueryError(Number(error.code), error.message.trim());
  }
  return new LedgerUnavailableError(error instanceof Error ? error.message : String(error), error);
}
