import { SluiceError } from "@sluice/contract/errors";

/** What can be wrong with the database itself; operators see these, callers see the code of the error table. */
export type StateFault =
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
  | "FAULT";

/**
 * A fault with a sentence for operators. Thrown as such while opening; at run time it is the `cause` of a SluiceError.
 */
export class StateError extends Error {
  readonly fault: StateFault;

  constructor(fault: StateFault, message: string, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.name = "StateError";
    this.fault = fault;
  }
}

/** The fault at the bottom of an error of this room, or null when it is an expected outcome such as CONFLICT. */
export function stateFaultOf(error: unknown): StateFault | null {
  for (let depth = 0, at = error; depth < 8 && at instanceof Error; depth += 1, at = at.cause) {
    if (at instanceof StateError) return at.fault;
  }
  return null;
}

const sentences: Readonly<Record<StateFault, string>> = {
  LOCKED: "The state database is in use by another process.",
  SCHEMA_NEWER: "The state database was written by a newer version.",
  SCHEMA_OLDER: "The state database lacks migrations.",
  SCHEMA_CHANGED: "The state database has a migration that differs from this version's.",
  DISK_FULL: "The disk of the state database is full; nothing was written.",
  READ_ONLY: "The state database is read-only; nothing was written.",
  CORRUPT: "The state database is damaged.",
  UNAVAILABLE: "The state database cannot be reached.",
  FENCED: "Another process has taken over what this one was writing; nothing was written.",
  OVERLOADED: "Too many writes are waiting for the state database.",
  FAULT: "The state database failed.",
};

/** The code that a database driver puts on its errors: SQLITE_… or a five-character SQLSTATE. */
function driverCode(error: unknown): string {
  if (typeof error !== "object" || error === null || !("code" in error)) return "";
  return typeof error.code === "string" ? error.code : "";
}

/**
 * Codes are matched by their beginning: SQLite extends a code (SQLITE_IOERR_WRITE), PostgreSQL's classes are two
 * characters.
 */
const faultsByCode: readonly (readonly [string, StateFault])[] = [
  ["SQLITE_FULL", "DISK_FULL"],
  ["SQLITE_READONLY", "READ_ONLY"],
  ["SQLITE_CORRUPT", "CORRUPT"],
  ["SQLITE_NOTADB", "CORRUPT"],
  ["SQLITE_BUSY", "LOCKED"],
  ["SQLITE_LOCKED", "LOCKED"],
  ["SQLITE_CANTOPEN", "UNAVAILABLE"],
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

/** `pg` gives these failures no code; the beginnings of its messages are all there is to go by. */
const unavailableMessages = ["Connection terminated", "timeout expired", "timeout exceeded", "Query read timeout"];

/** Sorts an error of a driver into a fault. */
export function faultOfDriverError(error: unknown): StateFault {
  const code = driverCode(error);
  const known = faultsByCode.find(([beginning]) => code.startsWith(beginning));
  if (known !== undefined) return known[1];
  const message = error instanceof Error ? error.message : "";
  return unavailableMessages.some((beginning) => message.startsWith(beginning)) ? "UNAVAILABLE" : "FAULT";
}

/** A transaction that the database gave up in favour of another, and that may simply be run again. */
export function isSerializationFailure(error: unknown): boolean {
  const code = driverCode(error);
  return code === "40001" || code === "40P01";
}

/** The connection was lost, as it is when the server restarts; a new one may well work. */
export function isConnectionLoss(error: unknown): boolean {
  const code = driverCode(error);
  if (code === "57P01" || code === "ECONNRESET" || code === "EPIPE") return true;
  return error instanceof Error && error.message.startsWith("Connection terminated unexpectedly");
}

/** A failure that one statement's own values caused; the transaction around it is otherwise sound. */
export function isItemFailure(error: unknown): boolean {
  if (error instanceof SluiceError) {
    const fault = stateFaultOf(error);
    return fault === null || fault === "FENCED";
  }
  const code = driverCode(error);
  return code.startsWith("SQLITE_CONSTRAINT") || code.startsWith("23") || code.startsWith("22");
}

/**
 * What callers of a store see of an error: CONFLICT and NOT_FOUND as such, anything else with its fault as the cause.
 */
export function toSluiceError(error: unknown): SluiceError {
  if (error instanceof SluiceError) return error;
  const code = driverCode(error);
  if (code === "SQLITE_CONSTRAINT_UNIQUE" || code === "SQLITE_CONSTRAINT_PRIMARYKEY" || code === "23505") {
    return new SluiceError("CONFLICT", { cause: error });
  }
  if (code === "SQLITE_CONSTRAINT_FOREIGNKEY" || code === "23503")
    return new SluiceError("NOT_FOUND", { cause: error });
  const fault = error instanceof StateError ? error : newFault(faultOfDriverError(error), error);
  const passes = fault.fault === "OVERLOADED" || fault.fault === "UNAVAILABLE";
  return new SluiceError(passes ? "OVERLOADED" : "INTERNAL_ERROR", { cause: fault });
}

/** A StateError with the fault's own sentence. */
export function newFault(fault: StateFault, cause?: unknown): StateError {
  return new StateError(fault, sentences[fault], cause);
}
