import { engineLimits } from "@sluice/contract/engine";
import { backoffDelayMs, type Clock, type Random, type Timer, type Timers } from "@sluice/lib";
import { type Address, parseAddress, parseSlot, type Slot } from "@sluice/wire/identifiers";
import type { BundleRecord } from "../model/bundle.ts";
import { type EngineChain, EngineChainError } from "../model/chain-port.ts";
import { BundleWatch, ForkWindow, seenBlock, type WatchedPool } from "./bundle-watch.ts";
import type { ChainState } from "./chain-state.ts";
import { type BlockLink, BlockReader, type ChainBlock, TipAccounts } from "./node-answers.ts";

/** What a confirmed block reports about itself. */
export interface BlockFacts {
  readonly slot: Slot;
  readonly blockhash: Address;
  readonly height: bigint;
  /** Unix seconds. */
  readonly time: number | null;
  /** Units of all its transactions, of those of our bundles, and the most that a block has. */
  readonly computeUnits: number;
  readonly bundleComputeUnits: number;
  readonly computeUnitsMax: number;
  /** Lamports that tip accounts gained, for each transaction by which they gained any, from any sender. */
  readonly tips: readonly bigint[];
}

export interface TrackerEvents {
  /**
   * A confirmed block was read. After a restart a few are reported again; the slots of a fork that won may be lower.
   */
  blockSeen(facts: BlockFacts): void;
  /** A confirmed block was lost with its fork. */
  blockLost(slot: Slot): void;
  /**
   * The chain was not followed from the saved place on: there was none, it was too far back, or it is of another chain.
   */
  placeLeft(why: PlaceLeft, from: Slot): void;
}

type PlaceLeft = "none" | "too far back" | "another chain";

export interface TrackerOptions {
  readonly tipAccounts: readonly Address[];
  /** Slots that are followed after a restart; older bundles are searched for one by one. */
  readonly catchUpSlotsMax: bigint;
}

export interface TrackerDependencies {
  readonly chain: EngineChain;
  readonly pool: WatchedPool;
  readonly state: Pick<ChainState, "confirmed" | "lost" | "forget">;
  readonly place: TrackerPlace;
  readonly clock: Clock;
  readonly events: TrackerEvents;
}

/** A finalized block up to which everything was read and written down. */
export interface TrackerCursor {
  readonly slot: Slot;
  readonly blockhash: Address;
  /** Unix seconds; by it a chain that was begun anew is reported from a node that lags. */
  readonly time: number | null;
  /** The hash of the chain's genesis; null where it was not known. */
  readonly genesis: Address | null;
}

/** Where the tracker's place is kept, as text. Failures are thrown. */
export interface TrackerPlace {
  load(): Promise<string | null>;
  save(place: string): Promise<void>;
}

export const writeCursor = ({ slot, blockhash, time, genesis }: TrackerCursor): string =>
  `2 ${slot} ${blockhash} ${time ?? "-"} ${genesis ?? "-"}`;

/** Null for what is damaged. The first version has no genesis. */
export function readCursor(text: string): TrackerCursor | null {
  const [version, slotText, hashText, timeText, genesisText = "-", ...more] = text.split(" ");
  const slot = parseSlot(slotText);
  const blockhash = parseAddress(hashText);
  const time = timeText === "-" ? null : Number(timeText);
  const genesis = genesisText === "-" ? null : parseAddress(genesisText);
  if ((version !== "1" && version !== "2") || slot === null || blockhash === null || more.length > 0) return null;
  if (genesis === null && genesisText !== "-") return null;
  return time === null || Number.isSafeInteger(time) ? { slot, blockhash, time, genesis } : null;
}

/** Blocks that one step asks for, and of them at a time. */
const blocksPerStep = 16;
const readsMax = 4;
/** A fork that is longer than this is not followed back to its root in one go. */
const forkMax = 512;
/** Finalized slots below the newest among which one with a block must be, where nothing is known yet. */
const firstLookSlots = 512n;
/** The place is saved when it is so many slots further than the saved one. */
const placeEverySlots = 8n;

export const catchUpSlotsMax = 1_500n;

