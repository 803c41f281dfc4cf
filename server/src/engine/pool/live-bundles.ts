import { SluiceError } from "@sluice/contract/errors";
import { BackgroundTask, invariant, type Timers, within } from "@sluice/lib";
import type { Signature } from "@sluice/wire/identifiers";
import type { BundleStore } from "../../state/index.ts";
import type { BundleRecord } from "../model/bundle.ts";
import { isTerminal } from "../model/lifecycle.ts";
import { poolLimits } from "./pool-options.ts";

/** A live bundle, one that can still change, and the steps of it that wait for their turn. */
export interface LiveBundle {
  record: BundleRecord;
  /** Settles when the steps requested so far are over. */
  turn: Promise<void>;
  waiting: number;
}

/**
 * The live bundles in the order of their arrival, indexed by id, first signature and searcher. Bundles in no block are
 * kept apart from those that wait to be final, since ticks iterate over them 20 times a second and most live bundles
 * are of the other kind: with 20,000 live and 500 of them accepted an iteration takes 1.4 µs, over all of them 70
 * (shared cores; means of 300).
 */
export class LiveBundles {
  readonly #byId = new Map<string, LiveBundle>();
  readonly #records = new Map<string, BundleRecord>();
  readonly #accepted = new Map<string, BundleRecord>();
  readonly #sealed = new Map<string, BundleRecord>();
  readonly #bySignature = new Map<Signature, Set<LiveBundle>>();
  readonly #bySearcher = new Map<string, Set<LiveBundle>>();

  get count(): number {
    return this.#byId.size;
  }

  get(id: string): LiveBundle | null {
    return this.#byId.get(id) ?? null;
  }

  has(live: LiveBundle): boolean {
    return this.#byId.get(live.record.id) === live;
  }

