import type { ErrorCode } from "@sluice/contract/errors";
import { type OracleTierTerms, oracleTierTerms, oracleV2TierTerms } from "@sluice/contract/oracle";
import type { OracleCaller, OracleGrant, OracleKeys, OracleLimits } from "../interfaces.ts";
import { OracleFailure, type Variant } from "./failure.ts";

/** What X-RateLimit headers say: whole requests in the variant's own unit. */
export interface RateState {
  readonly limit: number;
  readonly burst: number;
  readonly remaining: number;
  /** Unix seconds. */
  readonly resetAt: number;
}

export interface Admitted {
  readonly grant: OracleGrant;
  readonly tier: string;
  readonly terms: OracleTierTerms;
}

/** The subscription of the key's account to the product behind a variant. */
export function tierOf(grant: OracleGrant, variant: Variant): { tier: string; terms: OracleTierTerms } {
  if (variant === "v1") return { tier: grant.tiers.oracle, terms: oracleTierTerms[grant.tiers.oracle] };
  return { tier: grant.tiers["oracle-v2"], terms: oracleV2TierTerms[grant.tiers["oracle-v2"]] };
}

const authenticationCodes: ReadonlySet<ErrorCode> = new Set(["INVALID_API_KEY", "KEY_INACTIVE"]);

/** Why a key opens nothing here. */
export function keyFailure(refused: ErrorCode, presented: string | null): OracleFailure {
  if (!authenticationCodes.has(refused)) return new OracleFailure("SERVICE_UNAVAILABLE");
  return new OracleFailure(presented === null ? "MISSING_API_KEY" : "INVALID_API_KEY");
}

/** Restrictions of the key, then its permission to read; null when both allow the request. */
export function restrictionFailure(keys: OracleKeys, grant: OracleGrant, caller: OracleCaller): OracleFailure | null {
  const broken = keys.checkRestrictions(grant, caller);
  if (broken !== null) return new OracleFailure("PERMISSION_DENIED", { details: { reason: broken } });
  if (grant.permissions.includes("read")) return null;
  return new OracleFailure("PERMISSION_DENIED", { details: { reason: "permission", permission: "read" } });
}

/**
 * Seconds of a variant's unit. Buckets fill by the second; a request of the second variant costs sixty tokens of a bucket
 * sixty times as large, so that its rate a minute is kept as exactly.
 */
const unitSeconds: Readonly<Record<Variant, number>> = { v1: 1, v2: 60 };

/** Takes one request from the bucket that all keys of the account share in this variant. */
export async function takeRate(
  limits: OracleLimits,
  variant: Variant,
  { grant, terms }: Pick<Admitted, "grant" | "terms">,
): Promise<{ state: RateState; failure: OracleFailure | null }> {
  const unit = unitSeconds[variant];
  const decision = await limits.take(`oracle-${variant}:${grant.accountId}`, terms.rate, terms.burst * unit, unit);
  const state: RateState = {
    limit: terms.rate,
    burst: terms.burst,
    remaining: Math.floor(decision.remaining / unit),
    resetAt: decision.resetAt,
  };
  if (decision.allowed) return { state, failure: null };
  const failure = new OracleFailure("RATE_LIMIT_EXCEEDED", {
    details: { limit: terms.rate, per: variant === "v1" ? "second" : "minute" },
    retryAfterSeconds: decision.retryAfterSeconds,
  });
  return { state, failure };
}

/** Whole seconds until the calendar month in UTC is over, at least 1. */
export function secondsToMonthEnd(nowMs: number): number {
  const now = new Date(nowMs);
  return Math.max(1, Math.ceil((Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1) - nowMs) / 1_000));
}

export function quotaFailure(terms: OracleTierTerms, nowMs: number): OracleFailure {
  return new OracleFailure("QUOTA_EXCEEDED", {
    details: { requests_per_month: terms.requestsMonthly },
    retryAfterSeconds: secondsToMonthEnd(nowMs),
  });
}
