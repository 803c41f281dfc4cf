import type { BundleReason, SearcherTier } from "@sluice/contract/engine";
import type { BundlePool, BundleRecord, Searcher } from "../model/bundle.ts";
import type { ReputationFigures, SubmitOutcome } from "../model/service.ts";
import {
  afterOutcome,
  figuresOf,
  newReputation,
  type Reputation,
  readReputation,
  reputationVersion,
  writeReputation,
} from "./reputation.ts";

/** What a searcher's reputation learns from. */
export type ReputationOutcome =
  /** A bundle came in, whatever became of it. */
  | { readonly kind: "submitted" }
  /** A bundle was simulated for the first time. */
  | { readonly kind: "simulated"; readonly ok: boolean }
  /** A bundle is in the finalized chain; `medianTip` is the median of tips that landed about then. Lamports. */
  | { readonly kind: "landed"; readonly tip: bigint; readonly medianTip: bigint }
  /** A bundle was handed to a leader and can no longer land. */
  | { readonly kind: "missed" }
  /** A bundle ended without a fault of its own: others paid more, or the chain or we prevented it. */
  | { readonly kind: "outbid" }
  /** A bundle that nobody sends in good faith. */
  | { readonly kind: "abuse" };

/** Reasons that no sound client runs into: forged or spoilt bytes, a tip that is claimed and not paid, front running. */
const abuses: ReadonlySet<BundleReason> = new Set([
  "malformed_transaction",
  "non_canonical_transaction",
  "bad_base64",
  "signature_invalid",
  "tip_not_paid",
  "decryption_failed",
  "front_run_protected",
]);

/** What a refusal tells of its searcher; null for those that tell nothing, such as a floor that rose or a full bucket. */
export function outcomeOfRejection(reason: BundleReason): ReputationOutcome | null {
  if (abuses.has(reason)) return { kind: "abuse" };
  return reason === "simulation_failed" ? { kind: "simulated", ok: false } : null;
}

/** Ends of bundles that a leader had and did not land. */
const missed: ReadonlySet<BundleReason> = new Set(["blockhash_expired", "target_slot_past", "not_landed"]);

/** What a bundle's last state tells; null while it can still change. `medianTip` is the median of landed tips, lamports. */
export function outcomeOfEnd(record: BundleRecord, medianTip: bigint): ReputationOutcome | null {
  if (record.state === "accepted" || record.state === "included") return null;
  if (record.state === "finalized") return { kind: "landed", tip: record.tipSeen ?? record.tip, medianTip };
  const { reason, forwarded } = record;
  const rejection = reason === null ? null : outcomeOfRejection(reason);
  if (rejection !== null) return rejection;
  return forwarded !== null && reason !== null && missed.has(reason) ? { kind: "missed" } : { kind: "outbid" };
}

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
