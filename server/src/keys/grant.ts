import type { KeyEnvironment } from "@sluice/contract/api-key";
import type { ErrorCode } from "@sluice/contract/errors";
import {
  burstFactor,
  type Permission,
  type PlatformTier,
  platformTierLimits,
  type SubscriptionTiers,
} from "@sluice/contract/tiers";
import type { AccountRecord, KeyRecord } from "../state/index.ts";
import { type CompiledRestrictions, compileRestrictions } from "./restrictions.ts";

/** A token bucket as limits takes it: its name and its numbers. */
export interface RateBucket {
  readonly bucket: string;
  readonly requestsPerSecond: number;
  readonly burst: number;
}

/** What a key may do, worked out once when the key is looked up and shared by all its requests; never changed. */
export interface Grant {
  readonly keyId: string;
  readonly accountId: string;
  readonly keyHash: string;
  readonly tier: PlatformTier;
  readonly tiers: SubscriptionTiers;
  readonly environment: KeyEnvironment;
  readonly permissions: readonly Permission[];
  /** Whether the enhanced API is enabled on the key. */
  readonly enhanced: boolean;
  readonly restrictions: CompiledRestrictions;
  /** The rates that bind this key: the account's, or the key's own where that is smaller. */
  readonly limits: {
    readonly requestsPerSecond: number;
    readonly burst: number;
    readonly sendTransactionsPerSecond: number;
    readonly sendBurst: number;
    readonly enhancedRequestsPerSecond: number;
    readonly enhancedBurst: number;
  };
  /**
   * The buckets that a request takes a token from, in this order: the key's own where it has a rate of its own, then the
   * account's, which all its keys share. `send` and `enhanced` come on top for those calls.
   */
  readonly buckets: {
    readonly requests: readonly [RateBucket, ...RateBucket[]];
    readonly send: RateBucket;
    readonly enhanced: RateBucket;
  };
  /** Credits a calendar month (UTC) of the whole account; null is unlimited. */
  readonly creditsMonthly: bigint | null;
  /** Unix milliseconds, or null; checked on each use by authenticate. */
  readonly expiresAt: number | null;
}

export interface Refusal {
  readonly refused: ErrorCode;
}

/** True for the refusing half of what authenticate answers. */
export function isRefusal(outcome: Grant | Refusal): outcome is Refusal {
  return "refused" in outcome;
}

/**
 * What the records of a key and its account grant. An override on the account replaces the tier's rate; a rate of the
 * key itself can only be smaller (decisions: Platform, Tiers; the enhanced API's rate by the same rule).
 */
export function grantOf(key: KeyRecord, account: AccountRecord): Grant {
  const tier = account.tiers.platform;
  const tierLimits = platformTierLimits[tier];
  const accountRate = account.requestsPerSecond ?? tierLimits.requestsPerSecond;
  const rate = Math.min(key.requestsPerSecond ?? accountRate, accountRate);
  const enhancedRate = Math.min(
    key.enhancedRequestsPerSecond ?? tierLimits.enhancedRequestsPerSecond,
    tierLimits.enhancedRequestsPerSecond,
  );
  const sendRate = Math.min(tierLimits.sendTransactionsPerSecond, rate);
  const ofAccount = rateBucket(`requests:${account.id}`, accountRate);
  const hasOwnEnhancedRate = enhancedRate < tierLimits.enhancedRequestsPerSecond;
  return {
    keyId: key.id,
    accountId: account.id,
    keyHash: key.hash,
    tier,
    tiers: account.tiers,
    environment: key.environment,
    permissions: key.permissions,
    enhanced: key.enhanced,
    restrictions: compileRestrictions(key.restrictions),
    limits: {
      requestsPerSecond: rate,
      burst: rate * burstFactor,
      sendTransactionsPerSecond: sendRate,
      sendBurst: sendRate * burstFactor,
      enhancedRequestsPerSecond: enhancedRate,
      enhancedBurst: enhancedRate * burstFactor,
    },
    buckets: {
      requests: rate < accountRate ? [rateBucket(`requests:${key.id}`, rate), ofAccount] : [ofAccount],
      send: rateBucket(`send:${account.id}`, tierLimits.sendTransactionsPerSecond),
      enhanced: rateBucket(`enhanced:${hasOwnEnhancedRate ? key.id : account.id}`, enhancedRate),
    },
    creditsMonthly: account.creditsMonthly ?? tierLimits.creditsMonthly,
    expiresAt: key.expiresAt,
  };
}

function rateBucket(bucket: string, requestsPerSecond: number): RateBucket {
  return { bucket, requestsPerSecond, burst: requestsPerSecond * burstFactor };
}
