import type { BundleReason } from "@sluice/contract/engine";
import type { Clock } from "@sluice/lib";
import type { Signature, Slot } from "@sluice/wire/identifiers";
import type { BundleChange, BundlePool, BundleRecord, LandedPlace } from "../model/bundle.ts";
import type { EngineChain } from "../model/chain-port.ts";
import type { BlockLink, ChainBlock } from "./node-answers.ts";
import { NonceWatch } from "./nonce-watch.ts";

/** Finalized blocks that are still searched for bundles whose acceptance was on its way to the disk meanwhile. */
const recentMax = 32;

/** The chain as far as it was read: a finalized block, and the confirmed ones above it, each the next one's parent. */
export class ForkWindow {
  #base: BlockLink;
  readonly #above: ReadBlock[] = [];
  readonly #recent: ReadBlock[] = [];

  constructor(base: BlockLink) {
    this.#base = base;
  }

  /** The newest finalized block up to which everything was read. */
  get base(): BlockLink {
    return this.#base;
  }

  /** The newest block that was read. */
  get tip(): BlockLink {
    return this.#above.at(-1)?.block ?? this.#base;
  }

  get above(): readonly ReadBlock[] {
    return this.#above;
  }

  /** Blocks that may hold a bundle that was not known when they were read, oldest first. */
  *lately(): Generator<ReadBlock> {
    yield* this.#recent;
    yield* this.#above;
  }

  isFinal(slot: bigint): boolean {
    return slot <= this.#base.slot;
  }

  at(slot: bigint): ReadBlock | null {
    return this.#above.find(({ block }) => block.slot === slot) ?? null;
  }

