/** A transaction may be used for this many blocks after the one whose hash it carries. Source: MAX_PROCESSING_AGE. */
export const blockhashLifeBlocks = 150n;

/** Hashes kept: the life of one, and the blocks that lie between the newest bank and the finalized one. */
const hashesKept = 300;

/** The last blockhashes by block height. Bounded to 300 hashes. */
export class BlockhashQueue {
  readonly #heights = new Map<string, bigint>();

  register(blockhash: string, height: bigint): void {
    this.#heights.set(blockhash, height);
    if (this.#heights.size <= hashesKept) return;
    const oldest = this.#heights.keys().next();
    if (!oldest.done) this.#heights.delete(oldest.value);
  }

  /** The height of the block with this hash, or null when it is unknown or long gone. */
  height(blockhash: string): bigint | null {
    return this.#heights.get(blockhash) ?? null;
  }

  /** Whether a bank whose newest blockhash is that of `height` accepts transactions with this hash. */
  isValid(blockhash: string, height: bigint): boolean {
    const registered = this.#heights.get(blockhash);
    return registered !== undefined && registered <= height && height - registered <= blockhashLifeBlocks;
  }

  /** Forgets the hashes of blocks above a height, as if they had not been. */
  rollback(height: bigint): void {
    for (const [blockhash, registered] of [...this.#heights]) if (registered > height) this.#heights.delete(blockhash);
  }

  /** The newest hashes up to a height, newest first: the content of the RecentBlockhashes sysvar. */
  newest(count: number): string[] {
    return [...this.#heights.keys()].slice(-count).reverse();
  }
}

/** Blocks whose signatures are known: twice the life of a blockhash, as on a node. */
const blocksKept = 300;

/**
 * Signatures of the last 300 blocks and of the open slot. It says whether a transaction was processed already for as
 * long as its blockhash could be used again, however little history is kept. Bounded by the transactions of those
 * blocks.
 */
export class StatusCache {
  readonly #slots = new Map<string, bigint>();
  readonly #blocks: string[][] = [];
  #open: string[] = [];

  /** Records a transaction of the open slot. */
  add(signature: string, slot: bigint): void {
    this.#slots.set(signature, slot);
    this.#open.push(signature);
  }

  /** The open slot is frozen; the oldest block goes. */
  freeze(): void {
    this.#blocks.push(this.#open);
    this.#open = [];
    if (this.#blocks.length <= blocksKept) return;
    for (const signature of this.#blocks.shift() ?? []) this.#slots.delete(signature);
  }

  /** Forgets the open slot's transactions and those of the newest `blocks` frozen ones. */
  rollback(blocks: number): void {
    const gone = [this.#open, ...(blocks === 0 ? [] : this.#blocks.splice(-blocks))];
    this.#open = [];
    for (const signature of gone.flat()) this.#slots.delete(signature);
  }

  /** The slot in which a transaction was processed, or null when it was not, or longer ago. */
  slotOf(signature: string): bigint | null {
    return this.#slots.get(signature) ?? null;
  }
}
