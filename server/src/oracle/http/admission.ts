import { type OracleTierTerms, oracleTierTerms, oracleV2TierTerms } from "@sluice/contract/oracle";
import type { Permission } from "@sluice/contract/tiers";
import type { Access, AdmissionCode, Refusal } from "../../access/index.ts";
import { monthEndOf } from "../../credits/index.ts";
import type { RateLimitState } from "../../http/index.ts";
import type { Grant } from "../../keys/index.ts";
import { OracleError, type Variant } from "./oracle-error.ts";

export interface Admitted {
  readonly grant: Grant;
  readonly tier: string;
  readonly terms: OracleTierTerms;
}

/** The subscription of the key's account to the product behind a variant. */
export function tierOf(grant: Grant, variant: Variant): { tier: string; terms: OracleTierTerms } {
  if (variant === "v1") return { tier: grant.tiers.oracle, terms: oracleTierTerms[grant.tiers.oracle] };
  return { tier: grant.tiers["oracle-v2"], terms: oracleV2TierTerms[grant.tiers["oracle-v2"]] };
}

const denied = (details: Readonly<Record<string, string>>): OracleError =>
  new OracleError("PERMISSION_DENIED", { details });
const unusableKey = (_refusal: Refusal, presented: string | null): OracleError =>
  new OracleError(presented === null ? "MISSING_API_KEY" : "INVALID_API_KEY");
const restricted = ({ code }: Refusal): OracleError => denied({ reason: code });

/** The error of each refusal of access. */
const errors: Readonly<Record<AdmissionCode, (refusal: Refusal, presented: string | null) => OracleError>> = {
  INVALID_API_KEY: unusableKey,
  KEY_INACTIVE: unusableKey,
  OVERLOADED: () => new OracleError("SERVICE_UNAVAILABLE"),
  STORE_UNAVAILABLE: () => new OracleError("SERVICE_UNAVAILABLE"),
  NETWORK_NOT_ALLOWED: restricted,
  DOMAIN_NOT_ALLOWED: restricted,
  IP_NOT_ALLOWED: restricted,
  PERMISSION_DENIED: () => denied({ reason: "permission", permission: "read" }),
};

/** The error of a caller that access refuses; `presented` is the key that it sent. */
export function admissionError(refusal: Refusal<AdmissionCode>, presented: string | null): OracleError {
  return errors[refusal.code](refusal, presented);
}

/** The permission that prices need. */
export const readPermission: readonly Permission[] = ["read"];

/**
 * Seconds of a variant's unit. Buckets fill by the second; a request of the second variant costs sixty tokens of a
 * bucket that is sixty times as large, so that its rate a minute is exact.
 */
const unitSeconds: Readonly<Record<Variant, number>> = { v1: 1, v2: 60 };

/** Takes one request from the bucket that all keys of the account share in this variant; `error` when it is empty. */
export async function takeRate(
  access: Pick<Access, "meter">,
  variant: Variant,
  { grant, terms }: Pick<Admitted, "grant" | "terms">,
): Promise<{ state: RateLimitState; error: OracleError | null }> {
  const unit = unitSeconds[variant];
  const bucket = `oracle-${variant}:${grant.accountId}`;
  const decision = await access.meter([{ bucket, requestsPerSecond: terms.rate, burst: terms.burst * unit }], unit);
  const state: RateLimitState = {
    limit: terms.rate,
    burst: terms.burst,
    remaining: Math.floor(decision.remaining / unit),
    resetAt: decision.resetAt,
  };
  if (decision.allowed) return { state, error: null };
  const error = new OracleError("RATE_LIMIT_EXCEEDED", {
    details: { limit: terms.rate, per: variant === "v1" ? "second" : "minute" },
    retryAfterSeconds: decision.retryAfterSeconds,
  });
  return { state, error };
}

/** Whole seconds until the end of the calendar month in UTC, at least 1. */
export const secondsToMonthEnd = (nowMs: number): number => Math.max(1, Math.ceil((monthEndOf(nowMs) - nowMs) / 1_000));

export function quotaError(terms: OracleTierTerms, nowMs: number): OracleError {
  return new OracleError("QUOTA_EXCEEDED", {
    details: { requests_per_month: terms.requestsMonthly },
    retryAfterSeconds: secondsToMonthEnd(nowMs),
  });
}
