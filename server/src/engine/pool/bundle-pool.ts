import type { BundleState } from "@sluice/contract/engine";
import { SluiceError } from "@sluice/contract/errors";
import { BackgroundTask, Emitter, invariant, KeyedEmitter, within } from "@sluice/lib";
import type { Signature } from "@sluice/wire/identifiers";
import { followersMax, StateError } from "../../state/index.ts";
import {
  type BundleChange,
  type BundlePool,
  type BundleRecord,
  isSubmitter,
  type NewBundle,
  type OpenedContent,
} from "../model/bundle.ts";
import { isTerminal, stepped } from "../model/lifecycle.ts";
import { ForwardedNotes, inTurn, type LiveBundle, LiveBundles, submittersOf, tooManySteps } from "./live-bundles.ts";
import { OutcomeReporter } from "./outcome-reporter.ts";
import { type PoolDependencies, type PoolOptions, poolLimits } from "./pool-options.ts";

type Accepted = Awaited<ReturnType<BundlePool["accept"]>>;

/**
 * Opens the pool of one network's bundles and loads the live ones. One process at a time runs a pool; the store ensures
 * that even two processes never give a bundle two ends.
 *
 * @throws {SluiceError} when the store cannot be read.
 */
export async function openBundlePool(options: PoolOptions, dependencies: PoolDependencies): Promise<DurableBundlePool> {
  const pool = new DurableBundlePool(options, dependencies);
  await pool.load();
  return pool;
}

/** The pool over a store: live bundles in memory, and every answer of `accept` and `change` on disk. */
export class DurableBundlePool implements BundlePool {
  readonly #liveMax: number;
  readonly #dependencies: PoolDependencies;
  readonly #live = new LiveBundles();
  readonly #accepting = new Map<string, Promise<Accepted>>();
  readonly #changed: Emitter<[BundleRecord, BundleState | null]>;
  readonly #changedOf: KeyedEmitter<string, [BundleRecord]>;
  readonly #notes: ForwardedNotes;
  readonly #outcomes: OutcomeReporter;
  readonly #forgetting: BackgroundTask;
  #isClosed = false;

  constructor(options: PoolOptions, dependencies: PoolDependencies) {
    const { store, clock, events } = dependencies;
    this.#liveMax = options.liveMax ?? poolLimits.liveMax;
    this.#dependencies = dependencies;
    const report = (where: string) => (error: unknown) => events.internalError(where, error);
    this.#changed = new Emitter(report("a listener of the pool"));
    this.#changedOf = new KeyedEmitter(report("a listener of the pool"));
    this.#notes = new ForwardedNotes({ live: this.#live, store, clock, onError: report("forwarded counts") });
    this.#outcomes = new OutcomeReporter(dependencies);
    this.#forgetting = new BackgroundTask(
      { closeMsMax: poolLimits.closeMsMax },
      { clock, work: () => this.#forget(), onError: report("old bundles") },
    );
  }

  /** Loads the live bundles. Once, before anything else. */
  async load(): Promise<void> {
    let after: BundleRecord | null = null;
    for (;;) {
      const page: readonly BundleRecord[] = await this.#dependencies.store.live(after, poolLimits.loadPage);
      for (const record of page) this.#live.add(record);
      if (page.length < poolLimits.loadPage) break;
      after = page.at(-1) ?? null;
    }
    this.#dependencies.events.bundlesLoaded(this.#live.count);
    this.#outcomes.request();
    this.#forgetting.runWithin(poolLimits.forgetMs);
  }

