import {
  burstFactor,
  type Permission,
  type PlatformTier,
  permissions,
  platformTierLimits,
  type SubscriptionTiers,
} from "@sluice/contract/tiers";
import { invariant } from "@sluice/lib";
import type { AccountRecord, KeyRecord } from "../state/index.ts";
import { compileMethods, type MethodSet } from "./methods.ts";
import { type CompiledRestrictions, compileRestrictions } from "./restrictions.ts";

/** A token bucket as limits takes it: its name, its rate in tokens a second and its size in tokens. */
export interface RateBucket {
  readonly bucket: string;
  readonly requestsPerSecond: number;
  readonly burst: number;
}

/**
 * What a key may do. Keys works it out once when it looks the key up; all requests of the key share it; never changed.
 */
export interface Grant {
  readonly ok: true;
  readonly keyId: string;
  readonly accountId: string;
  readonly tier: PlatformTier;
  readonly tiers: SubscriptionTiers;
  /** All of them where the key holds `admin`. */
  readonly permissions: readonly Permission[];
  /** The JSON-RPC methods that it may call; null where it may call all. */
  readonly methods: MethodSet | null;
  readonly restrictions: CompiledRestrictions;
  /**
   * The buckets that a request takes a token from, in this order: the key's own where it has a rate of its own, then
   * the account's, which all its keys share. A sent transaction takes one from `send` as well, and each message that
   * is sent over a WebSocket one from `messages`.
   */
  readonly buckets: {
    readonly requests: readonly [RateBucket, ...RateBucket[]];
    readonly send: readonly [RateBucket];
    readonly messages: readonly [RateBucket];
  };
  /** Whether the key may use the enhanced API, and the buckets of its requests, which are apart from all others. */
  readonly enhanced: { readonly isAllowed: boolean; readonly buckets: readonly [RateBucket, ...RateBucket[]] };
  /** Credits a calendar month (UTC) of the whole account; null is unlimited. */
  readonly creditsMonthly: bigint | null;
  /** Unix milliseconds, or null; `Keys.authenticate` checks it on each use. */
  readonly expiresAt: number | null;
}

/** Why a presented key grants nothing: see `Keys.authenticate`. */
export interface KeyRefusal {
  readonly ok: false;
  readonly code: "INVALID_API_KEY" | "KEY_INACTIVE" | "OVERLOADED" | "STORE_UNAVAILABLE";
}

/** What a grant is made of besides the account. */
type GrantedKey = Pick<
  KeyRecord,
  | "id"
  | "accountId"
  | "permissions"
  | "methods"
  | "restrictions"
  | "requestsPerSecond"
  | "enhanced"
  | "enhancedRequestsPerSecond"
  | "expiresAt"
>;

/**
 * The grant of a key's record and its account's. An override on the account replaces the tier's rate; a rate of the key
 * itself can only be smaller (decisions: Platform, Tiers).
 */
export function grantOf(key: GrantedKey, account: AccountRecord): Grant {
  invariant(key.accountId === account.id, "a grant joins a key with the account that owns it");
  const tier = account.tiers.platform;
  const tierLimits = platformTierLimits[tier];
  const accountRate = account.requestsPerSecond ?? tierLimits.requestsPerSecond;
  const rate = Math.min(key.requestsPerSecond ?? accountRate, accountRate);
  const ofAccount = rateBucket(`requests:${account.id}`, accountRate);
  return {
    ok: true,
    keyId: key.id,
    accountId: account.id,
    tier,
    tiers: account.tiers,
    permissions: key.permissions.includes("admin") ? permissions : key.permissions,
    methods: compileMethods(key.methods),
    restrictions: compileRestrictions(key.restrictions),
    buckets: {
      requests: rate < accountRate ? [rateBucket(`requests:${key.id}`, rate), ofAccount] : [ofAccount],
      send: [rateBucket(`send:${account.id}`, tierLimits.sendTransactionsPerSecond)],
      messages: [rateBucket(`messages:${account.id}`, tierLimits.webSocketMessagesPerSecond)],
    },
    enhanced: { isAllowed: key.enhanced, buckets: enhancedBuckets(key, tierLimits.enhancedRequestsPerSecond) },
    creditsMonthly: account.creditsMonthly ?? tierLimits.creditsMonthly,
    expiresAt: key.expiresAt,
  };
}

/** The tier's rate is of the account; a rate of the key itself can only be smaller. */
function enhancedBuckets(key: GrantedKey, tierRate: number): Grant["enhanced"]["buckets"] {
  const ofAccount = rateBucket(`enhanced:${key.accountId}`, tierRate);
  const rate = Math.min(key.enhancedRequestsPerSecond ?? tierRate, tierRate);
  return rate < tierRate ? [rateBucket(`enhanced:${key.id}`, rate), ofAccount] : [ofAccount];
}

function rateBucket(bucket: string, requestsPerSecond: number): RateBucket {
  return { bucket, requestsPerSecond, burst: requestsPerSecond * burstFactor };
}