  /** Whether the parent of a block is here. */
  holdsParentOf({ parentSlot, previousBlockhash }: BlockLink): boolean {
    if (this.#base.slot === parentSlot) return this.#base.blockhash === previousBlockhash;
    return this.at(parentSlot)?.block.blockhash === previousBlockhash;
  }

  append(seen: ReadBlock): void {
    this.#above.push(seen);
  }

  /** Takes away the blocks above a slot, the newest first. */
  cutAfter(slot: bigint): ReadBlock[] {
    const index = this.#above.findIndex(({ block }) => block.slot > slot);
    return index === -1 ? [] : this.#above.splice(index).reverse();
  }

  /** The blocks up to a slot are finalized. */
  finalize(slot: Slot): void {
    for (let first = this.#above[0]; first !== undefined && first.block.slot <= slot; first = this.#above[0]) {
      this.#base = first.block;
      this.#recent.push(first);
      this.#above.shift();
      if (this.#recent.length > recentMax) this.#recent.shift();
    }
  }
}

/** A block in which transactions are found by their ids. */
export interface ReadBlock {
  readonly block: ChainBlock;
  readonly places: ReadonlyMap<Signature, number>;
  /** Bundles that landed in it, each with the place of its first transaction; and whose each transaction is. */
  readonly landed: Map<string, number>;
  readonly ours: Map<Signature, string>;
}

export function seenBlock(block: ChainBlock): ReadBlock {
  const places = new Map(block.transactions.map(({ signature }, place) => [signature, place]));
  return { block, places, landed: new Map(), ours: new Map() };
}

/** Where a bundle is that landed in a block. */
function landedAt(id: string, { block, landed }: ReadBlock): LandedPlace {
  const place = landed.get(id) ?? 0;
  const index = landed.values().reduce((before, each) => before + (each < place ? 1 : 0), 0);
  return { slot: block.slot, blockhash: block.blockhash, index };
}

/** How a bundle is in a block: as a whole, in its order and with success; or in any other way, which spoils it. */
export type Landing =
  | { readonly isWhole: true; readonly tip: bigint; readonly units: number }
  | { readonly isWhole: false; readonly present: readonly Signature[]; readonly detail: string };

/** Null where none of the bundle's transactions is in the block. */
export function landingOf(
  { signatures }: Pick<BundleRecord, "signatures">,
  { block, places }: ReadBlock,
): Landing | null {
  const present = signatures.filter((signature) => places.has(signature));
  if (present.length === 0) return null;
  const found = signatures.flatMap((signature) => {
    const place = places.get(signature);
    const transaction = place === undefined ? undefined : block.transactions[place];
    return place === undefined || transaction === undefined ? [] : [{ place, transaction }];
  });
  const spoilt = (what: string): Landing => ({ isWhole: false, present, detail: `${what} in slot ${block.slot}` });
  if (found.length < signatures.length) return spoilt(`${found.length} of ${signatures.length} transactions are`);
  const failed = found.findIndex(({ transaction }) => transaction.failed);
  if (failed !== -1) return spoilt(`transaction ${failed} failed`);
  if (found.some(({ place }, index) => index > 0 && place < (found[index - 1]?.place ?? 0))) {
    return spoilt("its transactions are in another order");
  }
  return {
    isWhole: true,
    tip: found.reduce((sum, { transaction }) => sum + transaction.tip, 0n),
    units: found.reduce((sum, { transaction }) => sum + transaction.units, 0),
  };
}

/**
 * Of bundles that are whole in one block and hold the same transactions only one can have brought them: the one that is
 * included already, else one that was delivered to a leader, else the longest.
 */
export function claimsBefore(one: BundleRecord, other: BundleRecord): number {
  const rank = ({ state, forwarded }: BundleRecord): number => (state === "included" ? 2 : forwarded !== null ? 1 : 0);
  return rank(other) - rank(one) || other.signatures.length - one.signatures.length;
}

/**
 * Why a bundle cannot land as a whole any more, by a slot: transactions of it came into a block otherwise than with the
 * whole bundle, or the nonce of one is another.
 */
export interface Spoil {
  readonly slot: Slot;
  readonly reason: "already_processed" | "nonce_spent";
  readonly detail: string;
}

/** How far the chain was read, and what was seen of one bundle. */
export interface EndView {
  /** The newest block that was read. */
  readonly tip: { readonly slot: Slot };
  /** The newest finalized one of them. */
  readonly base: { readonly slot: Slot; readonly height: bigint };
  /** The newest slots that were known when the bundle's time was first found to be over; null before that. */
  readonly overSince: { readonly confirmed: bigint; readonly processed: bigint } | null;
  readonly spoil: Spoil | null;
  /**
   * Whether it was there before this process, which may not have been left a note that it was delivered to a leader.
   */
  readonly isInherited: boolean;
}

/** The last of the four slots in a row that one leader has. */
const lastOfLeader = (slot: bigint): bigint => slot | 3n;
/**
 * The last slot in which a leader may place what it was handed for a slot: what comes too late for it, or finds no
 * room, is kept while the leader has a slot this near. Source: Agave, HOLD_TRANSACTIONS_SLOT_OFFSET.
 */
const heldSlots = 20n;
export const heldThrough = (slot: bigint): bigint => lastOfLeader(slot + heldSlots);

/** Why no block that is to come, or that was not read yet, can hold the bundle; null while one can. */
function outOf(record: BundleRecord, view: EndView): BundleReason | null {
  const { targetSlot, lastValidBlockHeight, forwarded, state } = record;
  // What was included is given up only by what is final; a target that was missed is reported as soon as it is
  // confirmed.
  const looked = state === "included" ? view.base.slot : view.tip.slot;
  const isHanded = forwarded !== null || view.isInherited;
  if (targetSlot !== null && looked >= (isHanded ? heldThrough : lastOfLeader)(targetSlot)) return "target_slot_past";
  // The block after the one at the last valid height still takes it: its bank's newest hash is its parent's.
  if (lastValidBlockHeight !== null && view.base.height > lastValidBlockHeight) return "blockhash_expired";
  const { overSince } = view;
  if (overSince === null) return null;
  if (!isHanded && state === "accepted") return view.tip.slot >= overSince.confirmed ? "not_landed" : null;
  const last = forwarded === null ? 0n : heldThrough(forwarded.slot);
  return view.base.slot >= (last > overSince.processed ? last : overSince.processed) ? "not_landed" : null;
}

/**
 * The end of a bundle that is whole in no block of the chain as far as it was read; null while it may still land. One
 * that was included before has lost its block with a fork.
 */
export function endOf(record: BundleRecord, view: EndView): BundleChange | null {
  const { spoil } = view;
  if (record.state === "included") {
    const isOut = spoil === null ? outOf(record, view) !== null : spoil.slot <= view.base.slot;
    if (!isOut) return null;
    const lost = `slot ${record.landed?.slot ?? "?"} is not in the chain`;
    return { to: "dropped", reason: "fork", detail: spoil === null ? lost : `${lost}; ${spoil.detail}` };
  }
  if (spoil !== null) {
    // Blocks that were not read yet may hold it as a whole.
    if (spoil.slot > view.tip.slot) return null;
    // A leader that was handed it places it still, should the block that spoilt it be lost though it was confirmed.
    const mayBePlaced = record.forwarded !== null || view.isInherited;
    if (mayBePlaced && spoil.slot > view.base.slot) return null;
    return { to: "dropped", reason: spoil.reason, detail: spoil.detail };
  }
  const reason = outOf(record, view);
  return reason === null ? null : { to: "expired", reason };
}

/** Steps of bundles that are on their way to the disk at a time. */
const stepsMax = 256;
/** What is kept of bundles that are gone is swept when it is this much more than there are live ones. */
const sweepAbove = 1_024;

export type WatchedPool = Pick<BundlePool, "everyAccepted" | "everyLive" | "live" | "liveCount" | "holding" | "change">;

/** Live bundles against the blocks that are read: which of them are in one, and which can no longer be in any. */
export class BundleWatch {
  readonly #pool: WatchedPool;
  readonly #chain: Pick<EngineChain, "newestSlot">;
  readonly #clock: Clock;
  /** Bundles that are whole in a block of the window, and the block's slot. */
  readonly #landings = new Map<string, Slot>();
  readonly #spoils = new Map<string, Spoil>();
  readonly #overSince = new Map<string, NonNullable<EndView["overSince"]>>();
  /** Bundles that were searched for in every block that was in the window when they were first seen here. */
  readonly #known = new Set<string>();
  /** Bundles of before this process, or of before the chain was begun anew. */
  readonly #inherited = new Set<string>();
  readonly #nonces: NonceWatch;

  constructor(dependencies: { readonly pool: WatchedPool; readonly chain: EngineChain; readonly clock: Clock }) {
    this.#pool = dependencies.pool;
    this.#chain = dependencies.chain;
    this.#clock = dependencies.clock;
    this.#nonces = new NonceWatch(dependencies);
    this.inherit();
  }

  /**
   * Searches a new block for bundles. Resolves with the units of those that are whole in it; rejects as the pool does.
   */
  async check(seen: ReadBlock): Promise<number> {
    const records = new Map<string, BundleRecord>();
    if (this.#pool.liveCount > 0) {
      for (const signature of seen.places.keys()) {
        for (const record of this.#pool.holding(signature)) records.set(record.id, record);
      }
    }
    return await this.#check([...records.values()], seen);
  }

  /** Searches the blocks of the window for bundles that were accepted after those blocks were read. */
  async checkBack(window: ForkWindow): Promise<void> {
    const fresh: BundleRecord[] = [];
    for (const record of this.#pool.everyLive()) {
      if (!this.#known.has(record.id) && record.signatures.length > 0) fresh.push(record);
    }
    for (const seen of fresh.length === 0 ? [] : window.lately()) {
      const present = fresh.filter(({ signatures }) => signatures.some((each) => seen.places.has(each)));
      if (present.length === 0) continue;
      await this.#check(present, seen);
      if (window.isFinal(seen.block.slot)) await this.finalized(seen);
    }
    for (const { id } of fresh) this.#known.add(id);
  }

  /**
   * A block was lost with its fork. Its bundles may still be in another block; until that is known they stay as they
   * are.
   */
  lost({ block, landed }: ReadBlock): void {
    for (const id of landed.keys()) this.#landings.delete(id);
    for (const [id, spoil] of this.#spoils) if (spoil.slot === block.slot) this.#spoils.delete(id);
  }

  /** A block is finalized, and with it the bundles in it, and the end of those that it spoilt. */
  async finalized(seen: ReadBlock): Promise<void> {
    const ids = [...seen.landed.keys()];
    await this.#endSpoilt(seen.block);
    await this.#step(ids.map((id) => [id, { to: "finalized", landed: landedAt(id, seen) }]));
    for (const id of ids) this.#landings.delete(id);
  }

  /** Looks whether nonces of bundles were used; not more often than every few slots. Rejects as the nodes do. */
  async checkNonces({ tip }: ForkWindow): Promise<void> {
    for (const [id, spent] of await this.#nonces.spent(tip.slot)) {
      if (!this.#spoils.has(id)) this.#spoils.set(id, { ...spent, reason: "nonce_spent" });
    }
  }

  /** Bundles that are live now were meant for the chain as it was until now. */
  inherit(): void {
    for (const { id } of this.#pool.everyLive()) this.#inherited.add(id);
  }

  /** The chain is another than the one that inherited bundles were meant for. */
  async chainChanged(): Promise<void> {
    const ids = [...this.#inherited];
    await this.#step(ids.map((id) => [id, { to: "dropped", reason: "chain_changed" }]));
    for (const id of ids) for (const kept of [this.#landings, this.#spoils]) kept.delete(id);
  }

  /** Ends the bundles that can no longer land. */
  async end(window: ForkWindow): Promise<void> {
    const { tip, base } = window;
    const ends: [string, BundleChange][] = [];
    for (const record of this.#pool.everyLive()) {
      if (this.#landings.has(record.id)) continue;
      // After a restart blocks are read again: one that is still ahead is not lost.
      if (record.landed !== null && record.landed.slot > tip.slot) continue;
      const spoil = this.#spoils.get(record.id) ?? null;
      const isInherited = this.#inherited.has(record.id);
      const change = endOf(record, { tip, base, spoil, isInherited, overSince: this.#isOver(record, tip.slot) });
      if (change !== null) ends.push([record.id, change]);
    }
    await this.#step(ends);
    this.#sweep();
  }

  /** Bundles that are older than the blocks that will be read; they are searched for one by one. */
  async checkOld(records: readonly BundleRecord[], seen: ReadBlock): Promise<void> {
    await this.#check(records, seen);
    await this.finalized(seen);
  }

  /**
   * What another bundle spoilt ends while that one is still live, so that the reason is found again after a failure.
   */
  async #endSpoilt({ slot, height }: ReadBlock["block"]): Promise<void> {
    const view = { tip: { slot }, base: { slot, height }, overSince: null, isInherited: true };
    await this.#step(
      [...this.#spoils].flatMap(([id, spoil]): [string, BundleChange][] => {
        const record = spoil.slot === slot && !this.#landings.has(id) ? this.#pool.live(id) : null;
        const change = record === null ? null : endOf(record, { ...view, spoil });
        return change === null ? [] : [[id, change]];
      }),
    );
  }

  #isOver({ id, expiresAt }: BundleRecord, looked: Slot): EndView["overSince"] {
    const known = this.#overSince.get(id);
    if (known !== undefined || this.#clock.now() < expiresAt) return known ?? null;
    const confirmed = this.#chain.newestSlot("confirmed") ?? looked;
    const over = { confirmed, processed: this.#chain.newestSlot("processed") ?? confirmed };
    this.#overSince.set(id, over);
    return over;
  }

  async #check(records: readonly BundleRecord[], seen: ReadBlock): Promise<number> {
    const { slot } = seen.block;
    const checked = records.map((record) => ({ record, landing: landingOf(record, seen) }));
    const landed: { readonly id: string; readonly tip: bigint }[] = [];
    const second: BundleRecord[] = [];
    for (const { record, landing } of checked.toSorted((one, other) => claimsBefore(one.record, other.record))) {
      if (landing?.isWhole !== true) continue;
      if (record.signatures.some((each) => (seen.ours.get(each) ?? record.id) !== record.id)) {
        second.push(record);
        continue;
      }
      landed.push({ id: record.id, tip: landing.tip });
      for (const signature of record.signatures) seen.ours.set(signature, record.id);
      seen.landed.set(record.id, seen.places.get(record.signatures[0] ?? ("" as Signature)) ?? 0);
    }
    // One that is included already is included here in place of a block that was lost, or was read before.
    await this.#step(landed.map(({ id, tip }) => [id, { to: "included", tip, ...landedAt(id, seen) }]));
    for (const { record, landing } of checked) {
      if (landing === null || landing.isWhole || this.#spoils.has(record.id)) continue;
      this.#spoils.set(record.id, { slot, reason: "already_processed", detail: landing.detail });
    }
    for (const { id } of second) {
      const detail = `its transactions are in slot ${slot} as part of another bundle`;
      if (!this.#spoils.has(id)) this.#spoils.set(id, { slot, reason: "already_processed", detail });
    }
    for (const { id } of landed) {
      this.#landings.set(id, slot);
      this.#spoils.delete(id);
    }
    return [...seen.ours.keys()].reduce(
      (sum, each) => sum + (seen.block.transactions[seen.places.get(each) ?? -1]?.units ?? 0),
      0,
    );
  }

  /** A step that the lifecycle does not have was made before: after a failure or a restart they are requested again. */
  async #step(changes: readonly [string, BundleChange][]): Promise<void> {
    for (let at = 0; at < changes.length; at += stepsMax) {
      await Promise.all(changes.slice(at, at + stepsMax).map(([id, change]) => this.#pool.change(id, change)));
    }
  }

  #sweep(): void {
    if (this.#known.size <= this.#pool.liveCount + sweepAbove) return;
    for (const kept of [this.#known, this.#inherited, this.#spoils, this.#overSince]) {
      for (const id of kept.keys()) if (this.#pool.live(id) === null) kept.delete(id);
    }
  }
}
