import { engineLimits } from "@sluice/contract/engine";
import type { Clock } from "@sluice/lib";
import type { BundleStore } from "../../state/index.ts";

/** Bounds of a pool, and its pace. Times in milliseconds. */
export const poolLimits = {
  /** Bundles that can still change; one more is refused. Each takes up to 10 KB. */
  liveMax: 50_000,
  /** Steps of one bundle that wait for their turn. */
  waitingMax: 16,
  /** Bundles read at once while loading. */
  loadPage: 500,
  /** How often what was forwarded is written, and how many bundles a statement. */
  forwardedMs: 1_000,
  forwardedBatch: 500,
  /** Outcomes that go to the ledger at once, how long they gather, and the wait after the ledger did not take them. */
  outcomesBatch: 500,
  outcomesMs: 1_000,
  outcomesRetryMs: 5_000,
  /** How often old bundles are forgotten, and in how many steps at most. */
  forgetMs: 60_000,
  forgetStepsMax: 20,
  keptMs: engineLimits.keptMs,
  /** How long closing waits for the ledger. */
  closeMsMax: 5_000,
} as const;

export interface PoolOptions {
  readonly liveMax?: number;
  /** False where whoever opens the pool calls its duties; for tests that take no time. */
  readonly hasTimers?: boolean;
}

export interface OutcomeLedger {
  insert(table: string, rows: readonly object[]): Promise<void>;
}

/** What a pool tells of itself; compose wires it to logs and metrics. */
export interface PoolEvents {
  /** Bundles that can still change are in memory again. */
  bundlesLoaded(count: number): void;
  outcomesWritten(count: number): void;
  /** The ledger does not take outcomes now; they wait on disk. */
  outcomesWait(reason: string): void;
  /** The ledger refused an outcome for good; it is given up. */
  outcomeRefused(id: string, reason: string): void;
  bundlesForgotten(count: number): void;
  internalError(where: string, error: unknown): void;
}

export interface PoolDependencies {
  readonly store: BundleStore;
  readonly ledger: OutcomeLedger;
  readonly clock: Pick<Clock, "now">;
  readonly events: PoolEvents;
}
