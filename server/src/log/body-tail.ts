import type { Slot } from "@sluice/wire/identifiers";
import type { Block } from "./chain-index.ts";

export interface BodyTailDependencies {
  /** Whether the block is being stored now. */
  readonly isStoring: (block: Block) => boolean;
  /** Called for a block whose body is nowhere any more, since it could not be stored. */
  readonly onLost: (block: Block) => void;
}

/** The newest bodies, in memory. A body that is being stored stays; appends bound the bytes of those. */
export class BodyTail {
  readonly #bytesMax: number;
  readonly #dependencies: BodyTailDependencies;
  readonly #blocks = new Map<Block, number>();
  #bytes = 0;

  constructor(bytesMax: number, dependencies: BodyTailDependencies) {
    this.#bytesMax = bytesMax;
    this.#dependencies = dependencies;
  }

  /** Adds the block's body as the newest, and lets the oldest go. */
  add(block: Block): void {
    const bytes = block.body?.length ?? 0;
    this.#blocks.set(block, bytes);
    this.#bytes += bytes;
    for (const oldest of this.#blocks.keys()) {
      if (this.#bytes <= this.#bytesMax) return;
      if (oldest !== block && !this.#dependencies.isStoring(oldest)) this.#release(oldest);
    }
  }

  forgetBelow(slot: Slot): void {
    for (const block of this.#blocks.keys()) if (block.slot < slot) this.#forget(block);
  }

  #release(block: Block): void {
    this.#forget(block);
    if (block.stored === null) this.#dependencies.onLost(block);
  }

  #forget(block: Block): void {
    this.#bytes -= this.#blocks.get(block) ?? 0;
    this.#blocks.delete(block);
    block.body = null;
  }
}
