import { LedgerQueryError } from "../../ledger/index.ts";
import type { StoredBundle } from "../../state/index.ts";
import { Duty } from "./duty.ts";
import { type PoolDependencies, poolLimits } from "./pool-options.ts";

const table = "bundle_outcomes";
/** Batches of one run; what is left then waits for the next. */
const batchesMax = 100;

/**
 * Tells the ledger what became of bundles. That an outcome has to be told is on disk with the step that ended the bundle,
 * and is taken off when the ledger has it; a process that dies between the two tells it again, the same to the last
 * column, and the ledger counts it once.
 */
export class Outcomes implements AsyncDisposable {
  readonly #dependencies: Omit<PoolDependencies, "clock">;
  readonly #duty: Duty;

  constructor(options: { readonly hasTimers: boolean }, dependencies: Omit<PoolDependencies, "clock">) {
    this.#dependencies = dependencies;
    this.#duty = new Duty(options, {
      work: () => this.#tellAll(),
      caught: (error) => dependencies.events.internalError(table, error),
    });
  }

  /** Something has ended. */
  poke(): void {
    this.#duty.within(poolLimits.outcomesMs);
  }

  /** Tells what there is to tell; joins a run that is under way. Never rejects. */
  tell(): Promise<void> {
    return this.#duty.run();
  }

  /** Tells what waits for its second still, so that an end in order leaves nothing to the next process. */
  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#duty.isDue) void this.#duty.run();
    await this.#duty[Symbol.asyncDispose]();
  }

  async #tellAll(): Promise<void> {
    for (let batch = 0; batch < batchesMax; batch += 1) {
      const bundles = await this.#dependencies.store.untold(poolLimits.outcomesBatch);
      if (bundles.length === 0) return;
      if (!(await this.#tellBatch(bundles))) {
        this.#duty.within(poolLimits.outcomesRetryMs);
        return;
      }
      if (bundles.length < poolLimits.outcomesBatch) return;
    }
    this.poke();
  }

  /** True when the batch is off the disk: told, or refused for good. */
  async #tellBatch(bundles: readonly StoredBundle[]): Promise<boolean> {
    const { store, ledger, events } = this.#dependencies;
    try {
      await ledger.insert(table, bundles.map(outcomeRow));
      events.outcomesWritten(bundles.length);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      if (!(error instanceof LedgerQueryError)) {
        events.outcomesWait(reason);
        return false;
      }
      // One row that the ledger cannot hold must not keep the others from it.
      if (bundles.length > 1) return this.#tellEach(bundles);
      for (const { id } of bundles) events.outcomeRefused(id, reason);
    }
    await store.told(bundles.map(({ id }) => id));
    return true;
  }

  async #tellEach(bundles: readonly StoredBundle[]): Promise<boolean> {
    for (const bundle of bundles) if (!(await this.#tellBatch([bundle]))) return false;
    return true;
  }
}

const ofNoAccount = "pubkey:";

/** A row of `bundle_outcomes`. It comes from what is on disk alone, so that telling twice tells the same. */
export function outcomeRow(bundle: StoredBundle): Readonly<Record<string, unknown>> {
  return {
    at: bundle.changedAt,
    id: bundle.id,
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
