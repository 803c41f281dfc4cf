import { CodedError, type ErrorCode, SluiceError } from "@sluice/contract/errors";
import { type FileFault, fileFaultOf } from "@sluice/lib";

/** Failures of the database itself. Operators see these; callers see a code of the error table. */
export type StateErrorCode =
  | "ABSENT"
  | "LOCKED"
  | "SCHEMA_NEWER"
  | "SCHEMA_OLDER"
  | "SCHEMA_CHANGED"
  | "DISK_FULL"
  | "READ_ONLY"
  | "CORRUPT"
  | "UNAVAILABLE"
  | "OVERLOADED"
  | "FENCED"
  | "NOT_EMPTY"
  | "FAULT";

/** A failure of the database, with a sentence for operators. At run time it is the `cause` of a SluiceError. */
export class StateError extends CodedError<StateErrorCode> {
  constructor(code: StateErrorCode, message: string, cause?: unknown) {
    super(code, { message, details: {}, cause });
  }
}

/** The code of the StateError that caused an error of this room; null for an outcome such as CONFLICT. */
export function stateErrorCodeOf(error: unknown): StateErrorCode | null {
  for (let depth = 0, at = error; depth < 8 && at instanceof Error; depth += 1, at = at.cause) {
    if (at instanceof StateError) return at.code;
  }
  return null;
}

const sentences: Readonly<Record<StateErrorCode, string>> = {
  ABSENT: "There is no state database.",
  LOCKED: "The state database is in use by another process.",
  SCHEMA_NEWER: "The state database was written by a newer version.",
  SCHEMA_OLDER: "The state database lacks migrations.",
  SCHEMA_CHANGED: "The state database has a migration that differs from this version's.",
  DISK_FULL: "The disk of the state database is full; nothing was written.",
  READ_ONLY: "The state database is read-only; nothing was written.",
  CORRUPT: "The state database is damaged.",
  UNAVAILABLE: "The state database cannot be reached.",
  NOT_EMPTY: "There is a state already.",
  FENCED: "Another process has taken over what this one was writing; nothing was written.",
  OVERLOADED: "Too many writes are waiting for the state database.",
  FAULT: "The state database failed.",
};

/** The code of a driver's error: SQLITE_… or a five-character SQLSTATE; empty without one. */
function driverCode(error: unknown): string {
  if (typeof error !== "object" || error === null || !("code" in error)) return "";
  return typeof error.code === "string" ? error.code : "";
}

/**
 * Codes are matched by their beginning: SQLite extends a code (SQLITE_IOERR_WRITE), PostgreSQL's classes are two
 * characters.
 */
const codesByDriverCode: readonly (readonly [string, StateErrorCode])[] = [
  ["SQLITE_FULL", "DISK_FULL"],
  ["SQLITE_READONLY", "READ_ONLY"],
  ["SQLITE_CORRUPT", "CORRUPT"],
  ["SQLITE_NOTADB", "CORRUPT"],
  ["SQLITE_BUSY", "LOCKED"],
  ["SQLITE_LOCKED", "LOCKED"],
  ["SQLITE_CANTOPEN", "UNAVAILABLE"],
  ["ENOSPC", "DISK_FULL"],
  ["EDQUOT", "DISK_FULL"],
  ["EROFS", "READ_ONLY"],
  ["EACCES", "READ_ONLY"],
  ["EPERM", "READ_ONLY"],
  ["53100", "DISK_FULL"],
  ["53", "OVERLOADED"],
  ["25006", "READ_ONLY"],
  ["XX001", "CORRUPT"],
  ["XX002", "CORRUPT"],
  ["08", "UNAVAILABLE"],
  ["57P", "UNAVAILABLE"],
  ["57014", "OVERLOADED"],
  ["55P03", "OVERLOADED"],
  ["28", "UNAVAILABLE"],
  ["3D000", "UNAVAILABLE"],
  ["ECONN", "UNAVAILABLE"],
  ["ENOTFOUND", "UNAVAILABLE"],
  ["EAI_AGAIN", "UNAVAILABLE"],
  ["ETIMEDOUT", "UNAVAILABLE"],
  ["EHOSTUNREACH", "UNAVAILABLE"],
  ["EPIPE", "UNAVAILABLE"],
  ["ERR_SOCKET", "UNAVAILABLE"],
];

/** Beginnings of messages of `pg` for failures that have no code. */
const unavailableMessages = [
  "Connection terminated",
  "Client has encountered a connection error",
  "timeout expired",
  "timeout exceeded",
  "Query read timeout",
];

/** Maps an error of a driver. */
export function codeOfDriverError(error: unknown): StateErrorCode {
  const code = driverCode(error);
  const known = codesByDriverCode.find(([beginning]) => code.startsWith(beginning));
  if (known !== undefined) return known[1];
  const message = error instanceof Error ? error.message : "";
  // Behind the name of a server where several were tried.
  const isRefused = message.includes("The server does not support SSL connections");
  const isAway = isRefused || unavailableMessages.some((beginning) => message.startsWith(beginning));
  if (isAway) return "UNAVAILABLE";
  // One error for several servers has what the last of them said as its cause.
  return error instanceof Error && error.cause instanceof Error ? codeOfDriverError(error.cause) : "FAULT";
}

