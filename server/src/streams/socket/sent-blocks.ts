import type { BlockPlace } from "../../log/index.ts";

/** A block of which something was published, and its place among all those. */
interface SentBlock extends BlockPlace {
  readonly order: number;
}

/** No chain takes back more blocks than these once they are confirmed. */
const keptMax = 1_024;

/** The blocks of which something was sent and that may yet be undone, in their order. */
export class SentBlocks {
  readonly #blocks: SentBlock[] = [];
  #order = 0;

  /** The place of the last one; what is added later has a higher one. */
  get order(): number {
    return this.#order;
  }

  add({ slot, blockhash }: BlockPlace): void {
    if (this.#blocks.at(-1)?.blockhash === blockhash) return;
    this.#order += 1;
    this.#blocks.push({ slot, blockhash, order: this.#order });
    if (this.#blocks.length > keptMax) this.#blocks.shift();
  }

  /** Those above a slot, highest first, that were added after the place. */
  above(slot: bigint, after = 0): readonly BlockPlace[] {
    return this.#blocks.filter((block) => block.slot > slot && block.order > after).reverse();
  }

  /** Forgets those above a slot, since they are undone. */
  dropAbove(slot: bigint): void {
    while ((this.#blocks.at(-1)?.slot ?? slot) > slot) this.#blocks.pop();
  }
}

/** What a client was sent by one subscription on its own: in its replay, and before it came back. */
export class SentOnItsOwn extends SentBlocks {
  readonly #comesBack: boolean;
  /** The lowest slot that it was told since it began; null before the first. */
  #first: bigint | null = null;

  /** `comesBack`: it begins after a cursor, so that something of any block before that may have been sent elsewhere. */
  constructor(comesBack: boolean) {
    super();
    this.#comesBack = comesBack;
  }

  /** It was told the block of the slot, whether something was sent of it or not. */
  told(slot: bigint): void {
    if (this.#first === null || slot < this.#first) this.#first = slot;
  }

  /** The blocks that the client is to be told of as undone, highest first. */
  undo(undo: BlockPlace, back: BlockPlace): readonly BlockPlace[] {
    const gone = this.above(back.slot);
    this.dropAbove(back.slot);
    const isBefore = this.#comesBack && (this.#first === null || undo.slot < this.#first);
    return isBefore ? [...gone, undo] : gone;
  }
}
