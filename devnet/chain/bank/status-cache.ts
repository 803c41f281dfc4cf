/** Blocks whose signatures are known: twice the life of a blockhash, as on a node. */
const BLOCKS_KEPT = 300;

/**
 * Signatures of the last 300 blocks and of the open slot. It says whether a transaction was processed already for as long
 * as its blockhash could be used again, however little history is kept. Bounded by the transactions of those blocks.
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
    if (this.#blocks.length <= BLOCKS_KEPT) return;
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
