import type { ErrorCode } from "@sluice/contract/errors";
import type { HealthRecord } from "@sluice/contract/schemas";
import type { Network, PlatformTier } from "@sluice/contract/tiers";

/** What door needs of the rooms before it, and nothing more; compose hands in the rooms themselves. */

export interface RateBucket {
  readonly bucket: string;
  readonly requestsPerSecond: number;
  readonly burst: number;
}

/** What a key may do, as far as this door asks. One object for as long as the key is cached. */
export interface DoorGrant {
  readonly keyId: string;
  readonly accountId: string;
  readonly tier: PlatformTier;
  readonly buckets: { readonly requests: readonly RateBucket[]; readonly send: RateBucket };
  /** Credits a calendar month; null is unlimited. */
  readonly creditsMonthly: bigint | null;
}

export interface RestrictedRequest {
  readonly network: Network;
  readonly origin: string | null;
  readonly referer: string | null;
  readonly clientAddress: string;
}

/** Methods, not properties: the real rooms take richer grants than this door knows. */
export interface DoorKeys {
  authenticate(
    presented: string | null,
  ): DoorGrant | { readonly refused: ErrorCode } | Promise<DoorGrant | { readonly refused: ErrorCode }>;
  checkRestrictions(grant: DoorGrant, request: RestrictedRequest): ErrorCode | null;
}

export interface LimitDecision {
  readonly allowed: boolean;
  readonly limit: number;
  readonly burst: number;
  readonly remaining: number;
  /** Unix seconds. */
  readonly resetAt: number;
  readonly retryAfterSeconds: number;
}

export interface DoorLimits {
  /** A promise only while a bucket that is shared with other processes has to be asked. */
  take(bucket: string, rate: number, burst: number, cost?: number): LimitDecision | Promise<LimitDecision>;
}

export interface DoorCredits {
  /** Takes the whole cost or nothing. A promise only when a new lease has to be fetched. */
  take(accountId: string, allowance: bigint | null, cost: number): boolean | Promise<boolean>;
  /** `takenAtMs` (Unix ms) says which month was charged. */
  refund(accountId: string, cost: number, takenAtMs: number): void;
}

/** The status of a fact about a connection that goes on (Switching Protocols); its last fact has the close code. */
export const statusStillOpen = 101;

/** One answered call, or what passed over a connection since its last fact, as the ledger keeps it. */
export interface RequestFact {
  readonly at: number;
  readonly requestId: string;
  readonly accountId: string;
  readonly keyId: string;
  readonly network: string;
  readonly door: "rpc" | "pubsub";
  readonly method: string;
  readonly status: number;
  readonly rpcCode: number | null;
  readonly latencyMs: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly credits: number;
  readonly cache: "HIT" | "MISS" | "";
  readonly upstream: string;
}

/** Spans of requests, where an operator has loaded an OpenTelemetry SDK; observe's Tracing has this shape. */
export interface DoorTracing {
  span<T>(
    name: string,
    attributes: Record<string, string>,
    work: (span: { note(name: string, value: string | number | boolean): void }) => T,
  ): T;
}

/** What GET /health tells; the door itself turns it to `down` while it drains. */
export type HealthSource = () => HealthRecord;
