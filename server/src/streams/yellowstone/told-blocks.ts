import type { Slot } from "@sluice/wire/identifiers";
import type { BlockHeader, BlockPlace, ChainLog, Stage } from "../../log/index.ts";

/** Blocks that are remembered: more than lie between processed and finalized while a chain is well. */
const blocksMax = 256;

type ToldHeader = Pick<BlockHeader, "slot" | "blockhash" | "parentBlockhash">;

/**
 * The newest blocks that a stream was told and has no use for again. At processed they come in any order, and forks
 * bring some again. At confirmed and finalized they are a chain, of which some may come again where a place on a dead
 * fork is left for an older one than the fork's; what the fork replaced is none of them, since the client has to learn
 * when the chain changes back.
 */
export class ToldBlocks {
  readonly commitment: Stage;
  /** Slots by the hashes of their blocks, in the order in which they were told. */
  readonly #slots = new Map<string, Slot>();
  #last = "";
  #hasForgotten = false;

  constructor(commitment: Stage) {
    this.commitment = commitment;
  }

  has(blockhash: string): boolean {
    return this.#slots.has(blockhash);
  }

  get isEmpty(): boolean {
    return this.#slots.size === 0;
  }

  /** Whether a slot is older than all that is remembered, where something else was told before. */
  isBefore(slot: Slot): boolean {
    const [oldest] = this.#slots.values();
    return this.#hasForgotten && oldest !== undefined && slot < oldest;
  }

  /** The chain up to a block that is held, as if it had been told. */
  addBefore(place: BlockPlace, log: Pick<ChainLog, "find">): void {
    const headers: BlockHeader[] = [];
    for (let held = log.find(place); held !== null && headers.length < blocksMax; ) {
      const { header } = held;
      headers.push(header);
      held = log.find({ slot: header.parentSlot, blockhash: header.parentBlockhash });
    }
    for (const header of headers.toReversed()) this.add(header);
    this.#hasForgotten = true;
  }

  add({ slot, blockhash, parentBlockhash }: ToldHeader): void {
    if (this.has(blockhash)) return;
    if (this.commitment !== "processed" && parentBlockhash !== this.#last) this.#backTo(parentBlockhash);
    this.#slots.set(blockhash, slot);
    this.#last = blockhash;
    const [oldest] = this.#slots.keys();
    if (this.#slots.size <= blocksMax || oldest === undefined) return;
    this.#slots.delete(oldest);
    this.#hasForgotten = true;
  }

  /** What was told after a block has died. Where the block is not known, slots are missing that nobody has. */
  #backTo(blockhash: string): void {
    if (!this.has(blockhash)) return;
    for (const told of [...this.#slots.keys()].toReversed()) {
      if (told === blockhash) return;
      this.#slots.delete(told);
    }
  }
}
