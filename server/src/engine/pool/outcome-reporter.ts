import type { Network } from "@sluice/contract/tiers";
import { BackgroundTask } from "@sluice/lib";
import { LedgerQueryError } from "../../ledger/index.ts";
import type { BundleRecord } from "../model/bundle.ts";
import { type PoolDependencies, poolLimits } from "./pool-options.ts";

const table = "bundle_outcomes";
/** Batches of one run; the rest waits for the next. */
const batchesMax = 100;

/**
 * Reports to the ledger how bundles ended. The step that ends a bundle marks its outcome as unreported in the store,
 * and the mark is removed when the ledger has the row. A process that dies between the two reports it again, equal in
 * every column, and the ledger counts it once.
 */
export class OutcomeReporter implements AsyncDisposable {
  readonly #dependencies: PoolDependencies;
  readonly #reporting: BackgroundTask;
  /** Unix milliseconds; null when no outcome is known to wait. */
  #waitingSinceMs: number | null = null;
  #requests = 0;

  constructor(dependencies: PoolDependencies) {
    this.#dependencies = dependencies;
    this.#reporting = new BackgroundTask(
      { closeMsMax: poolLimits.closeMsMax },
      {
        clock: dependencies.clock,
        work: () => this.#reportAll(),
        onError: (error) => {
          // The store was away: nothing else may end a bundle for long, and so ask for a report.
          dependencies.events.internalError(table, error);
          this.#reporting.runWithin(poolLimits.outcomesRetryMs);
        },
      },
    );
  }

  /** How long outcomes have waited, in milliseconds; 0 when none is known to wait. */
  get waitMs(): number {
    return this.#waitingSinceMs === null ? 0 : Math.max(0, this.#dependencies.clock.now() - this.#waitingSinceMs);
  }

  /** A bundle has ended. */
  request(): void {
    this.#requests += 1;
    this.#waitingSinceMs ??= this.#dependencies.clock.now();
    this.#reporting.runWithin(poolLimits.outcomesMs);
  }

  /** Reports all unreported outcomes; joins a run under way. Never rejects. */
  run(): Promise<void> {
    return this.#reporting.run();
  }

  /** Reports outcomes that wait for their second, so that an orderly end leaves none to the next process. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#reporting.isDue) void this.#reporting.run();
    await this.#reporting[Symbol.asyncDispose]();
  }

  async #reportAll(): Promise<void> {
    const started = { requests: this.#requests, ms: this.#dependencies.clock.now() };
    for (let batch = 0; batch < batchesMax; batch += 1) {
      const bundles = await this.#dependencies.store.unreported(poolLimits.outcomesBatch);
      if (bundles.length === 0) return this.#reported(started);
      this.#waitingSinceMs ??= started.ms;
      if (!(await this.#reportBatch(bundles))) {
        this.#reporting.runWithin(poolLimits.outcomesRetryMs);
        return;
      }
      if (bundles.length < poolLimits.outcomesBatch) return this.#reported(started);
    }
    this.request();
  }

  /** What had ended when the run began is in the ledger. */
  #reported({ requests, ms }: { readonly requests: number; readonly ms: number }): void {
    this.#waitingSinceMs = requests === this.#requests ? null : ms;
  }

  /** True when the marks of the batch are removed: reported, or refused for good. */
  async #reportBatch(bundles: readonly BundleRecord[]): Promise<boolean> {
    const { store, network, ledger, events } = this.#dependencies;
    try {
      await ledger.insert(
        table,
        bundles.map((bundle) => outcomeRow(network, bundle)),
      );
      events.outcomesWritten(bundles.length);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (!(error instanceof LedgerQueryError)) {
        events.outcomesWait(reason);
        return false;
      }
      // One row that the ledger cannot take must not hold back the others.
      if (bundles.length > 1) return this.#reportEach(bundles);
      for (const { id } of bundles) events.outcomeRefused(id, reason);
    }
    await store.markReported(bundles.map(({ id }) => id));
    return true;
  }

  async #reportEach(bundles: readonly BundleRecord[]): Promise<boolean> {
    for (const bundle of bundles) if (!(await this.#reportBatch([bundle]))) return false;
    return true;
  }
}

const ofNoAccount = "pubkey:";

/** A row of `bundle_outcomes`. It depends on the disk alone, so that reports of one bundle are equal. */
export function outcomeRow(network: Network, bundle: BundleRecord): Readonly<Record<string, unknown>> {
  return {
    at: bundle.changedAt,
    id: bundle.id,
    network,
    chain: bundle.chain ?? "",
    searcher_id: bundle.searcherId,
    account_id: bundle.searcherId.startsWith(ofNoAccount) ? "" : bundle.searcherId,
    door: bundle.ingress,
    mev_type: bundle.mevType,
    state: bundle.state,
    reason: bundle.reason ?? "",
    tip: bundle.tip,
    tip_seen: bundle.tipSeen,
    compute_units: bundle.computeUnits,
    signatures: bundle.signatures,
    target_slot: bundle.targetSlot,
    accepted_at: bundle.receivedAt,
    landed_slot: bundle.landed?.slot ?? null,
    leader: bundle.forwarded?.leader ?? "",
    forwarded_times: bundle.forwarded?.times ?? 0,
  };
}
