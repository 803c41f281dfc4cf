import { engineLimits } from "@sluice/contract/engine";
import type { Clock } from "@sluice/lib";
import { type Address, parseAddress, parseSlot, type Slot } from "@sluice/wire/identifiers";
import type { BundleRecord } from "../model/bundle.ts";
import { type EngineChain, EngineChainError } from "../model/chain-port.ts";
import { BundleWatch, ForkWindow, seenBlock, type WatchedPool } from "./bundle-watch.ts";
import type { ChainState } from "./chain-state.ts";
import type { FlowReader, ToldBlock } from "./flow-reader.ts";
import { type BlockLink, BlockReader, type ChainBlock, type TipAccounts } from "./node-answers.ts";

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
  /** A block was taken: as the flow told it, or read from a node. */
  blockRead(from: "flow" | "node"): void;
}

type PlaceLeft = "none" | "too far back" | "another chain";

export interface TrackerOptions {
  /** Slots that are followed after a restart; older bundles are searched for one by one. */
  readonly catchUpSlotsMax: bigint;
}

export interface TrackerDependencies {
  readonly chain: EngineChain;
  readonly tips: TipAccounts;
  /** Null where no blocks are told: all are read from nodes then. */
  readonly flow: FlowReader | null;
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
 * Slots that the flow may be behind what nodes say before they are asked for what it does not tell: of confirmed
 * blocks, which come within a slot or two, and of finalized ones, for which two nodes have to agree.
 */
const flowLagMax = { confirmed: 8n, finalized: 32n } as const;

/**
 * Follows the chain block by block and reports to the pool what became of each bundle. Slot notices only say that there
 * is something to see; what is believed is a block that names its parent, back to a finalized one. So a slot that was
 * left out is proved by the block after it, a fork by a block with another parent, and neither by the absence of an
 * answer.
 *
 * Blocks come from the flow of this process; what it does not tell, or not in time, is read from nodes. Both are held
 * to the same links, so it does not matter which of them brings a block.
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
  /** The flow was farther behind the nodes than it may be, and has told nothing near their head since. */
  #isFlowLate = false;

