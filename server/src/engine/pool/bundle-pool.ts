import { SluiceError } from "@sluice/contract/errors";
import type { Signature } from "@sluice/wire/identifiers";
import type { BundleChange, BundlePool, BundleRecord, NewBundle, OpenedContent } from "../model/bundle.ts";
import { isTerminal, stepped } from "../model/lifecycle.ts";
import { Duty } from "./duty.ts";
import { forgetEnded } from "./forgetting.ts";
import { ForwardedNotes } from "./forwarded-notes.ts";
import { Listeners } from "./listeners.ts";
import { inTurn, type LiveBundle, LiveBundles, tooManySteps } from "./live-bundles.ts";
import { Outcomes } from "./outcomes.ts";
import { type PoolDependencies, type PoolOptions, poolLimits } from "./pool-options.ts";
import { acceptedRecord, openedRecord, standingOf, toRecord, unsound, withNotes } from "./stored-bundle.ts";

type Accepted = Awaited<ReturnType<BundlePool["accept"]>>;

/**
 * Opens the pool of one network's bundles and brings those that can still change into memory again. One process at a
 * time keeps a pool; the store makes sure that even two never give a bundle two ends.
 */
export async function openBundlePool(options: PoolOptions, dependencies: PoolDependencies): Promise<DurableBundlePool> {
  const pool = new DurableBundlePool(options, dependencies);
  await pool.load();
  return pool;
}

export class DurableBundlePool implements BundlePool {
  readonly #liveMax: number;
  readonly #dependencies: PoolDependencies;
  readonly #live = new LiveBundles();
  readonly #accepting = new Map<string, Promise<Accepted>>();
  readonly #listeners: Listeners;
  readonly #notes: ForwardedNotes;
  readonly #outcomes: Outcomes;
  readonly #forgetting: Duty;
  #isClosed = false;

  constructor(options: PoolOptions, dependencies: PoolDependencies) {
    const { store, events } = dependencies;
    const paced = { hasTimers: options.hasTimers ?? true };
    this.#liveMax = options.liveMax ?? poolLimits.liveMax;
    this.#dependencies = dependencies;
    const caught = (where: string) => (error: unknown) => events.internalError(where, error);
    this.#listeners = new Listeners(caught("a listener of the book"));
    this.#notes = new ForwardedNotes(paced, { live: this.#live, store, caught: caught("forwarded counts") });
    this.#outcomes = new Outcomes(paced, dependencies);
    this.#forgetting = new Duty(paced, { work: () => this.#forget(), caught: caught("old bundles") });
  }

  /** Brings the live bundles from disk, and begins what is done from time to time. Once, before anything else. */
  async load(): Promise<void> {
    let after: BundleRecord | null = null;
    for (;;) {
      const page = await this.#dependencies.store.live(after, poolLimits.loadPage);
      for (const stored of page) {
        after = toRecord(stored);
        this.#live.add(after);
      }
      if (page.length < poolLimits.loadPage) break;
    }
    this.#dependencies.events.bundlesLoaded(this.#live.count);
    this.#outcomes.poke();
    this.#forgetting.within(poolLimits.forgetMs);
  }

