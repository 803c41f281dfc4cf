import type { BundlePool, BundleRecord, Searcher } from "../model/bundle.ts";
import type { SubmitOutcome } from "../model/service.ts";
import {
  outcomeOfEnd,
  outcomeOfRejection,
  type ReputationOutcome,
  type ReputationStore,
  Reputations,
} from "./index.ts";

export interface ReputationTrackerDependencies {
  readonly store: ReputationStore;
  readonly pool: Pick<BundlePool, "onChange">;
  readonly now: () => number;
  /** Lamports: the median of tips that landed lately. */
  readonly medianTip: () => bigint;
  readonly retryableError: (what: string, error: unknown) => void;
}

/** How often standings that have changed are stored. */
const flushMs = 2_000;

/** Searchers' reputations, fed by what becomes of their bundles. */
export class ReputationTracker implements AsyncDisposable {
  readonly reputations: Reputations;
  readonly #dependencies: ReputationTrackerDependencies;
  readonly #following: Disposable;
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(dependencies: ReputationTrackerDependencies) {
    this.#dependencies = dependencies;
    const { store, pool, now, retryableError } = dependencies;
    this.reputations = new Reputations(
      {},
      {
        store,
        now,
        events: {
          outcomeLost: (searcherId, error) => retryableError(`standing of ${searcherId}`, error),
          reputationDamaged: (searcherId) =>
            retryableError(`standing of ${searcherId}`, new Error("it cannot be read")),
        },
      },
    );
    this.#following = pool.onChange((record) => this.#changed(record));
    this.#timer = setInterval(() => void this.#flush(), flushMs);
    this.#timer.unref();
  }

  /** A bundle came in and was answered. One that was known is no second one. */
  submitted({ id }: Searcher, outcome: SubmitOutcome): void {
    if (outcome.accepted && !outcome.fresh) return;
    this.#record(id, { kind: "submitted" });
    // What a simulation said is told by the admission itself.
    if (outcome.accepted || outcome.reason === "simulation_failed") return;
    const told = outcomeOfRejection(outcome.reason);
    if (told !== null) this.#record(id, told);
  }

  simulated(searcherId: string, ok: boolean): void {
    this.#record(searcherId, { kind: "simulated", ok });
  }

  #changed(record: BundleRecord): void {
    const outcome = outcomeOfEnd(record, this.#dependencies.medianTip());
    if (outcome !== null) this.#record(record.searcherId, outcome);
  }

  #record(searcherId: string, outcome: ReputationOutcome): void {
    void this.reputations.record(searcherId, outcome);
  }

  async #flush(): Promise<void> {
    try {
      await this.reputations.flush();
    } catch (error) {
      this.#dependencies.retryableError("standings", error);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    this.#following[Symbol.dispose]();
    await this.reputations[Symbol.asyncDispose]();
  }
}