/** Whether the database rolled the transaction back in favour of another one, so that it may be run again. */
export function isSerializationFailure(error: unknown): boolean {
  const code = driverCode(error);
  return code === "40001" || code === "40P01";
}

/** Whether the connection was lost, as at a restart of the server; a new one may work. */
export function isConnectionLoss(error: unknown): boolean {
  const code = driverCode(error);
  if (code === "57P01" || code === "ECONNRESET" || code === "EPIPE") return true;
  return error instanceof Error && error.message.startsWith("Connection terminated unexpectedly");
}

/** Whether the values of one statement caused the failure, so that the rest of the transaction is sound. */
export function isItemFailure(error: unknown): boolean {
  if (error instanceof SluiceError) {
    const code = stateErrorCodeOf(error);
    return code === null || code === "FENCED";
  }
  const code = driverCode(error);
  return code.startsWith("SQLITE_CONSTRAINT") || code.startsWith("23") || code.startsWith("22");
}

/** What a caller is told of a failure that passes; any other is an internal error. */
const publicCodes: Readonly<Partial<Record<StateErrorCode, ErrorCode>>> = {
  OVERLOADED: "OVERLOADED",
  UNAVAILABLE: "STORE_UNAVAILABLE",
  DISK_FULL: "STORE_UNAVAILABLE",
  READ_ONLY: "STORE_UNAVAILABLE",
};

/**
 * The error that callers of a store get: CONFLICT, NOT_FOUND, or one whose cause is a StateError.
 */
export function toSluiceError(error: unknown): SluiceError {
  if (error instanceof SluiceError) return error;
  const code = driverCode(error);
  if (code === "SQLITE_CONSTRAINT_UNIQUE" || code === "SQLITE_CONSTRAINT_PRIMARYKEY" || code === "23505") {
    return new SluiceError("CONFLICT", { cause: error });
  }
  if (code === "SQLITE_CONSTRAINT_FOREIGNKEY" || code === "23503")
    return new SluiceError("NOT_FOUND", { cause: error });
  const cause = error instanceof StateError ? error : newStateError(codeOfDriverError(error), error);
  return new SluiceError(publicCodes[cause.code] ?? "INTERNAL_ERROR", { cause });
}

/** What an operator does about a file that SQLite cannot use. */
const fileFaults: Readonly<Partial<Record<StateErrorCode, FileFault>>> = {
  LOCKED: { cause: "another program has it open", remedy: "Close that program." },
  READ_ONLY: {
    cause: "it is read-only",
    remedy: "Make it writable for this user, or choose another data directory (DATA_DIR).",
  },
  DISK_FULL: { cause: "the disk is full", remedy: "Make room on it." },
  CORRUPT: {
    cause: "it is damaged or not a database",
    remedy:
      "Put a copy in its place, with its -wal file, or move both away to begin without accounts, keys and credits; " +
      "`.recover` of the program sqlite3 saves what can be read.",
  },
};

/** What SQLite says where the system did not let it open the file; why not, it does not say. */
const notOpened: FileFault = {
  cause: "this user may not read and write it, or it is no file",
  remedy: "Look what lies at its path; move it away, or give the user the right to it.",
};

/** `what` says what could not be done with which file; the cause and the way out follow. */
export function newFileError(what: string, error: unknown): StateError {
  const code = codeOfDriverError(error);
  const isNotOpened = driverCode(error).startsWith("SQLITE_CANTOPEN");
  const fault = fileFaultOf(error) ?? (isNotOpened ? notOpened : fileFaults[code]);
  if (fault !== undefined) return new StateError(code, `${what}: ${fault.cause}. ${fault.remedy}`, error);
  return new StateError(code, `${what}: ${error instanceof Error ? error.message : String(error)}.`, error);
}

/** A file that cannot be locked. It is empty as long as it is sound, so nothing is lost with it. */
export function newLockError(path: string, error: unknown): StateError {
  const what = `The file ${path} cannot be locked`;
  if (codeOfDriverError(error) !== "CORRUPT") return newFileError(what, error);
  const remedy = "Nothing is kept in it: remove it while no server runs on its directory.";
  return new StateError("CORRUPT", `${what}: it is not empty, as it has to be. ${remedy}`, error);
}

/** A database file whose content is not what it was. */
export function newDamageError(path: string, damage: string): StateError {
  return new StateError("CORRUPT", `The database ${path} is damaged: ${damage}. ${fileFaults.CORRUPT?.remedy ?? ""}`);
}

/** A StateError with the sentence of its code. */
export function newStateError(code: StateErrorCode, cause?: unknown): StateError {
  return new StateError(code, sentences[code], cause);
}
