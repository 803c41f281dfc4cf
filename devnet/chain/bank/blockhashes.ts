/** A transaction may be used for this many blocks after the one whose hash it carries. Source: MAX_PROCESSING_AGE. */
export const BLOCKHASH_LIFE_BLOCKS = 150n;

/** Hashes kept: the life of one, and the blocks that lie between the newest bank and the finalized one. */
const HASHES_KEPT = 300;

/** The last blockhashes by block height. Bounded to 300 hashes. */
export class BlockhashQueue {
  readonly #heights = new Map<string, bigint>();

  register(blockhash: string, height: bigint): void {
    this.#heights.set(blockhash, height);
    if (this.#heights.size <= HASHES_KEPT) return;
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
    return registered !== undefined && registered <= height && height - registered <= BLOCKHASH_LIFE_BLOCKS;
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
