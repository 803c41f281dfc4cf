import { ClickHouseError } from "@clickhouse/client";
import { CodedError, SluiceError } from "@sluice/contract/errors";

/**
 * The ledger could not be reached, or went away during the call. Whether the call took effect is not known; it may be
 * repeated (inserts are repeated by this room without doubling rows).
 */
export class LedgerUnavailableError extends SluiceError {
  constructor(reason: string, cause?: unknown) {
    super("STORE_UNAVAILABLE", { message: `The ledger is not available: ${reason}`, cause });
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

  /**
   * Whether the same statement may succeed later: load, memory, a full or failing disk, the network between servers, a
   * replica that catches up.
   */
  get transient(): boolean {
    if (transientCodes.has(this.engineCode)) return true;
    return fileCodes.has(this.engineCode) && diskFault.test(this.message);
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
export class LedgerOpenError extends CodedError<"CANNOT_OPEN" | "ABSENT"> {
  constructor(message: string, code: "CANNOT_OPEN" | "ABSENT" = "CANNOT_OPEN") {
    super(code, { message, details: {} });
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
  285, // TOO_FEW_LIVE_REPLICAS
  286, // UNSATISFIED_QUORUM_FOR_PREVIOUS_WRITE
  319, // UNKNOWN_STATUS_OF_INSERT
  394, // QUERY_WAS_CANCELLED
  425, // SYSTEM_ERROR
  439, // CANNOT_SCHEDULE_TASK
  999, // KEEPER_EXCEPTION
]);

/** Codes under which the engine reports what the operating system told it of a file. */
const fileCodes = new Set([
  74, // CANNOT_READ_FROM_FILE_DESCRIPTOR
  75, // CANNOT_WRITE_TO_FILE_DESCRIPTOR
  76, // CANNOT_OPEN_FILE
  77, // CANNOT_CLOSE_FILE
  172, // CANNOT_CREATE_DIRECTORY
  1000, // POCO_EXCEPTION
  1001, // STD_EXCEPTION
  1002, // UNKNOWN_EXCEPTION
]);

/**
 * The operating system's words for what passes: ENOSPC, EDQUOT, EROFS, EIO, EMFILE, ENFILE. Only looked for under
 * `fileCodes`: other messages quote values of the rows.
 */
const diskFault =
  /No space left on device|Disk quota exceeded|Read-only file system|(?:Input\/output|I\/O) error|Too many open files/i;

/** Maps an error of `@clickhouse/client`. */
export function fromClient(error: unknown, signal?: AbortSignal): SluiceError {
  if (error instanceof SluiceError) return error;
  if (signal?.aborted) return new LedgerAbortedError();
  if (error instanceof ClickHouseError) {
    return new LedgerQueryError(Number(error.code), error.message.trim());
  }
  // The engine's own text in a form that the client does not read.
  const code = error instanceof Error ? /^Code: (\d{1,4})\. DB::/.exec(error.message)?.[1] : undefined;
  if (error instanceof Error && code !== undefined) return new LedgerQueryError(Number(code), error.message.trim());
  return new LedgerUnavailableError(error instanceof Error ? error.message : String(error), error);
}
