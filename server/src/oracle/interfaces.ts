import type { ErrorCode } from "@sluice/contract/errors";
import type { OracleSourceId, OracleSourceStatus } from "@sluice/contract/oracle";
import type { OracleTier, OracleV2Tier } from "@sluice/contract/tiers";

/** What the oracle needs of other rooms, and nothing more; compose hands in the rooms themselves. */

/** What a key may do here. */
export interface OracleGrant {
  readonly keyId: string;
  readonly accountId: string;
  readonly tiers: { readonly oracle: OracleTier; readonly "oracle-v2": OracleV2Tier };
  readonly permissions: readonly string[];
}

export interface OracleCaller {
  /** Prices are of no network. */
  readonly network: null;
  readonly origin: string | null;
  readonly referer: string | null;
  readonly clientAddress: string;
}

export interface OracleKeys {
  authenticate(
    presented: string | null,
  ): OracleGrant | { readonly refused: ErrorCode } | Promise<OracleGrant | { readonly refused: ErrorCode }>;
  /** The restriction of the key that a caller breaks, or null. */
  checkRestrictions(grant: OracleGrant, caller: OracleCaller): ErrorCode | null;
}

export interface OracleLimitDecision {
  readonly allowed: boolean;
  readonly remaining: number;
  /** Unix seconds at which the bucket is full. */
  readonly resetAt: number;
  readonly retryAfterSeconds: number;
}

export interface OracleLimits {
  /** Rate in tokens a second. A promise only while a bucket that is shared with other processes has to be asked. */
  take(bucket: string, rate: number, burst: number, cost?: number): OracleLimitDecision | Promise<OracleLimitDecision>;
}

/** Requests a calendar month (UTC) of one product, spent from leases; credits has this shape. */
export interface OracleAllowance {
  take(accountId: string, allowance: bigint | null, cost: number): boolean | Promise<boolean>;
  refund(accountId: string, cost: number, takenAtMs?: number): void;
  spent(accountId: string): Promise<{ readonly month: string; readonly used: bigint }>;
}

export interface OracleLedger {
  insert(table: string, rows: readonly object[]): Promise<void>;
  query<T>(sql: string, parameters?: Readonly<Record<string, unknown>>): Promise<T[]>;
}

/** One source as the doors show it. */
export interface SourceState {
  readonly id: OracleSourceId;
  readonly enabled: boolean;
  readonly status: OracleSourceStatus;
  /** Percent of the last 24 hours, or of the time since the start where that is shorter, in which it was not down. */
  readonly uptime24h: number;
  /** Milliseconds from the source's own time to ours, or of its answers over REST; null while nothing was measured. */
  readonly responseMs: number | null;
  /** Messages and answers in 24 hours, and how many of the attempts went well, in percent. */
  readonly requests24h: number;
  readonly successRate: number;
}