/**
 * Follows the chain block by block and reports to the pool what became of each bundle. Slot notices only say that there
 * is something to see; what is believed is a block that names its parent, back to a finalized one. So a slot that was
 * left out is proved by the block after it, a fork by a block with another parent, and neither by the absence of an
 * answer.
 *
 * A step is repeated until it succeeds: what it did to the pool before it failed is found done. The place is saved
 * after the effects of all blocks up to it.
 */
export class Tracker {
  readonly #options: TrackerOptions;
  readonly #dependencies: TrackerDependencies;
  readonly #reader: BlockReader;
  readonly #watch: BundleWatch;
  #window: ForkWindow | null = null;
  #savedSlot: bigint | null = null;
  #genesis: Address | null = null;
  /** The chain that was followed is not the one that nodes show. */
  #isDoubted = false;

  constructor(options: TrackerOptions, dependencies: TrackerDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#reader = new BlockReader(dependencies.chain, new TipAccounts(options.tipAccounts));
    this.#watch = new BundleWatch(dependencies);
  }

  /** The slot up to which every confirmed block was read; null before the first look. */
  settledThrough(): Slot | null {
    return this.#window?.tip.slot ?? null;
  }

  /**
   * Goes on as far as one batch of blocks; true where more is to be seen at once. Not to be called while a step is
   * under way. Rejects with what nodes, the pool and the place throw; nothing is lost then.
   */
  async step(): Promise<boolean> {
    const window = this.#window ?? (await this.#begin());
    if (window === null) return false;
    const isMore = await this.#follow(window);
    await this.#watch.checkBack(window);
    // What another bundle spoilt ends before that one is finalized, so that the reason is found again after a failure.
    await this.#watch.end(window);
    await this.#finalize(window);
    await this.#save(window);
    // Last, so that nodes that do not tell nonces hold nothing else up.
    await this.#watch.checkNonces(window);
    return isMore;
  }

  /**
   * Finds the place to follow the chain from; null while no finalized slot is known, or the nodes are behind the place.
   */
  async #begin(): Promise<ForkWindow | null> {
    const finalized = this.#dependencies.chain.newestSlot("finalized");
    if (finalized === null) return null;
    const text = await this.#dependencies.place.load();
    const cursor = text === null ? null : readCursor(text);
    this.#genesis = await this.#reader.genesis();
    const { base, why } = await this.#placeOf(cursor, finalized);
    const newest = base ?? (await this.#newestFinal(finalized));
    if (newest === null) return null;
    const isBehind = cursor !== null && finalized < cursor.slot && why !== "another chain";
    // A node that lags shows a block from before the place; a chain begun anew shows one from after it.
    if (isBehind && (newest.time === null || cursor.time === null || newest.time <= cursor.time)) return null;
    const left = isBehind ? "another chain" : why;
    if (base === null) this.#dependencies.events.placeLeft(left, newest.slot);
    if (left === "another chain") await this.#watch.chainChanged();
    this.#isDoubted = false;
    await this.#findOld(newest, base !== null);
    this.#window = new ForkWindow(newest);
    this.#savedSlot = base?.slot ?? null;
    return this.#window;
  }