  async accept(bundle: NewBundle): Promise<Accepted> {
    const known = this.#live.get(bundle.id);
    if (known !== null) return { fresh: false, record: await this.#follow(known, bundle.searcherId) };
    const accepting = this.#accepting.get(bundle.id);
    if (accepting !== undefined) {
      const { record } = await accepting;
      const live = this.#live.get(bundle.id);
      return { fresh: false, record: live === null ? record : await this.#follow(live, bundle.searcherId) };
    }
    if (this.#isClosed || this.#live.count + this.#accepting.size >= this.#liveMax) {
      throw new SluiceError("OVERLOADED", { message: "As many bundles as can be are in flight; try again shortly." });
    }
    const work = this.#take(bundle).finally(() => this.#accepting.delete(bundle.id));
    this.#accepting.set(bundle.id, work);
    return work;
  }

  async get(id: string): Promise<BundleRecord | null> {
    const live = this.#live.get(id);
    if (live !== null) return live.record;
    const stored = await this.#dependencies.store.get(id);
    if (stored === null) return null;
    const isOld = isTerminal(stored.state) && stored.changedAt < this.#dependencies.clock.now() - poolLimits.keptMs;
    return isOld ? null : stored;
  }

  live(id: string): BundleRecord | null {
    return this.#live.get(id)?.record ?? null;
  }

  everyLive(): Iterable<BundleRecord> {
    return this.#live.every();
  }

  everyAccepted(): Iterable<BundleRecord> {
    return this.#live.accepted();
  }

  everySealed(): Iterable<BundleRecord> {
    return this.#live.sealed();
  }

  get liveCount(): number {
    return this.#live.count;
  }

  holding(signature: Signature): readonly BundleRecord[] {
    return this.#live.holding(signature);
  }

  liveOf(searcherId: string): readonly BundleRecord[] {
    return this.#live.ofSearcher(searcherId);
  }

  liveCountOf(searcherId: string): number {
    return this.#live.countOf(searcherId);
  }

  async addFollower(id: string, searcherId: string): Promise<BundleRecord | null> {
    const live = this.#live.get(id);
    return live === null ? null : this.#follow(live, searcherId);
  }

  async opened(id: string, content: OpenedContent): Promise<BundleRecord | null> {
    const live = this.#live.get(id);
    if (live === null) return null;
    return this.#inTurn(live, async () => {
      if (!this.#live.has(live)) return null;
      if (live.record.sealed === null) return live.record;
      const isOpened = await this.#dependencies.store.open(id, content);
      // An opening whose answer was lost is on disk already, and its content there is this one.
      if (!isOpened && (await this.#dependencies.store.get(id))?.sealed !== null) return null;
      // Named one by one: the caller may hand in more, such as the id of the content.
      const { transactions, signatures, lastValidBlockHeight } = content;
      this.#live.replace(live, { ...live.record, transactions, signatures, lastValidBlockHeight, sealed: null });
      return live.record;
    });
  }

  forwarded(ids: readonly string[], at: Parameters<BundlePool["forwarded"]>[1]): void {
    this.#notes.note(ids, at);
  }

  simulated(id: string, seen: { readonly tip: bigint; readonly computeUnits: number }): void {
    const live = this.#live.get(id);
    // Figures of a block stand over those of a simulation.
    if (live?.record.state !== "accepted") return;
    this.#live.replace(live, { ...live.record, tipSeen: seen.tip, computeUnits: seen.computeUnits });
  }

  async change(id: string, change: BundleChange): Promise<BundleRecord | null> {
    const live = this.#live.get(id);
    return live === null ? null : this.#inTurn(live, () => this.#step(live, change));
  }

  onChange(listener: Parameters<BundlePool["onChange"]>[0]): Disposable {
    return this.#changed.add(listener);
  }

  follow(searcherId: string, listener: (record: BundleRecord) => void): Disposable {
    return this.#changedOf.add(searcherId, listener);
  }

  async list(question: Parameters<BundlePool["list"]>[0]): ReturnType<BundlePool["list"]> {
    const page = await this.#dependencies.store.list(question);
    const items = page.items.map((stored) => {
      const live = this.#live.get(stored.id);
      return live?.record.state === stored.state ? live.record : stored;
    });
    // A step that is on disk and not in memory yet is reported first, so that no later answer is behind this one.
    for (const { id, state } of items) {
      const live = this.#live.get(id);
      if (live !== null && live.record.state !== state) await live.turn;
    }
    return { items, nextCursor: page.nextCursor };
  }

  get outcomesWaitMs(): number {
    return this.#outcomes.waitMs;
  }

  /** Writes outcomes of ended bundles to the ledger. Never rejects. */
  reportOutcomes(): Promise<void> {
    return this.#outcomes.run();
  }

  /** Writes how often bundles were forwarded. Never rejects. */
  writeForwarded(): Promise<void> {
    return this.#notes.write();
  }

  /** Deletes bundles that ended over 30 days ago. Never rejects. */
  forgetOld(): Promise<void> {
    return this.#forgetting.run();
  }

  /**
   * Refuses new work, awaits work under way and writes forwarded counts, each for a bounded time. Store and ledger stay
   * open.
   */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    const underWay = Promise.allSettled([...this.#accepting.values(), this.#live.settled()]);
    await within(this.#dependencies.clock, poolLimits.closeMsMax, underWay);
    await this.#forgetting[Symbol.asyncDispose]();
    await this.#outcomes[Symbol.asyncDispose]();
    await this.#notes[Symbol.asyncDispose]();
  }

  async #take(bundle: NewBundle): Promise<Accepted> {
    const chain = this.#dependencies.genesis();
    const result = await this.#dependencies.store.accept(bundle, chain);
    const record = result.fresh ? acceptedRecord(bundle, chain) : result.found;
    // An acceptance whose answer was lost is found here as well: it has not been reported.
    if (!isTerminal(record.state) && this.#live.get(record.id) === null) {
      this.#live.add(record);
      this.#emit(record, null);
    }
    const live = this.#live.get(record.id);
    if (result.fresh || live === null) return { fresh: result.fresh, record };
    return { fresh: false, record: await this.#follow(live, bundle.searcherId) };
  }

  /** The record, with the searcher among those who submitted it. */
  #follow(live: LiveBundle, searcherId: string): Promise<BundleRecord> {
    if (isSubmitter(live.record, searcherId)) return Promise.resolve(live.record);
    return this.#inTurn(live, async () => {
      const { id, followers } = live.record;
      if (!this.#live.has(live) || isSubmitter(live.record, searcherId)) return live.record;
      if (followers.length >= followersMax) {
        throw new SluiceError("OVERLOADED", { message: "As many accounts as can be follow this bundle." });
      }
      const more = [...followers, searcherId];
      if (!(await this.#dependencies.store.setFollowers(id, more))) return live.record;
      this.#live.replace(live, { ...live.record, followers: more });
      this.#changedOf.emit(searcherId, live.record);
      return live.record;
    });
  }

  /** Runs `work` after the steps that were requested of this bundle before. */
  #inTurn<T>(live: LiveBundle, work: () => Promise<T>): Promise<T> {
    return this.#isClosed ? Promise.reject(tooManySteps()) : inTurn(live, work);
  }

  async #step(live: LiveBundle, change: BundleChange): Promise<BundleRecord | null> {
    if (!this.#live.has(live)) return null;
    const { store, clock } = this.#dependencies;
    const before = live.record;
    const to = stepped(before, change, clock.now());
    if (to === null) return null;
    const isEnd = isTerminal(to.state);
    const result = await store.step({ id: before.id, from: before.state, to, isEnd });
    if (result.applied) return this.#settle(live, isEnd ? to : withNotes(to, live.record));
    if (result.found === null) {
      this.#live.remove(live);
      return null;
    }
    // The store refuses a step only where the bundle is in another state.
    if (result.found.state === before.state) {
      throw new StateError(
        "CORRUPT",
        "The state database holds a value that it cannot have been given: bundles.state.",
      );
    }
    // The disk is ahead: a step whose answer was lost, or another process. The disk's record stands.
    const { transactions, signatures, sealed } = live.record;
    const stands = this.#settle(live, { ...result.found, transactions, signatures, sealed });
    const isTheSame = stands.state === to.state && stands.reason === to.reason;
    return isTheSame ? stands : this.#step(live, change);
  }

  /** Puts the disk's record into memory, then reports it. */
  #settle(live: LiveBundle, record: BundleRecord): BundleRecord {
    const before = live.record.state;
    invariant(!isTerminal(before), "a bundle that has ended makes no further step");
    if (isTerminal(record.state)) {
      this.#live.remove(live);
      this.#outcomes.request();
    } else this.#live.replace(live, record);
    this.#emit(record, before);
    return record;
  }

  #emit(record: BundleRecord, before: BundleState | null): void {
    this.#changed.emit(record, before);
    for (const searcherId of submittersOf(record)) this.#changedOf.emit(searcherId, record);
  }

  async #forget(): Promise<void> {
    this.#forgetting.runWithin(poolLimits.forgetMs);
    const { store, clock, events } = this.#dependencies;
    const endedBefore = Math.max(0, clock.now() - poolLimits.keptMs);
    for (let step = 0; step < poolLimits.forgetStepsMax; step += 1) {
      const count = await store.forget(endedBefore);
      if (count === 0) return;
      events.bundlesForgotten(count);
    }
  }
}

function acceptedRecord(bundle: NewBundle, chain: string | null): BundleRecord {
  return {
    ...bundle,
    state: "accepted",
    reason: null,
    detail: null,
    landed: null,
    forwarded: null,
    tipSeen: null,
    computeUnits: null,
    changedAt: bundle.receivedAt,
    followers: [],
    chain,
  };
}

/** Keeps the notes of the time while a step was written. A step sets the tip of its block. */
function withNotes(to: BundleRecord, { forwarded, computeUnits }: BundleRecord): BundleRecord {
  return { ...to, forwarded, computeUnits };
}