  holding(signature: Signature): readonly BundleRecord[] {
    return recordsOf(this.#bySignature.get(signature));
  }

  ofSearcher(searcherId: string): readonly BundleRecord[] {
    return recordsOf(this.#bySearcher.get(searcherId));
  }

  countOf(searcherId: string): number {
    return this.#bySearcher.get(searcherId)?.size ?? 0;
  }

  every(): Iterable<BundleRecord> {
    return this.#records.values();
  }

  /** Bundles with known content that no block holds. */
  accepted(): Iterable<BundleRecord> {
    return this.#accepted.values();
  }

  /** Sealed bundles, whose content is not known yet. */
  sealed(): Iterable<BundleRecord> {
    return this.#sealed.values();
  }

  /** Resolves when the steps requested so far are over. */
  async settled(): Promise<void> {
    await Promise.all([...this.#byId.values()].map(({ turn }) => turn));
  }

  add(record: BundleRecord): void {
    invariant(!isTerminal(record.state), "a live bundle has not ended");
    invariant(!this.#byId.has(record.id), "a bundle is live once");
    const live: LiveBundle = { record, turn: Promise.resolve(), waiting: 0 };
    this.#byId.set(record.id, live);
    this.#index(record);
    for (const searcherId of submittersOf(record)) addTo(this.#bySearcher, searcherId, live);
    for (const signature of record.signatures) addTo(this.#bySignature, signature, live);
  }

  /** Replaces the record of a live bundle. */
  replace(live: LiveBundle, record: BundleRecord): void {
    invariant(this.has(live) && !isTerminal(record.state), "a record is replaced by one of the same live bundle");
    const before = live.record;
    live.record = record;
    this.#index(record);
    for (const searcherId of record.followers) addTo(this.#bySearcher, searcherId, live);
    if (before.signatures === record.signatures) return;
    for (const signature of before.signatures) removeFrom(this.#bySignature, signature, live);
    for (const signature of record.signatures) addTo(this.#bySignature, signature, live);
  }

  remove(live: LiveBundle): void {
    if (!this.has(live)) return;
    const { id, signatures } = live.record;
    this.#byId.delete(id);
    for (const records of [this.#records, this.#accepted, this.#sealed]) records.delete(id);
    for (const searcherId of submittersOf(live.record)) removeFrom(this.#bySearcher, searcherId, live);
    for (const signature of signatures) removeFrom(this.#bySignature, signature, live);
    this.#assertIndexed();
  }

  #assertIndexed(): void {
    invariant(this.#records.size === this.#byId.size, "every live bundle is in the index of records, and no other");
    invariant(
      this.#accepted.size + this.#sealed.size <= this.#records.size,
      "a live bundle is accepted, sealed or included, and one of these",
    );
  }

  /** A record that is there already keeps its place in the order. */
  #index(record: BundleRecord): void {
    const { id, state, sealed } = record;
    this.#records.set(id, record);
    const isWaiting = state === "accepted";
    if (isWaiting && sealed === null) this.#accepted.set(id, record);
    else this.#accepted.delete(id);
    if (isWaiting && sealed !== null) this.#sealed.set(id, record);
    else this.#sealed.delete(id);
    this.#assertIndexed();
  }
}

export const submittersOf = ({ searcherId, followers }: BundleRecord): readonly string[] => [searcherId, ...followers];

export const tooManySteps = (): SluiceError =>
  new SluiceError("OVERLOADED", { message: "Too many steps of this bundle wait." });

/**
 * Runs `work` after the steps that were requested of this bundle before.
 *
 * @throws {SluiceError} OVERLOADED when the queue of steps is full.
 */
export function inTurn<T>(live: LiveBundle, work: () => Promise<T>): Promise<T> {
  if (live.waiting >= poolLimits.waitingMax) return Promise.reject(tooManySteps());
  const result = live.waiting === 0 ? work() : live.turn.then(work);
  live.waiting += 1;
  const over = (): void => {
    live.waiting -= 1;
  };
  live.turn = result.then(over, over);
  return result;
}

function recordsOf(set: ReadonlySet<LiveBundle> | undefined): readonly BundleRecord[] {
  return set === undefined ? [] : [...set].map(({ record }) => record);
}

function addTo<Key>(index: Map<Key, Set<LiveBundle>>, key: Key, live: LiveBundle): void {
  const set = index.get(key);
  if (set === undefined) index.set(key, new Set([live]));
  else set.add(live);
}

function removeFrom<Key>(index: Map<Key, Set<LiveBundle>>, key: Key, live: LiveBundle): void {
  const set = index.get(key);
  if (set?.delete(live) === true && set.size === 0) index.delete(key);
}

type At = Pick<NonNullable<BundleRecord["forwarded"]>, "slot" | "leader">;

export interface ForwardedNotesDependencies {
  readonly live: LiveBundles;
  readonly store: Pick<BundleStore, "noteForwarded">;
  readonly clock: Timers;
  readonly onError: (error: unknown) => void;
}

/**
 * Counts in memory how often bundles were forwarded and writes the counts of a second together. A step writes its
 * bundle's count as well, so a kill loses only the counts of that second.
 */
export class ForwardedNotes implements AsyncDisposable {
  readonly #dependencies: ForwardedNotesDependencies;
  /** Ids whose counts are not on disk: of live bundles, and of those that ended since the last write. */
  readonly #unwritten = new Set<string>();
  readonly #writing: BackgroundTask;

  constructor(dependencies: ForwardedNotesDependencies) {
    const { clock, onError } = dependencies;
    this.#dependencies = dependencies;
    this.#writing = new BackgroundTask(
      { closeMsMax: poolLimits.closeMsMax },
      { clock, work: () => this.#writeAll(), onError },
    );
  }

  note(ids: readonly string[], { slot, leader }: At): void {
    const { live: bundles } = this.#dependencies;
    for (const id of ids) {
      const live = bundles.get(id);
      if (live === null) continue;
      const times = (live.record.forwarded?.times ?? 0) + 1;
      bundles.replace(live, { ...live.record, forwarded: { times, slot, leader } });
      this.#unwritten.add(id);
    }
    if (this.#unwritten.size > 0) this.#writing.runWithin(poolLimits.forwardedMs);
  }

  /** Writes the counts that are not on disk; joins a run under way. Never rejects. */
  write(): Promise<void> {
    return this.#writing.run();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // Counts, not ends of bundles: a store that does not answer holds no shutdown back for them.
    await within(this.#dependencies.clock, poolLimits.closeMsMax, this.#writeLast());
  }

  async #writeLast(): Promise<void> {
    await this.#writing[Symbol.asyncDispose]();
    await this.#writing.run();
  }

  async #writeAll(): Promise<void> {
    while (this.#unwritten.size > 0) {
      const ids = [...this.#unwritten].slice(0, poolLimits.forwardedBatch);
      const notes = ids.flatMap((id) => {
        const forwarded = this.#dependencies.live.get(id)?.record.forwarded ?? null;
        return forwarded === null ? [] : [{ id, forwarded }];
      });
      // A bundle that is forwarded while this is written is noted again.
      for (const id of ids) this.#unwritten.delete(id);
      await this.#write(notes);
    }
  }

  async #write(notes: Parameters<BundleStore["noteForwarded"]>[0]): Promise<void> {
    const { live, store } = this.#dependencies;
    try {
      await store.noteForwarded(notes);
    } catch (error) {
      for (const { id } of notes) if (live.get(id) !== null) this.#unwritten.add(id);
      this.#writing.runWithin(poolLimits.outcomesRetryMs);
      throw error;
    }
  }
}