  /** The saved place, where the chain is followed from it; else why it is not. */
  async #placeOf(
    cursor: TrackerCursor | null,
    finalized: Slot,
  ): Promise<{ readonly base: BlockLink | null; readonly why: PlaceLeft }> {
    const isForeign = cursor?.genesis != null && this.#genesis !== null && cursor.genesis !== this.#genesis;
    if (this.#isDoubted || isForeign) return { base: null, why: "another chain" };
    if (cursor === null || finalized < cursor.slot) return { base: null, why: "none" };
    const link = await this.#reader.finalLink(cursor.slot);
    if (link === null) return { base: null, why: "too far back" };
    if (link.blockhash !== cursor.blockhash) return { base: null, why: "another chain" };
    const isFar = finalized - cursor.slot > this.#options.catchUpSlotsMax;
    return { base: isFar ? null : link, why: "too far back" };
  }

  async #newestFinal(finalized: Slot): Promise<BlockLink | null> {
    const from = finalized > firstLookSlots ? finalized - firstLookSlots : 0n;
    const slot = (await this.#reader.finalSlots(from, finalized)).at(-1);
    return slot === undefined ? null : await this.#reader.finalLink(slot);
  }

  /**
   * Searches bundles in blocks that will not be followed. From the saved place on, only those that it may have missed.
   */
  async #findOld(base: BlockLink, isPlaceKept: boolean): Promise<void> {
    const records = [...this.#dependencies.pool.everyLive()].filter(({ signatures, landed }) => {
      return signatures.length > 0 && (isPlaceKept ? landed !== null && landed.slot <= base.slot : true);
    });
    if (records.length === 0) return;
    const statuses = await this.#reader.statuses(
      [...new Set(records.flatMap(({ signatures }) => signatures))],
      base.slot,
    );
    const bySlot = new Map<Slot, BundleRecord[]>();
    for (const record of records) {
      for (const slot of new Set(record.signatures.flatMap((signature) => statuses.get(signature)?.slot ?? []))) {
        if (slot <= base.slot) bySlot.set(slot, [...(bySlot.get(slot) ?? []), record]);
      }
    }
    for (const [slot, found] of [...bySlot].toSorted(([one], [other]) => (one < other ? -1 : 1))) {
      const block = await this.#reader.oldBlock(slot);
      if (block !== null) await this.#watch.checkOld(found, seenBlock(block));
    }
  }

  /** Reads the next confirmed blocks. */
  async #follow(window: ForkWindow): Promise<boolean> {
    const confirmed = this.#dependencies.chain.newestSlot("confirmed");
    if (confirmed === null || confirmed <= window.tip.slot) return false;
    const slots = await this.#reader.slotsFrom(window.tip.slot + 1n, blocksPerStep);
    for (let at = 0; at < slots.length; at += readsMax) {
      const reads = slots.slice(at, at + readsMax).map((slot) => this.#reader.block(slot, "confirmed"));
      const results = await Promise.allSettled(reads);
      for (const result of results) {
        if (result.status === "rejected") throw result.reason;
        // A block that came in on the way to an earlier one is here already.
        if (result.value.slot > window.tip.slot) await this.#take(window, result.value);
      }
    }
    return slots.length === blocksPerStep;
  }

  /**
   * Puts a block on top of its parent. What stands there instead of it is lost; what is missing below it is read first.
   */
  async #take(window: ForkWindow, block: ChainBlock): Promise<void> {
    const path = [block];
    for (let lowest: ChainBlock = block; !window.holdsParentOf(lowest); ) {
      if (window.isFinal(lowest.parentSlot)) return await this.#doubt(window, lowest);
      if (path.length >= forkMax) throw new EngineChainError(`A fork is longer than ${forkMax} blocks.`, null);
      const parent = await this.#reader.block(lowest.parentSlot, "confirmed");
      if (parent.blockhash !== lowest.previousBlockhash)
        throw new EngineChainError("Nodes disagree on a parent.", null);
      path.unshift(parent);
      lowest = parent;
    }
    for (const lost of window.cutAfter(path[0]?.parentSlot ?? block.parentSlot)) {
      this.#watch.lost(lost);
      this.#dependencies.state.lost(lost.block);
      this.#dependencies.events.blockLost(lost.block.slot);
    }
    for (const each of path) await this.#append(window, each);
  }

  async #append(window: ForkWindow, block: ChainBlock): Promise<void> {
    const seen = seenBlock(block);
    const bundleComputeUnits = await this.#watch.check(seen);
    window.append(seen);
    this.#dependencies.state.confirmed(block);
    const { slot, blockhash, height, time, transactions } = block;
    this.#dependencies.events.blockSeen({
      slot,
      blockhash,
      height,
      time,
      computeUnits: transactions.reduce((sum, { units }) => sum + units, 0),
      bundleComputeUnits,
      computeUnitsMax: engineLimits.computeUnitsBlock,
      tips: transactions.flatMap(({ tip }) => (tip > 0n ? [tip] : [])),
    });
  }

  /** A block does not descend from what was finalized: a node errs, and is asked again, or the chain was begun anew. */
  async #doubt(window: ForkWindow, block: ChainBlock): Promise<void> {
    const link = await this.#reader.finalLink(window.base.slot);
    if (link?.blockhash === window.base.blockhash) {
      throw new EngineChainError(`The block of slot ${block.slot} does not descend from the finalized one.`, null);
    }
    for (const lost of window.cutAfter(window.base.slot)) this.#watch.lost(lost);
    this.#watch.inherit();
    // That no node has the block any more proves nothing by itself.
    this.#isDoubted = link !== null;
    this.#window = null;
    this.#dependencies.state.forget();
    throw new EngineChainError("The chain is not the one that was followed.", null);
  }

  /** Moves the finalized block up as far as nodes say, once it is proved to be of the chain that was read. */
  async #finalize(window: ForkWindow): Promise<void> {
    const finalized = this.#dependencies.chain.newestSlot("finalized");
    const { base, tip } = window;
    const to = finalized !== null && finalized < tip.slot ? finalized : tip.slot;
    if (finalized === null || to <= base.slot) return;
    const last = (await this.#reader.finalSlots(base.slot + 1n, to)).at(-1);
    if (last === undefined) return;
    const link = await this.#reader.finalLink(last);
    if (link === null) throw new EngineChainError(`Nodes disagree on slot ${last}.`, null);
    if (window.at(last)?.block.blockhash !== link.blockhash) {
      await this.#take(window, await this.#reader.block(last, "finalized"));
      if (window.at(last)?.block.blockhash !== link.blockhash)
        throw new EngineChainError("Nodes disagree on a block.", null);
    }
    for (const seen of window.above) if (seen.block.slot <= last) await this.#watch.finalized(seen);
    window.finalize(last);
  }

  async #save(window: ForkWindow): Promise<void> {
    const { slot, blockhash, time } = window.base;
    if (this.#savedSlot !== null && slot - this.#savedSlot < placeEverySlots) return;
    await this.#dependencies.place.save(writeCursor({ slot, blockhash, time, genesis: this.#genesis }));
    this.#savedSlot = slot;
  }
}

