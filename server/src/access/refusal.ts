import { permissionOf } from "@sluice/contract/permissions";
import type { Grant, KeyRefusal, RestrictionCode } from "../keys/index.ts";
import type { LimitDecision } from "../limits/index.ts";

/**
 * What the first three steps refuse with: identify (INVALID_API_KEY for a missing, malformed or unknown key,
 * KEY_INACTIVE, STORE_UNAVAILABLE or OVERLOADED while keys cannot be looked up), restrict, permit.
 */
export type AdmissionCode = KeyRefusal["code"] | RestrictionCode | "PERMISSION_DENIED";

/** What `permitMethod` refuses a call of JSON-RPC with. */
export type MethodCode = "PERMISSION_DENIED" | "METHOD_NOT_PERMITTED";

/** Why access is refused; the last two are those of the fourth step, meter. */
export type AccessCode = AdmissionCode | MethodCode | "RATE_LIMIT_EXCEEDED" | "INSUFFICIENT_CREDITS";

/** A request that may not go on. Each endpoint has one table from `code` to its own form. */
export interface Refusal<Code extends AccessCode = AccessCode> {
  readonly ok: false;
  readonly code: Code;
  /** The key's grant where the key was accepted, so that the refusal can be recorded for its account. */
  readonly grant?: Grant;
  /** The bucket's state where the rate refused. */
  readonly decision?: LimitDecision;
}

/** Longer names of methods are cut where they are shown. */
const shownNameMax = 64;

/** Says which permission a method needs, or that it is not on the key's list. */
export function methodRefusalText({ code }: Refusal<MethodCode>, method: string): string {
  const name = method.slice(0, shownNameMax);
  if (code === "METHOD_NOT_PERMITTED") return `The API key may not call ${name}`;
  return `The API key needs the permission ${permissionOf(method)} to call ${name}`;
}
