import type { SearcherTier } from "@sluice/contract/engine";
import { BackgroundTask, type Clock } from "@sluice/lib";
import type { ReputationStore } from "../../state/index.ts";
import type { BundlePool, BundleRecord, Searcher } from "../model/bundle.ts";
import type { ReputationFigures, SubmitOutcome } from "../model/service.ts";
import {
  afterOutcome,
  figuresOf,
  newReputation,
  outcomeOfEnd,
  outcomeOfRejection,
  type Reputation,
  type ReputationOutcome,
  readReputation,
  reputationVersion,
  writeReputation,
} from "./reputation.ts";

type ReputationStorage = Pick<ReputationStore, "get" | "put">;

export interface ReputationsEvents {
  /** An outcome was not counted: its searcher's reputation could not be read, or there was no room for it. */
  outcomeLost(searcherId: string, error: unknown): void;
  /** A stored reputation is not readable; the searcher begins anew. */
  reputationDamaged(searcherId: string): void;
}

export interface ReputationsOptions {
  /** Reputations in memory. The least recently used goes first, once it is stored. */
  readonly searchersMax: number;
  /** Reputations of one `put`. */
  readonly batchMax: number;
  /** Reputations that are read at a time; more reads are refused. */
  readonly readingMax: number;
}

export const reputationsDefaults: ReputationsOptions = {
  searchersMax: 20_000,
  batchMax: 1_000,
  readingMax: 1_000,
};

/**
 * Every searcher's reputation: recent ones in memory, all in the store. Outcomes are counted in memory and reach
 * the store with the next `flush`; a kill loses the outcomes since the last one.
 */
export class Reputations {
  readonly #options: ReputationsOptions;
  readonly #store: ReputationStorage;
  readonly #events: ReputationsEvents;
  readonly #now: () => number;
  /** Least recently used first. */
  readonly #known = new Map<string, Reputation>();
  /** Searchers whose reputation in memory is newer than the stored one. */
  readonly #unsaved = new Set<string>();
  readonly #loading = new Map<string, Promise<void>>();
  #flushing: Promise<void> | null = null;

  constructor(
    options: Partial<ReputationsOptions>,
    dependencies: {
      readonly store: ReputationStorage;
      readonly events: ReputationsEvents;
      readonly now: () => number;
    },
  ) {
    this.#options = { ...reputationsDefaults, ...options };
    this.#store = dependencies.store;
    this.#events = dependencies.events;
    this.#now = dependencies.now;
  }

  /** Counts an outcome. Never rejects: an outcome that cannot be counted is reported to the events. */
  async record(searcherId: string, outcome: ReputationOutcome): Promise<void> {
    const now = this.#now();
    try {
      await this.#load(searcherId);
      // Nothing is awaited between loading and this line, so no other outcome is overwritten.
      const reputation = this.#known.get(searcherId);
      if (reputation === undefined) throw new Error("no room for its reputation");
      this.#unsaved.add(searcherId);
      this.#keep(searcherId, afterOutcome(reputation, outcome, now));
    } catch (error) {
      this.#events.outcomeLost(searcherId, error);
    }
  }

  /** Rejects with what the store throws. An unknown searcher has the figures of a new one. */
  async figures(searcherId: string): Promise<ReputationFigures> {
    await this.#load(searcherId);
    const now = this.#now();
    return figuresOf(this.#known.get(searcherId) ?? newReputation(now), now);
  }

  /** The tier in memory; for a reputation that is not in memory bronze, and a read of the store begins. */
  tierNow(searcherId: string): SearcherTier {
    const known = this.#known.get(searcherId);
    if (known !== undefined) return figuresOf(known, this.#now()).tier;
    this.#load(searcherId).catch(() => undefined);
    return "bronze";
  }

  /** Stores the changes. Rejects as the store does; the changes are kept for the next call then. */
  flush(): Promise<void> {
    this.#flushing ??= this.#flush().finally(() => {
      this.#flushing = null;
    });
    return this.#flushing;
  }

