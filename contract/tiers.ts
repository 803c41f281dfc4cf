/**
 * Subscription products and their tiers, as data: the code enforces these tables and the documents are made from them.
 */

/** The chains that the gateway can serve. */
export const networks = ["mainnet", "devnet", "testnet"] as const;
export type Network = (typeof networks)[number];

/** Tiers of the platform, the lowest first. */
export const platformTiers = ["free", "developer", "business", "professional", "enterprise"] as const;
export type PlatformTier = (typeof platformTiers)[number];

/** What a platform tier includes. Rates are per second. */
export interface PlatformTierLimits {
  readonly name: string;
  /** Monthly price in US dollars; null is negotiated. */
  readonly priceMonthlyUsd: number | null;
  /** Credits a calendar month (UTC); null is unlimited. */
  readonly creditsMonthly: bigint | null;
  /** JSON-RPC requests a second; the burst is `burstFactor` times as many. */
  readonly requestsPerSecond: number;
  /** sendTransaction has a rate of its own. */
  readonly sendTransactionsPerSecond: number;
  readonly enhancedRequestsPerSecond: number;
  readonly webSocketConnections: number;
  readonly webSocketMessagesPerSecond: number;
}

/** Every burst is this many times the rate. */
export const burstFactor = 2;

const platformTier = (
  name: string,
  priceMonthlyUsd: number | null,
  creditsMonthly: bigint | null,
  requestsPerSecond: number,
  sendTransactionsPerSecond: number,
  enhancedRequestsPerSecond: number,
  webSocketConnections: number,
  webSocketMessagesPerSecond: number,
): PlatformTierLimits => ({
  name,
  priceMonthlyUsd,
  creditsMonthly,
  requestsPerSecond,
  sendTransactionsPerSecond,
  enhancedRequestsPerSecond,
  webSocketConnections,
  webSocketMessagesPerSecond,
});

/** The limits of each platform tier. Source: specification, node platform, Limits. */
export const platformTierLimits: Readonly<Record<PlatformTier, PlatformTierLimits>> = {
  free: platformTier("Free", 0, 100_000n, 10, 5, 5, 5, 100),
  developer: platformTier("Developer", 49, 2_500_000n, 50, 20, 10, 5, 500),
  business: platformTier("Business", 499, 30_000_000n, 200, 100, 50, 250, 2_000),
  professional: platformTier("Professional", 999, 75_000_000n, 500, 200, 100, 250, 5_000),
  enterprise: platformTier("Enterprise", null, null, 1_000, 500, 200, 1_000, 10_000),
};

/** How many days back each platform tier sees the indexed history; null is all of it. */
export const historyDays: Readonly<Record<PlatformTier, number | null>> = {
  free: 3,
  developer: null,
  business: null,
  professional: null,
  enterprise: null,
};

/** Tiers of the first variant of the oracle, the lowest first. */
export const oracleTiers = ["community", "builders", "professional", "enterprise", "ultra"] as const;
export type OracleTier = (typeof oracleTiers)[number];

/** Tiers of the second variant of the oracle, the lowest first. */
export const oracleV2Tiers = ["community", "developer", "professional", "enterprise"] as const;
export type OracleV2Tier = (typeof oracleV2Tiers)[number];

/** An account holds at most one subscription to each product. */
export interface SubscriptionTiers {
  readonly platform: PlatformTier;
  readonly oracle: OracleTier;
  readonly "oracle-v2": OracleV2Tier;
}

/** What can be subscribed to. */
export type Product = keyof SubscriptionTiers;

/** What a key may be allowed to do. `read` is every call that changes nothing; `admin` holds all others. */
export const permissions = [
  "read",
  "transactions:write",
  "bundles:write",
  "webhooks:write",
  "keys:write",
  "admin",
] as const;
export type Permission = (typeof permissions)[number];

/** What a key may do that was created without a list. */
export const permissionsDefault = ["read", "transactions:write"] as const satisfies readonly Permission[];
