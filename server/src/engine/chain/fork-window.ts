import type { Slot } from "@sluice/wire/identifiers";
import type { BlockLink } from "./block-reader.ts";
import type { SeenBlock } from "./bundle-fate.ts";

/** Finalized blocks that are still looked into for bundles whose acceptance was on its way to the disk meanwhile. */
const recentMax = 32;

/** The chain as far as it was looked at: a finalized block, and the confirmed ones above it, each the next one's parent. */
export class ForkWindow {
  #base: BlockLink;
  readonly #above: SeenBlock[] = [];
  readonly #recent: SeenBlock[] = [];

  constructor(base: BlockLink) {
    this.#base = base;
  }

  /** The newest finalized block up to which everything was looked at. */
  get base(): BlockLink {
    return this.#base;
  }

  /** The newest block that was looked at. */
  get tip(): BlockLink {
    return this.#above.at(-1)?.block ?? this.#base;
  }

  get above(): readonly SeenBlock[] {
    return this.#above;
  }

  /** Blocks that may hold a bundle that was not known when they were looked at, oldest first. */
  *lately(): Generator<SeenBlock> {
    yield* this.#recent;
    yield* this.#above;
  }

  isFinal(slot: bigint): boolean {
    return slot <= this.#base.slot;
  }

  at(slot: bigint): SeenBlock | null {
    return this.#above.find(({ block }) => block.slot === slot) ?? null;
  }

  /** Whether the parent of a block is here. */
  holdsParentOf({ parentSlot, previousBlockhash }: BlockLink): boolean {
    if (this.#base.slot === parentSlot) return this.#base.blockhash === previousBlockhash;
    return this.at(parentSlot)?.block.blockhash === previousBlockhash;
  }

  append(seen: SeenBlock): void {
    this.#above.push(seen);
  }

  /** Takes away the blocks above a slot, the newest first. */
  cutAfter(slot: bigint): SeenBlock[] {
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
