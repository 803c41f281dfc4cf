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

/** Where a subscription goes on, and the chain below that, as far as it is known. */
export interface BeforeOwn {
  readonly place: BlockPlace;
  /** Nothing of a lower slot was told; null for no bound. */
  readonly from: bigint | null;
  /** The block before another; null for one that is not held. */
  readonly parentOf: (place: BlockPlace) => BlockPlace | null;
}

/** What a client was sent by one subscription on its own: in its replay, and before it came back. */
export class SentOnItsOwn extends SentBlocks {
  /** Something of these blocks may have been sent elsewhere; null where the subscription has begun here. */
  #before: BeforeOwn | null;

  constructor(before: BeforeOwn | null) {
    super();
    this.#before = before;
  }

  /** The blocks that the client is to be told of as undone, highest first. */
  undo(back: BlockPlace): readonly BlockPlace[] {
    const gone = this.above(back.slot);
    this.dropAbove(back.slot);
    const own = new Set(gone.map(({ blockhash }) => blockhash));
    return [...gone, ...this.#undoBefore(back).filter(({ blockhash }) => !own.has(blockhash))];
  }

  #undoBefore(back: BlockPlace): readonly BlockPlace[] {
    const before = this.#before;
    const gone: BlockPlace[] = [];
    if (before === null) return gone;
    let at: BlockPlace | null = before.place;
    const least = before.from ?? 0n;
    const isTold = (of: BlockPlace): boolean => of.slot > back.slot && of.slot >= least;
    for (; at !== null && isTold(at) && gone.length < keptMax; at = before.parentOf(at)) gone.push(at);
    if (gone.length > 0) this.#before = { ...before, place: back };
    return gone;
  }
}
