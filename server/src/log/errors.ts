import { CodedError } from "@sluice/contract/errors";
import { fileFaultOf } from "@sluice/lib";

/** Why the log refuses or fails. What was not stored may be appended again. */
export type LogErrorCode =
  | "CHAIN_DIFFERS"
  | "CLOSED"
  | "DISK_FULL"
  | "FAULT"
  | "LOCKED"
  | "OVERLOADED"
  | "RECORD_DIFFERS"
  | "RECORD_INVALID"
  | "UNAVAILABLE";

/** A failure of the log, with a sentence for operators. */
export class LogError extends CodedError<LogErrorCode> {
  constructor(code: LogErrorCode, message: string, cause?: unknown) {
    super(code, { message, details: {}, cause });
  }
}

const full = new Set(["ENOSPC", "EDQUOT"]);

/** `what` says what could not be done; the cause and the way out follow. */
export function newLogFileError(what: string, error: unknown): LogError {
  if (error instanceof LogError) return error;
  const code = error instanceof Error && "code" in error && full.has(String(error.code)) ? "DISK_FULL" : "FAULT";
  const fault = fileFaultOf(error);
  const why = fault === null ? String(error) : `${fault.cause}. ${fault.remedy}`;
  return new LogError(code, `${what}: ${why}`, error);
}
