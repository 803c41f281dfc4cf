import type { BundlePool, BundleRecord, Searcher } from "../model/bundle.ts";
import type { SubmitOutcome } from "../model/service.ts";
import {
  outcomeOfEnd,
  outcomeOfRejection,
  ReputationBook,
  type ReputationOutcome,
  type ReputationStore,
} from "./index.ts";

export interface ReputationTrackerDependencies {
  readonly store: ReputationStore;
  readonly book: Pick<BundlePool, "onChange">;
  readonly now: () => number;
  /** Lamports: the median of tips that landed lately. */
  readonly medianTip: () => bigint;
  readonly heldUp: (what: string, fault: unknown) => void;
}

/** How often standings that have changed are stored. */
const flushMs = 2_000;

/** Searchers' reputations, fed by what becomes of their bundles. */
export class ReputationTracker implements AsyncDisposable {
  readonly reputations: ReputationBook;
  readonly #deps: ReputationTrackerDependencies;
  readonly #following: Disposable;
  readonly #timer: ReturnType<typeof setInterval>;

  constructor(dependencies: ReputationTrackerDependencies) {
    this.#deps = dependencies;
    const { store, book, now, heldUp } = dependencies;
    this.reputations = new ReputationBook(
      {},
      {
        store,
        now,
        events: {
          outcomeLost: (searcherId, fault) => heldUp(`standing of ${searcherId}`, fault),
          standingDamaged: (searcherId) => heldUp(`standing of ${searcherId}`, new Error("it cannot be read")),
        },
      },
    );
    this.#following = book.onChange((record) => this.#changed(record));
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
    const outcome = outcomeOfEnd(record, this.#deps.medianTip());
    if (outcome !== null) this.#record(record.searcherId, outcome);
  }

  #record(searcherId: string, outcome: ReputationOutcome): void {
    void this.reputations.record(searcherId, outcome);
  }

  async #flush(): Promise<void> {
    try {
      await this.reputations.flush();
    } catch (fault) {
      this.#deps.heldUp("standings", fault);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    this.#following[Symbol.dispose]();
    await this.reputations[Symbol.asyncDispose]();
  }
}
