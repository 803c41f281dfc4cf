import type { Clock } from "@sluice/lib";
import type { ReplicasEvents } from "./events.ts";
import type { LimitDecision } from "./limits.ts";
import type { ReplicaGroup } from "./replica-groups.ts";
import type { Attendance } from "./replicas.ts";

/** The part of hot that is used. */
export interface SharedStore extends Attendance {
  leaseTokens(
    key: string,
    request: {
      readonly rate: number;
      readonly burst: number;
      readonly holder: string;
      readonly sequence: number;
      readonly held: number;
      readonly needed: number;
      readonly want: number;
      readonly owed: number;
      readonly lifeMs: number;
    },
  ): Promise<{ readonly granted: number; readonly thousandths: number }>;
}

export interface SharedLimitsOptions {
  /** This process's name among its replicas: 1 to 64 letters, digits, `-` and `_`, never used by another. */
  readonly holder: string;
  /** Of which groups this process is; a gateway when absent. */
  readonly groups?: readonly ReplicaGroup[];
  readonly bucketsMax?: number;
  /** How long a take waits for the shared bucket before this process decides alone. */
  readonly waitMs?: number;
  /** Null leaves sweeping and heartbeats to `tick`. */
  readonly tickIntervalMs?: number | null;
}

/** Token buckets, wherever they are kept. */
export interface RateLimiter {
  /**
   * As `Limits.take`. Answers at once while a lease lasts, while the bucket is known to be empty, and while what is
   * shared is out of reach; a promise, which never rejects, only while the shared bucket is asked.
   */
  take(bucket: string, rate: number, burst: number, cost?: number): LimitDecision | Promise<LimitDecision>;
}

export interface SharedLimits extends RateLimiter, AsyncDisposable {
  /** Processes that share the limits, as last known; at least 1. */
  readonly replicas: number;
  /** One heartbeat and one sweep: leases that lie idle go back, those in use are renewed. Never rejects. */
  tick(): Promise<void>;
}

export interface SharedLimitsDependencies {
  readonly clock: Clock;
  readonly store: SharedStore;
  readonly events: ReplicasEvents;
}
