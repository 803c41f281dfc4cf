import { engineLimits } from "@sluice/contract/engine";
import type { Network } from "@sluice/contract/tiers";
import type { Clock } from "@sluice/lib";
import type { BundleStore } from "../../state/index.ts";

/** Bounds of a pool and the intervals of its background work. Times in milliseconds. */
export const poolLimits = {
  /** Live bundles, those that can still change; one more is refused. Each takes up to 10 KB. */
  liveMax: 50_000,
  /** Steps of one bundle that wait for their turn. */
  waitingMax: 16,
  /** Bundles of one page while loading. */
  loadPage: 500,
  /** How often forwarded counts are written, and how many bundles a statement takes. */
  forwardedMs: 1_000,
  forwardedBatch: 500,
  /** Outcomes of one ledger insert, how long they are collected, and the wait after the ledger rejected them. */
  outcomesBatch: 500,
  outcomesMs: 1_000,
  outcomesRetryMs: 5_000,
  /** How often old bundles are deleted, and the statements of one run. */
  forgetMs: 60_000,
  forgetStepsMax: 20,
  keptMs: engineLimits.keptMs,
  /** How long closing waits for each: work under way, the ledger, the last forwarded counts. */
  closeMsMax: 5_000,
} as const;

export interface PoolOptions {
  readonly liveMax?: number;
}

export interface OutcomeLedger {
  insert(table: string, rows: readonly object[]): Promise<void>;
}

/** Events of a pool for logs and metrics. */
export interface PoolEvents {
  /** Live bundles were loaded from the store. */
  bundlesLoaded(count: number): void;
  outcomesWritten(count: number): void;
  /** The ledger is unavailable; outcomes wait in the store. */
  outcomesWait(reason: string): void;
  /** The ledger refused an outcome for good; it is dropped. */
  outcomeRefused(id: string, reason: string): void;
  bundlesForgotten(count: number): void;
  internalError(where: string, error: unknown): void;
}

export interface PoolDependencies {
  readonly store: BundleStore;
  /** The network, and the hash of its chain's genesis as it is known now. */
  readonly network: Network;
  readonly genesis: () => string | null;
  readonly ledger: OutcomeLedger;
  readonly clock: Pick<Clock, "now" | "after" | "every">;
  readonly events: PoolEvents;
}
