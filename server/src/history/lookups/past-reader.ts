import type { Network } from "@sluice/contract/tiers";
import type { Slot } from "@sluice/wire/identifiers";
import type { BlockPlace, ChainLog, CursorPlace, FollowFrom, Stage } from "../../log/index.ts";
import type { PastBlock } from "./past-blocks.ts";

/** The final blocks that are held elsewhere for longer than the log holds them. Reads throw while it is away. */
export interface PastBlocks {
  /** The first block of a slot or a later one; null where some slot between the two is not held. */
  first(network: Network, from: Slot): Promise<PastBlock | null>;
  /** The last block of a slot or an earlier one; null where some slot between the two is not held. */
  last(network: Network, until: Slot): Promise<BlockPlace | null>;
  /** The lowest slot that can be had; null when none can. */
  firstSlot(network: Network): Promise<Slot | null>;
}

/** What is told of the past. */
export type PastEvent =
  | (PastBlock & { readonly type: "past"; readonly skip: number; readonly cursor: string })
  | { readonly type: "undo"; readonly undo: BlockPlace; readonly back: BlockPlace; readonly cursor: string };

/** Where a reader of the past begins, or why it cannot. */
type PastBegin =
  | { readonly ok: true; readonly cursor: string }
  | { readonly ok: false; readonly code: "CURSOR_INVALID" }
  /** `firstSlot` is the first that can be had; null when none can. */
  | { readonly ok: false; readonly code: "CURSOR_EXPIRED"; readonly firstSlot: Slot | null };

export interface PastReaderDependencies {
  readonly log: Pick<ChainLog, "network" | "placeOf" | "cursorAfter" | "earliest">;
  readonly past: PastBlocks;
}

/**
 * The chain below what the log holds, from cursors of the log: what comes next is found by the position alone, and
 * follows it by the hash of its parent, so that the log goes on where the past ends.
 */
export class PastReader {
  readonly #stage: Stage;
  readonly #dependencies: PastReaderDependencies;

  constructor(stage: Stage, dependencies: PastReaderDependencies) {
    this.#stage = stage;
    this.#dependencies = dependencies;
  }

  /** The cursor before the first block of a slot or a later one, or after a cursor; or why there is none. */
  async begin(from: Exclude<FollowFrom, string>): Promise<PastBegin> {
    const { log, past } = this.#dependencies;
    if ("cursor" in from) {
      const place = log.placeOf(from.cursor, this.#stage);
      if (place === null) return { ok: false, code: "CURSOR_INVALID" };
      const isHeld = (await this.next(from.cursor)) !== null;
      return isHeld ? { ok: true, cursor: from.cursor } : await this.#expired();
    }
    const first = await past.first(log.network, from.slot);
    if (first === null) return await this.#expired();
    const { parentSlot: slot, parentBlockhash: blockhash } = first.header;
    const bound = from.isBound === true ? from.slot : null;
    return { ok: true, cursor: log.cursorAfter(this.#stage, { slot, blockhash }, bound) };
  }

  /** What comes next; null where it is not held. */
  async next(cursor: string): Promise<PastEvent | null> {
    const { log, past } = this.#dependencies;
    const place = log.placeOf(cursor, this.#stage);
    if (place === null) return null;
    if (place.from !== null && place.slot < place.from) {
      const first = await past.first(log.network, place.from);
      return first === null ? null : this.#told(first, 0);
    }
    if (place.index !== null) {
      const rest = await past.first(log.network, place.slot);
      if (rest?.header.blockhash === place.blockhash) return this.#told(rest, place.index + 1);
      return rest === null ? null : await this.#undo(place);
    }
    const next = await past.first(log.network, (place.slot + 1n) as Slot);
    if (next === null) return null;
    // At finalized nothing of a dead block was told: it is where one began that asked for slots not final then.
    const isNext = next.header.parentBlockhash === place.blockhash || this.#stage === "finalized";
    if (isNext) return this.#told(next, 0);
    return await this.#undo(place);
  }

  #told({ header, block }: PastBlock, skip: number): PastEvent {
    return { type: "past", header, block, skip, cursor: this.#dependencies.log.cursorAfter(this.#stage, header) };
  }

  /** The block died: back to what was final when it was told. */
  async #undo({ slot, blockhash, finalizedSlot, from }: CursorPlace): Promise<PastEvent | null> {
    if (this.#stage === "finalized" || finalizedSlot === null) return null;
    const { log, past } = this.#dependencies;
    const until = finalizedSlot < slot ? finalizedSlot : ((slot - 1n) as Slot);
    const back = await past.last(log.network, until);
    if (back === null) return null;
    return { type: "undo", undo: { slot, blockhash }, back, cursor: log.cursorAfter(this.#stage, back, from) };
  }

  async #expired(): Promise<PastBegin> {
    return { ok: false, code: "CURSOR_EXPIRED", firstSlot: await this.firstSlot() };
  }

  /** The first slot from which all can be had; null when none can. */
  async firstSlot(): Promise<Slot | null> {
    const { log, past } = this.#dependencies;
    const ofLog = log.earliest()?.slot ?? null;
    const ofPast = await past.firstSlot(log.network);
    return ofPast === null || (ofLog !== null && ofLog < ofPast) ? ofLog : ofPast;
  }
}
