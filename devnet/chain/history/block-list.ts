import type { Block } from "../model/index.ts";

/** A block without its transactions, which are the `count` records from `first` on. */
export interface KeptBlock extends Omit<Block, "transactions"> {
  readonly first: number;
  readonly count: number;
  /** The lowest price of a unit that one of its transactions paid; null without transactions. */
  readonly lowestUnitPrice: bigint | null;
}

/** Cut-off blocks that may stay in the list before it is made shorter. */
const goneMax = 1_024;

/** Blocks in the order of their slots: appended at the end, dropped from the front, taken back from the end. */
export class BlockList {
  #blocks: KeptBlock[] = [];
  #gone = 0;

  get size(): number {
    return this.#blocks.length - this.#gone;
  }

  get oldest(): KeptBlock | undefined {
    return this.#blocks[this.#gone];
  }

  get newest(): KeptBlock | undefined {
    return this.size === 0 ? undefined : this.#blocks.at(-1);
  }

  push(block: KeptBlock): void {
    this.#blocks.push(block);
  }

  pop(): void {
    if (this.size > 0) this.#blocks.pop();
  }

  shift(): void {
    if (this.size === 0) return;
    this.#gone += 1;
    if (this.#gone < goneMax || this.#gone * 2 < this.#blocks.length) return;
    this.#blocks = this.#blocks.slice(this.#gone);
    this.#gone = 0;
  }

  /** The place of the first block for which `isAfter` holds, where it holds for all that follow. */
  #search(isAfter: (block: KeptBlock) => boolean): number {
    let low = this.#gone;
    let high = this.#blocks.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const block = this.#blocks[middle];
      if (block !== undefined && isAfter(block)) high = middle;
      else low = middle + 1;
    }
    return low;
  }

  at(slot: bigint): KeptBlock | null {
    const block = this.#blocks[this.#search((each) => each.slot >= slot)];
    return block?.slot === slot ? block : null;
  }

  /** The newest block at or before a slot. */
  atOrBefore(slot: bigint): KeptBlock | null {
    const place = this.#search((each) => each.slot > slot);
    return place === this.#gone ? null : (this.#blocks[place - 1] ?? null);
  }

  /**
   * The block that holds a record. Empty blocks share the number of the record after them, and come before its block.
   */
  ofRecord(number: number): KeptBlock {
    const block = this.#blocks[this.#search((each) => each.first > number) - 1];
    if (block === undefined || number < block.first || number >= block.first + block.count) {
      throw new RangeError(`no block holds record ${number}`);
    }
    return block;
  }

  /** Slots that have a block, from `first` to `last` inclusive, at most `limit`. */
  slots(first: bigint, last: bigint, limit: number): bigint[] {
    const start = this.#search((each) => each.slot >= first);
    const end = Math.min(
      this.#search((each) => each.slot > last),
      start + limit,
    );
    return this.#blocks.slice(start, Math.max(start, end)).map(({ slot }) => slot);
  }

  /** Blocks above a slot, oldest first. */
  above(slot: bigint): readonly KeptBlock[] {
    return this.#blocks.slice(this.#search((each) => each.slot > slot));
  }
}
