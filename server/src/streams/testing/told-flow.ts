import type { BlockPlace } from "../../log/index.ts";
import type { FlowBlock } from "../flow/flow-block.ts";
import type { FlowEnd, FlowGap, FlowPosition, FlowReceiver } from "../flow/flow-receiver.ts";

/** One item of a block, as a client of the flow is told it. */
export interface ToldItem extends BlockPlace {
  readonly index: number;
  readonly cursor: string;
}

export interface ToldOptions {
  /** Items of a block that it takes at once while it catches up. */
  readonly itemsAtOnce?: number;
  /** What it waits for after each event while it catches up. */
  readonly ready?: () => Promise<void> | null;
  /** Makes the cursor of an item. */
  readonly cursorWithin: (cursor: string, index: number) => string;
}

/** A receiver that plays what it is told: the items that stand, in order. It throws on an event that cannot be. */
export class ToldFlow implements FlowReceiver {
  readonly items: ToldItem[] = [];
  readonly blocks: BlockPlace[] = [];
  readonly gaps: FlowGap[] = [];
  /** Each place after which it may go on, in order. */
  readonly cursors: string[] = [];
  end: FlowEnd | null = null;
  isLive = false;
  readonly #options: ToldOptions;

  constructor(options: ToldOptions) {
    this.#options = options;
  }

  block(block: FlowBlock, { cursor, skip }: FlowPosition): number | null {
    if (this.end !== null) throw new Error("told after the end");
    const { slot, blockhash } = block.header;
    const items = block.block.transactions.length;
    const last = this.blocks.at(-1);
    if (skip === 0) {
      if (last !== undefined && last.slot >= slot) throw new Error(`block ${slot} after ${last.slot}`);
      this.blocks.push({ slot, blockhash });
    } else if (last?.blockhash !== blockhash && last !== undefined)
      throw new Error(`the rest of ${slot} after another`);
    const until = this.isLive ? items : Math.min(items, skip + (this.#options.itemsAtOnce ?? items));
    for (let index = skip; index < until; index += 1) {
      const within = this.#options.cursorWithin(cursor, index);
      this.items.push({ slot, blockhash, index, cursor: within });
      this.cursors.push(within);
    }
    if (until >= items) {
      this.cursors.push(cursor);
      return null;
    }
    return until - 1;
  }

  undo(undo: BlockPlace, back: BlockPlace, { cursor }: FlowPosition): void {
    const gone = (place: BlockPlace): boolean => place.slot > back.slot;
    if (this.blocks.some(gone) && !this.blocks.some(({ blockhash }) => blockhash === undo.blockhash)) {
      throw new Error(`undo of ${undo.slot}, which was not told`);
    }
    while (this.blocks.at(-1) !== undefined && gone(this.blocks.at(-1) ?? back)) this.blocks.pop();
    while (this.items.at(-1) !== undefined && gone(this.items.at(-1) ?? back)) this.items.pop();
    this.cursors.push(cursor);
  }

  gap(gap: FlowGap, { cursor }: FlowPosition): void {
    this.gaps.push(gap);
    this.cursors.push(cursor);
  }

  ready(): Promise<void> | null {
    return this.#options.ready?.() ?? null;
  }

  caughtUp(): void {
    this.isLive = true;
  }

  ended(end: FlowEnd): void {
    this.end = end;
  }
}
