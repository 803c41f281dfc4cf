import type { Grant, KeyRefusal, RestrictionCode } from "../keys/index.ts";
import type { LimitDecision } from "../limits/index.ts";

/**
 * What the first three steps refuse with: identify (INVALID_API_KEY for a missing, malformed or unknown key,
 * KEY_INACTIVE, OVERLOADED while keys cannot be looked up), restrict, permit.
 */
export type AdmissionCode = KeyRefusal["code"] | RestrictionCode | "PERMISSION_DENIED";

/** Why access is refused; the last two are those of the fourth step, meter. */
export type AccessCode = AdmissionCode | "RATE_LIMIT_EXCEEDED" | "INSUFFICIENT_CREDITS";

/** A request that may not go on. Each endpoint has one table from `code` to its own form. */
export interface Refusal<Code extends AccessCode = AccessCode> {
  readonly ok: false;
  readonly code: Code;
  /** The key's grant where the key was accepted, so that the refusal can be recorded for its account. */
  readonly grant?: Grant;
  /** The bucket's state where the rate refused. */
  readonly decision?: LimitDecision;
}