  async #flush(): Promise<void> {
    const ids = [...this.#unsaved];
    for (let at = 0; at < ids.length; at += this.#options.batchMax) {
      const batch = ids.slice(at, at + this.#options.batchMax).flatMap((searcherId) => {
        const reputation = this.#known.get(searcherId);
        return reputation === undefined ? [] : [{ searcherId, reputation }];
      });
      await this.#store.put(
        batch.map(({ searcherId, reputation }) => {
          return { searcherId, version: reputationVersion, value: writeReputation(reputation) };
        }),
      );
      for (const { searcherId, reputation } of batch) {
        if (this.#known.get(searcherId) === reputation) this.#unsaved.delete(searcherId);
      }
    }
    this.#makeRoom();
  }

  /** Loads a reputation; callers that come meanwhile share the read. */
  #load(searcherId: string): Promise<void> {
    const known = this.#known.get(searcherId);
    if (known !== undefined) {
      this.#keep(searcherId, known);
      return Promise.resolve();
    }
    const present = this.#loading.get(searcherId);
    if (present !== undefined) return present;
    if (this.#loading.size >= this.#options.readingMax)
      return Promise.reject(new Error("too many reputations are being read"));
    const loading = this.#read(searcherId).finally(() => this.#loading.delete(searcherId));
    this.#loading.set(searcherId, loading);
    return loading;
  }

  async #read(searcherId: string): Promise<void> {
    if (this.#known.size >= this.#options.searchersMax && this.#unsaved.size >= this.#known.size) await this.flush();
    const stored = await this.#store.get(searcherId);
    const read = stored === null ? null : readReputation(stored.version, stored.value);
    if (stored !== null && read === null) this.#events.reputationDamaged(searcherId);
    this.#keep(searcherId, read ?? newReputation(this.#now()));
    this.#makeRoom();
  }

  #keep(searcherId: string, reputation: Reputation): void {
    this.#known.delete(searcherId);
    this.#known.set(searcherId, reputation);
  }

  #makeRoom(): void {
    if (this.#known.size <= this.#options.searchersMax) return;
    for (const searcherId of this.#known.keys()) {
      if (this.#unsaved.has(searcherId)) continue;
      this.#known.delete(searcherId);
      if (this.#known.size <= this.#options.searchersMax) return;
    }
  }
}

export interface ReputationTrackerDependencies {
  readonly store: ReputationStorage;
  readonly pool: Pick<BundlePool, "onChange">;
  readonly clock: Pick<Clock, "now" | "after" | "every">;
  /** Lamports: the median of tips that landed lately. */
  readonly medianTip: () => bigint;
  readonly retryableError: (what: string, error: unknown) => void;
}

/** How often reputations that have changed are stored. */
const flushMs = 2_000;

/** Searchers' reputations, fed by submissions, simulations and ends of bundles. */
export class ReputationTracker implements AsyncDisposable {
  readonly reputations: Reputations;
  readonly #dependencies: ReputationTrackerDependencies;
  readonly #following: Disposable;
  readonly #flushing: BackgroundTask;

  constructor(dependencies: ReputationTrackerDependencies) {
    this.#dependencies = dependencies;
    const { store, pool, clock, retryableError } = dependencies;
    this.reputations = new Reputations(
      {},
      {
        store,
        now: () => clock.now(),
        events: {
          outcomeLost: (searcherId, error) => retryableError(`reputation of ${searcherId}`, error),
          reputationDamaged: (searcherId) =>
            retryableError(`reputation of ${searcherId}`, new Error("the stored reputation is not readable")),
        },
      },
    );
    this.#following = pool.onChange((record) => this.#changed(record));
    this.#flushing = new BackgroundTask(
      { everyMs: flushMs },
      { clock, work: () => this.reputations.flush(), onError: (error) => retryableError("reputations", error) },
    );
  }

  /** A submission was answered. A known bundle that is submitted again does not count. */
  submitted({ id }: Searcher, outcome: SubmitOutcome): void {
    if (outcome.ok && !outcome.fresh) return;
    this.#record(id, { kind: "submitted" });
    // Admission itself reports the outcome of the simulation.
    if (outcome.ok || outcome.reason === "simulation_failed") return;
    const rejected = outcomeOfRejection(outcome.reason);
    if (rejected !== null) this.#record(id, rejected);
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

  async [Symbol.asyncDispose](): Promise<void> {
    this.#following[Symbol.dispose]();
    await this.#flushing.finish();
  }
}
