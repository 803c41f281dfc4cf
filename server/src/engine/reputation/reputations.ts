import type { SearcherTier } from "@sluice/contract/engine";
import type { ReputationFigures } from "../model/service.ts";
import type { ReputationOutcome } from "./outcome.ts";
import { afterOutcome, figuresOf, newReputation, type Reputation } from "./reputation.ts";
import { readReputation, reputationVersion, writeReputation } from "./serialise.ts";

/** A standing as it is stored; `value` is for JSON. */
export interface StoredReputation {
  readonly searcherId: string;
  readonly version: number;
  readonly value: unknown;
}

/** Where standings are kept; the engine's reputation store has this shape. Failures are thrown. */
export interface ReputationStore {
  get(searcherId: string): Promise<StoredReputation | null>;
  put(records: readonly StoredReputation[]): Promise<void>;
}

export interface ReputationsEvents {
  /** An outcome was not counted: its searcher's standing could not be read, or there was no room for it. */
  outcomeLost(searcherId: string, error: unknown): void;
  /** A stored standing could not be understood; the searcher begins anew. */
  reputationDamaged(searcherId: string): void;
}

export interface ReputationsOptions {
  /** Standings in memory. Those that nobody asked for longest go first, once they are stored. */
  readonly searchersMax: number;
  /** Standings that one `put` takes. */
  readonly batchMax: number;
  /** Standings that may be read at a time; beyond it reading is refused. */
  readonly readingMax: number;
}

export const reputationsDefaults: ReputationsOptions = {
  searchersMax: 20_000,
  batchMax: 1_000,
  readingMax: 1_000,
};

/**
 * Every searcher's standing: those of late in memory, all of them in the store. Outcomes are counted in memory and reach
 * the store with the next `flush`; what was counted after the last one is lost with the process.
 */
export class Reputations implements AsyncDisposable {
  readonly #options: ReputationsOptions;
  readonly #store: ReputationStore;
  readonly #events: ReputationsEvents;
  readonly #now: () => number;
  /** The one that was asked for last is last. */
  readonly #known = new Map<string, Reputation>();
  /** Searchers whose standing in memory is newer than the stored one. */
  readonly #unsaved = new Set<string>();
  readonly #loading = new Map<string, Promise<void>>();
  #flushing: Promise<void> | null = null;

  constructor(
    options: Partial<ReputationsOptions>,
    dependencies: {
      readonly store: ReputationStore;
      readonly events: ReputationsEvents;
      readonly now: () => number;
    },
  ) {
    this.#options = { ...reputationsDefaults, ...options };
    this.#store = dependencies.store;
    this.#events = dependencies.events;
    this.#now = dependencies.now;
  }

  /** Counts an outcome. Never throws: one that cannot be counted is told to the events. */
  async record(searcherId: string, outcome: ReputationOutcome): Promise<void> {
    const now = this.#now();
    try {
      await this.#load(searcherId);
      // Between loading and this line nothing is waited for, so no other outcome is written over.
      const reputation = this.#known.get(searcherId);
      if (reputation === undefined) throw new Error("no room for its standing");
      this.#unsaved.add(searcherId);
      this.#keep(searcherId, afterOutcome(reputation, outcome, now));
    } catch (error) {
      this.#events.outcomeLost(searcherId, error);
    }
  }

  /** Throws what the store throws. A searcher that nothing is known of has a new one's figures. */
  async figures(searcherId: string): Promise<ReputationFigures> {
    await this.#load(searcherId);
    const now = this.#now();
    return figuresOf(this.#known.get(searcherId) ?? newReputation(now), now);
  }

  /** The tier as far as memory knows it; bronze, and a look at the store begun, where it does not. */
  tierNow(searcherId: string): SearcherTier {
    const known = this.#known.get(searcherId);
    if (known !== undefined) return figuresOf(known, this.#now()).tier;
    this.#load(searcherId).catch(() => undefined);
    return "bronze";
  }

  /** Stores what has changed. Throws what the store throws; the changes are kept for the next time then. */
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

  /** Brings a standing into memory; one look at the store for all who ask meanwhile. */
  #load(searcherId: string): Promise<void> {
    const known = this.#known.get(searcherId);
    if (known !== undefined) {
      this.#keep(searcherId, known);
      return Promise.resolve();
    }
    const present = this.#loading.get(searcherId);
    if (present !== undefined) return present;
    if (this.#loading.size >= this.#options.readingMax) return Promise.reject(new Error("too many standings are read"));
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

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#flushing;
    await this.flush();
  }
}