/** A step that failed is tried again after about so long, twice as long each time. */
const retry = { baseMs: 100, maxMs: 5_000 } as const;
/** A step is made so often even without a notice, since bundles also end by time. */
const quietMs = 1_000;

export interface TrackerPaceDependencies {
  readonly chain: Pick<EngineChain, "onSlot">;
  readonly clock: Timers;
  readonly random: Random;
  readonly events: TrackerPaceEvents;
}

export interface TrackerPaceEvents {
  /** A step failed; it is tried again. `failures` in a row, this one included. */
  stepFailed(error: unknown, failures: number): void;
}

/** Runs the tracker's steps, one at a time: at each notice of a slot, and again soon after one failed. */
export class TrackerPace implements AsyncDisposable {
  readonly #tracker: Tracker;
  readonly #dependencies: TrackerPaceDependencies;
  readonly #following: Disposable;
  #timer: Timer | null = null;
  #stepping: Promise<void> | null = null;
  /** A notice came while a step was under way, or while steps wait after a failure. */
  #isNoticed = false;
  #failures = 0;
  #isClosed = false;

  constructor(tracker: Tracker, dependencies: TrackerPaceDependencies) {
    this.#tracker = tracker;
    this.#dependencies = dependencies;
    this.#following = dependencies.chain.onSlot((commitment) => {
      if (commitment !== "processed") this.#notice();
    });
    this.#notice();
  }

  #notice(): void {
    if (this.#stepping !== null || this.#failures > 0) this.#isNoticed = true;
    else this.#step();
  }

  #step(): void {
    if (this.#isClosed) return;
    this.#timer?.cancel();
    this.#timer = null;
    this.#isNoticed = false;
    this.#stepping = this.#tracker.step().then(
      (isMore) => {
        this.#failures = 0;
        this.#next(isMore || this.#isNoticed ? 0 : quietMs);
      },
      (error: unknown) => {
        const { events, random } = this.#dependencies;
        this.#failures += 1;
        events.stepFailed(error, this.#failures);
        this.#next(backoffDelayMs(this.#failures - 1, retry, random));
      },
    );
  }

  #next(delayMs: number): void {
    this.#stepping = null;
    if (this.#isClosed) return;
    this.#timer = this.#dependencies.clock.after(delayMs, () => this.#step(), { keepsAlive: true });
  }

  /** Awaits the step under way; no other begins. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#following[Symbol.dispose]();
    this.#timer?.cancel();
    await this.#stepping;
  }
}
