import type { Network } from "@sluice/contract/tiers";
import { type ConfirmedBlock, unpackTransaction } from "@sluice/encode";
import type { Slot } from "@sluice/wire/identifiers";
import { type BlockRow, type ChainReads, isHeldWhole, type SlotWindow } from "../../ledger/index.ts";
import type { BlockHeader, BlockPlace } from "../../log/index.ts";
import { blockOf } from "./block-record.ts";

/** A final block of the ledger, whole. */
export interface PastBlock {
  readonly header: Omit<BlockHeader, "chain">;
  readonly block: ConfirmedBlock;
}

/**
 * Whole blocks of the ledger in their order, for those who read a chain from further back than its log. Only slots that
 * are held whole and are final are looked at. Throws LedgerUnavailableError, LedgerQueryError.
 */
export class LedgerBlocks {
  readonly #chain: ChainReads;

  constructor({ chain }: { readonly chain: ChainReads }) {
    this.#chain = chain;
  }

  /** The first block of a slot or a later one; null where some slot between the two is not held. */
  async first(network: Network, from: Slot): Promise<PastBlock | null> {
    const range = await this.#rangeOf(network, from);
    if (range === null) return null;
    const [row] = await this.#chain.blocks.blocks({ network, from, to: range.to, order: "asc", limit: 1 });
    return row === undefined ? null : await this.#whole(network, row);
  }

  /** The last block of a slot or an earlier one; null where some slot between the two is not held. */
  async last(network: Network, until: Slot): Promise<BlockPlace | null> {
    const range = await this.#rangeOf(network, until);
    if (range === null) return null;
    const [row] = await this.#chain.blocks.blocks({ network, from: range.from, to: until, order: "desc", limit: 1 });
    return row === undefined ? null : { slot: row.slot as Slot, blockhash: row.blockhash };
  }

  /** The first slot of the last range that is held; null while none is. */
  async firstSlot(network: Network): Promise<Slot | null> {
    const { ranges, blocks } = await this.#chain.held(network);
    const last = ranges.at(-1);
    if (last === undefined || blocks === null) return null;
    // A range that was filled may begin before the first block.
    if (last.from < blocks.from) return blocks.from as Slot;
    return last.from as Slot;
  }

  async #rangeOf(network: Network, slot: Slot): Promise<SlotWindow | null> {
    const held = await this.#chain.held(network);
    if (!isHeldWhole(held, { from: slot, to: slot })) return null;
    return held.ranges.find(({ from, to }) => from <= slot && slot <= to) ?? null;
  }

  /** Null where transactions of it have been removed since. */
  async #whole(network: Network, row: BlockRow): Promise<PastBlock | null> {
    const bodies = await this.#chain.transactions.ofBlock(network, row);
    if (bodies.length !== row.transactions) return null;
    const block = { ...blockOf(row), transactions: bodies.map(({ body }) => unpackTransaction(body)) };
    const header = {
      slot: row.slot as Slot,
      blockhash: row.blockhash,
      parentSlot: block.parentSlot as Slot,
      parentBlockhash: block.previousBlockhash,
      blockTime: block.blockTime,
      height: block.blockHeight,
      transactions: row.transactions,
    };
    return { header, block };
  }
}
