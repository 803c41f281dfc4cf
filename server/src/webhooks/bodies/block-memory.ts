import type { Network } from "@sluice/contract/tiers";
import type { BlockEvents } from "../../events/index.ts";

/** A read block takes several times the memory of its transactions' bytes. */
const keptMax = { blocks: 64, bytes: 64 * 1024 * 1024 } as const;

interface Kept {
  readonly events: BlockEvents;
  readonly bytes: number;
}

/** The blocks of which events were told last, with the texts that were made of them. */
export class BlockMemory {
  readonly #kept = new Map<string, Kept>();
  #bytes = 0;

  find(network: Network, blockhash: string): BlockEvents | null {
    const key = `${network} ${blockhash}`;
    const kept = this.#kept.get(key);
    if (kept === undefined) return null;
    this.#kept.delete(key);
    this.#kept.set(key, kept);
    return kept.events;
  }

  keep(network: Network, events: BlockEvents): void {
    const key = `${network} ${events.block.blockhash}`;
    if (this.#kept.has(key)) return;
    const bytes = events.block.transactions.reduce((sum, transaction) => sum + transaction.bytes.length, 0);
    this.#kept.set(key, { events, bytes });
    this.#bytes += bytes;
    for (const [oldest, { bytes: freed }] of this.#kept) {
      if (this.#kept.size === 1) return;
      if (this.#kept.size <= keptMax.blocks && this.#bytes <= keptMax.bytes) return;
      this.#kept.delete(oldest);
      this.#bytes -= freed;
    }
  }
}