  constructor(options: TrackerOptions, dependencies: TrackerDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#reader = new BlockReader(dependencies.chain, dependencies.tips);
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
    this.#dependencies.flow?.begin(newest.slot, this.#genesis);
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

  /** Takes the next confirmed blocks: those that were told, else those that nodes have. */
  async #follow(window: ForkWindow): Promise<boolean> {
    const { flow } = this.#dependencies;
    if (flow !== null && !flow.isFollowing) flow.begin(window.tip.slot, this.#genesis);
    const isTold = flow === null ? false : await this.#takeTold(window, flow);
    const confirmed = this.#dependencies.chain.newestSlot("confirmed");
    const patience = isTold && !this.#isFlowLate ? flowLagMax.confirmed : 0n;
    const isBehind = confirmed !== null && confirmed > window.tip.slot + patience;
    if (isTold && isBehind) this.#isFlowLate = true;
    const isMore = isBehind && (await this.#readNext(window, null));
    return isMore || (isTold && flow?.peek() != null);
  }

  /** Takes what the flow has told. Resolves with whether it tells this chain, as far as can be seen. */
  async #takeTold(window: ForkWindow, flow: FlowReader): Promise<boolean> {
    for (let taken = 0; taken < blocksPerStep; taken += 1) {
      const told = flow.peek();
      if (told === null) return flow.isFollowing;
      try {
        if (told.type === "undo") this.#undo(window, told);
        // What is here already was read from a node, or is of a fork that nodes have left.
        else if (told.slot > window.tip.slot && !(await this.#takeBlock(window, told))) return true;
      } catch (error) {
        if (!(error instanceof EngineChainError) || this.#window !== window) throw error;
        // It does not link to this chain, or nodes cannot be asked how: they show what comes instead of it.
        flow.shift();
        return false;
      }
      if (told.type === "block") this.#noteFlow(window, told);
      flow.shift();
    }
    return true;
  }

  /** A flow that tells what is here, and not long after nodes have it, is waited for again. */
  #noteFlow(window: ForkWindow, { slot, blockhash }: ToldBlock): void {
    const confirmed = this.#dependencies.chain.newestSlot("confirmed") ?? 0n;
    if (slot + flowLagMax.confirmed >= confirmed && window.at(slot)?.block.blockhash === blockhash) {
      this.#isFlowLate = false;
    }
  }

  /** False where more blocks below it have to be read first than one step reads. */
  async #takeBlock(window: ForkWindow, told: Extract<ToldBlock, { type: "block" }>): Promise<boolean> {
    const { slot, blockhash, parentSlot } = told;
    // The flow began later, or has a gap.
    if (parentSlot > window.tip.slot && (await this.#readNext(window, parentSlot))) return false;
    if (slot <= window.tip.slot) return true;
    if (told.block !== null) await this.#take(window, told.block, "flow");
    else {
      const block = await this.#reader.block(slot, "confirmed");
      if (block.blockhash !== blockhash) throw new EngineChainError("A node has another block than was told.", null);
      await this.#take(window, block, "node");
    }
    return true;
  }

  /** A fork is told tip first; what is not the tip here is of a fork that was left already. */
  #undo(window: ForkWindow, { slot, blockhash }: Pick<ToldBlock, "slot" | "blockhash">): void {
    if (window.tip.blockhash === blockhash && !window.isFinal(slot)) this.#lose(window, slot - 1n);
  }

  /** Reads the next confirmed blocks from nodes, up to a slot where one is given; whether more are to be read. */
  async #readNext(window: ForkWindow, through: Slot | null): Promise<boolean> {
    const all = await this.#reader.slotsFrom(window.tip.slot + 1n, blocksPerStep);
    const slots = through === null ? all : all.filter((slot) => slot <= through);
    for (let at = 0; at < slots.length; at += readsMax) {
      const reads = slots.slice(at, at + readsMax).map((slot) => this.#reader.block(slot, "confirmed"));
      const results = await Promise.allSettled(reads);
      for (const result of results) {
        if (result.status === "rejected") throw result.reason;
        // A block that came in on the way to an earlier one is here already.
        if (result.value.slot > window.tip.slot) await this.#take(window, result.value, "node");
      }
    }
    return slots.length === blocksPerStep;
  }

  /**
   * Puts a block on top of its parent. What stands there instead of it is lost; what is missing below it is read first.
   */
  async #take(window: ForkWindow, block: ChainBlock, from: "flow" | "node"): Promise<void> {
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
    this.#lose(window, path[0]?.parentSlot ?? block.parentSlot);
    for (const each of path) {
      await this.#append(window, each);
      this.#dependencies.events.blockRead(each === block ? from : "node");
    }
  }

  /** The blocks above a slot were lost with their fork. */
  #lose(window: ForkWindow, after: bigint): void {
    for (const lost of window.cutAfter(after)) {
      this.#watch.lost(lost);
      this.#dependencies.state.lost(lost.block);
      this.#dependencies.events.blockLost(lost.block.slot);
    }
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

  /** Moves the finalized block up as far as is told, once it is proved to be of the chain that was read. */
  async #finalize(window: ForkWindow): Promise<void> {
    const told = this.#dependencies.flow?.finalized() ?? null;
    const { base, tip } = window;
    if (told !== null && told.slot > base.slot && window.at(told.slot)?.block.blockhash === told.blockhash) {
      return await this.#finalizeThrough(window, told.slot);
    }
    const finalized = this.#dependencies.chain.newestSlot("finalized");
    const patience = told !== null && this.#dependencies.flow?.isFollowing === true ? flowLagMax.finalized : 0n;
    const to = finalized !== null && finalized < tip.slot ? finalized : tip.slot;
    if (finalized === null || finalized <= base.slot + patience || to <= base.slot) return;
    const last = (await this.#reader.finalSlots(base.slot + 1n, to)).at(-1);
    if (last === undefined) return;
    const link = await this.#reader.finalLink(last);
    if (link === null) throw new EngineChainError(`Nodes disagree on slot ${last}.`, null);
    if (window.at(last)?.block.blockhash !== link.blockhash) {
      await this.#take(window, await this.#reader.block(last, "finalized"), "node");
      if (window.at(last)?.block.blockhash !== link.blockhash)
        throw new EngineChainError("Nodes disagree on a block.", null);
    }
    await this.#finalizeThrough(window, last);
  }

  async #finalizeThrough(window: ForkWindow, last: Slot): Promise<void> {
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