  async accept(bundle: NewBundle): Promise<Accepted> {
    const known = this.#live.get(bundle.id);
    if (known !== null) return { fresh: false, record: known.record };
    const accepting = this.#accepting.get(bundle.id);
    if (accepting !== undefined) {
      const { record } = await accepting;
      return { fresh: false, record: this.#live.get(bundle.id)?.record ?? record };
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
    return isOld ? null : toRecord(stored);
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

  async opened(id: string, content: OpenedContent): Promise<BundleRecord | null> {
    const live = this.#live.get(id);
    if (live === null) return null;
    return this.#inTurn(live, async () => {
      if (!this.#live.has(live)) return null;
      if (live.record.sealed === null) return live.record;
      const isOpened = await this.#dependencies.store.open(id, content);
      // An opening whose answer was lost is on disk already; what it wrote there is this content.
      if (!isOpened && (await this.#dependencies.store.get(id))?.sealed !== null) return null;
      this.#live.replace(live, openedRecord(live.record, content));
      return live.record;
    });
  }

  forwarded(ids: readonly string[], at: Parameters<BundlePool["forwarded"]>[1]): void {
    this.#notes.note(ids, at);
  }

  simulated(id: string, seen: { readonly tip: bigint; readonly computeUnits: number }): void {
    const live = this.#live.get(id);
    // What a block did counts for more than what a simulation says it would do.
    if (live?.record.state !== "accepted") return;
    this.#live.replace(live, { ...live.record, tipSeen: seen.tip, computeUnits: seen.computeUnits });
  }

  async change(id: string, change: BundleChange): Promise<BundleRecord | null> {
    const live = this.#live.get(id);
    return live === null ? null : this.#inTurn(live, () => this.#step(live, change));
  }

  onChange(listener: Parameters<BundlePool["onChange"]>[0]): Disposable {
    return this.#listeners.add(listener);
  }

  async list(question: Parameters<BundlePool["list"]>[0]): ReturnType<BundlePool["list"]> {
    const page = await this.#dependencies.store.list(question);
    const items = page.items.map((stored) => {
      const live = this.#live.get(stored.id);
      return live?.record.state === stored.state ? live.record : toRecord(stored);
    });
    // A step that the disk has and memory has not yet is told before this is, so that no later answer is behind it.
    for (const { id, state } of items) {
      const live = this.#live.get(id);
      if (live !== null && live.record.state !== state) await live.turn;
    }
    return { items, nextCursor: page.nextCursor };
  }

  /** Writes to the ledger what became of bundles. Never rejects. */
  reportOutcomes(): Promise<void> {
    return this.#outcomes.tell();
  }

  /** Writes how often bundles were forwarded. Never rejects. */
  writeForwarded(): Promise<void> {
    return this.#notes.write();
  }

  /** Forgets bundles that ended over 30 days ago. Never rejects. */
  forgetOld(): Promise<void> {
    return this.#forgetting.run();
  }

  /** Refuses what comes, waits for what is under way and writes what was forwarded. Store and ledger stay open. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await Promise.allSettled(this.#accepting.values());
    await this.#live.settled();
    await this.#forgetting[Symbol.asyncDispose]();
    await this.#outcomes[Symbol.asyncDispose]();
    await this.#notes[Symbol.asyncDispose]();
    this.#listeners.clear();
  }

  async #take(bundle: NewBundle): Promise<Accepted> {
    const result = await this.#dependencies.store.accept(bundle);
    const record = result.fresh ? acceptedRecord(bundle) : toRecord(result.found);
    // An acceptance whose answer was lost is found here as well: nobody was told of it.
    if (!isTerminal(record.state) && this.#live.get(record.id) === null) {
      this.#live.add(record);
      this.#listeners.tell(record, null);
    }
    return { fresh: result.fresh, record };
  }

  /** Runs `work` after what was asked of this bundle before. */
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
    const result = await store.step({ id: before.id, from: before.state, to: standingOf(to), isEnd });
    if (result.made) return this.#settle(live, isEnd ? to : withNotes(to, live.record));
    if (result.found === null) {
      this.#live.remove(live);
      return null;
    }
    if (result.found.state === before.state) throw unsound("state");
    // The disk is ahead: a step whose answer was lost, or another process. What it holds is what stands.
    const { transactions, signatures, sealed } = live.record;
    const stands = this.#settle(live, { ...toRecord(result.found), transactions, signatures, sealed });
    const isTheSame = stands.state === to.state && stands.reason === to.reason;
    return isTheSame ? stands : this.#step(live, change);
  }

  /** Puts what the disk holds into memory, then tells it. */
  #settle(live: LiveBundle, record: BundleRecord): BundleRecord {
    const before = live.record.state;
    if (isTerminal(record.state)) {
      this.#live.remove(live);
      this.#notes.ended(record.id);
      this.#outcomes.poke();
    } else this.#live.replace(live, record);
    this.#listeners.tell(record, before);
    return record;
  }

  async #forget(): Promise<void> {
    this.#forgetting.within(poolLimits.forgetMs);
    await forgetEnded(this.#dependencies);
  }
}
