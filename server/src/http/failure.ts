import { type ErrorCode, errorTable, SluiceError } from "@sluice/contract/errors";
import { retryAfter } from "./headers.ts";

/** The content of an error answer beside its code, in the form of any endpoint. */
export interface FailureOptions {
  readonly requestId: string;
  /** Replaces the table's text; it is shown to the caller and so holds no internals. */
  readonly message?: string;
  /**
   * The code's public payload. `retryAfterSeconds` (number), `allow` (list of methods), `acceptEncoding` (text) and
   * `errors` (list of {path, message}) have a place of their own; the rest are extension members.
   */
  readonly details?: Readonly<Record<string, unknown>>;
}

/** One invalid field of a request, as RFC 9457 answers list them. */
export interface InputFault {
  readonly path: string;
  readonly message: string;
}

/** Seconds to wait before the call is tried again, or null where the code asks for no Retry-After (429 and 503 do). */
export function retryAfterOf(code: ErrorCode, details: Readonly<Record<string, unknown>> | undefined): number | null {
  const { status } = errorTable[code];
  if (status !== 429 && status !== 503) return null;
  const seconds = details?.["retryAfterSeconds"];
  return retryAfter(typeof seconds === "number" ? seconds : 1);
}

/**
 * The headers that every failing answer carries: X-Request-Id, X-Error-Code and, by status, Retry-After, Allow,
 * Accept-Encoding, WWW-Authenticate.
 */
export function writeFailureHeaders(target: Record<string, string>, code: ErrorCode, options: FailureOptions): void {
  target["X-Request-Id"] = options.requestId;
  target["X-Error-Code"] = code;
  const wait = retryAfterOf(code, options.details);
  if (wait !== null) target["Retry-After"] = String(wait);
  const { status } = errorTable[code];
  const allow = options.details?.["allow"];
  if (status === 405 && Array.isArray(allow)) target["Allow"] = allow.join(", ");
  const acceptEncoding = options.details?.["acceptEncoding"];
  if (status === 415 && typeof acceptEncoding === "string") target["Accept-Encoding"] = acceptEncoding;
  if (status === 401) target["WWW-Authenticate"] = 'Bearer realm="sluice"';
}

/** Members of `details` that are headers or separate members, and so are not extensions. */
const placedDetails: ReadonlySet<string> = new Set(["retryAfterSeconds", "allow", "acceptEncoding", "errors"]);

/** The extension members of a payload; a bigint is written as decimal text, since JSON.stringify rejects it. */
export function extensionMembers(details: Readonly<Record<string, unknown>> | undefined): Record<string, unknown> {
  const members: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(details ?? {})) {
    if (!placedDetails.has(name)) members[name] = value;
  }
  return members;
}

/** JSON text in which a bigint is a decimal string instead of an exception. */
export function stringify(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) => (typeof member === "bigint" ? member.toString() : member));
}

/**
 * A thrown value as what the caller may know of it: ours as it is, anything else as an internal error without a word.
 */
export function failureOf(thrown: unknown): SluiceError {
  return thrown instanceof SluiceError ? thrown : new SluiceError("INTERNAL_ERROR", { cause: thrown });
}
