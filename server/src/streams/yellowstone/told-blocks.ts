import type { Slot } from "@sluice/wire/identifiers";

/** Blocks that are remembered: more than lie between processed and finalized. */
const blocksMax = 1_024;

/** The newest blocks that a stream was told at processed, where they come in any order and forks bring some again. */
export class ToldBlocks {
  /** Slots by the hashes of their blocks. */
  readonly #slots = new Map<string, Slot>();
  /** How many blocks of each slot are remembered. */
  readonly #counts = new Map<Slot, number>();

  has(blockhash: string): boolean {
    return this.#slots.has(blockhash);
  }

  /** Whether a block of the slot was told. */
  hasSlot(slot: Slot): boolean {
    return this.#counts.has(slot);
  }

  add({ slot, blockhash }: { readonly slot: Slot; readonly blockhash: string }): void {
    if (this.has(blockhash)) return;
    this.#slots.set(blockhash, slot);
    this.#counts.set(slot, (this.#counts.get(slot) ?? 0) + 1);
    const [oldest] = this.#slots;
    if (this.#slots.size > blocksMax && oldest !== undefined) this.#forget(...oldest);
  }

  #forget(blockhash: string, slot: Slot): void {
    this.#slots.delete(blockhash);
    const left = (this.#counts.get(slot) ?? 1) - 1;
    if (left > 0) this.#counts.set(slot, left);
    else this.#counts.delete(slot);
  }
}
