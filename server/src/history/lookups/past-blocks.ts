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

  /**
   * The first block of a slot or a later one; null where some slot between the two is not held, or had a block that was
   * removed with age.
   */
  async first(network: Network, from: Slot): Promise<PastBlock | null> {
    const range = await this.#rangeOf(network, from);
    if (range === null) return null;
    const row = await this.#firstRow(network, { from, to: range.to });
    return row === null || !followsOn(row, from) ? null : await this.#whole(network, row);
  }

  /** The last block of a slot or an earlier one; null where some slot between the two is not held. */
  async last(network: Network, until: Slot): Promise<BlockPlace | null> {
    const range = await this.#rangeOf(network, until);
    if (range === null) return null;
    const [row] = await this.#chain.blocks.blocks({ network, from: range.from, to: until, order: "desc", limit: 1 });
    if (row === undefined) return null;
    if (row.slot < until) {
      const next = await this.#firstRow(network, { from: row.slot + 1n, to: range.to });
      if (next === null || !followsOn(next, row.slot + 1n)) return null;
    }
    return { slot: row.slot as Slot, blockhash: row.blockhash };
  }

  /** The first slot of the last range that is still held; null while none is. */
  async firstSlot(network: Network): Promise<Slot | null> {
    const { ranges, blocks } = await this.#chain.held(network);
    const last = ranges.at(-1);
    if (last === undefined || blocks === null) return null;
    const first = await this.#firstRow(network, last);
    if (first === null) return null;
    // A range that was filled may begin before the first block, and its first blocks may have been removed with age.
    return (last.from < blocks.from || !followsOn(first, last.from) ? first.slot : last.from) as Slot;
  }

  async #firstRow(network: Network, window: SlotWindow): Promise<BlockRow | null> {
    const [row] = await this.#chain.blocks.blocks({ network, ...window, order: "asc", limit: 1 });
    return row ?? null;
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

/** Whether no block stands between a block and a slot from which on it is the first that is held. */
const followsOn = (row: BlockRow, from: bigint): boolean => row.slot === from || blockOf(row).parentSlot < from;
