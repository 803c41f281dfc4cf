import type { Network } from "@sluice/contract/tiers";
import type { LedgerConnection } from "../connection.ts";
import { type ChainOrder, eachOnce, lookupSettings, ofChain, type SlotWindow, slotList } from "./statements.ts";

/** A block without its transactions. */
export interface BlockRow {
  readonly slot: bigint;
  readonly blockhash: string;
  readonly transactions: number;
  readonly votes: number;
  readonly failed: number;
  /** What `packBlock` wrote of it, without transactions. */
  readonly body: Uint8Array;
}

/** Which blocks are listed: those of a window, in an order. */
export interface BlockRange extends SlotWindow {
  readonly network: Network;
  readonly order: ChainOrder;
  readonly limit: number;
}

interface RawBlock {
  readonly slot: string;
  readonly blockhash: string;
  readonly transactions: number;
  readonly votes: number;
  readonly failed: number;
  readonly body: string;
}

const columns = "slot, blockhash, transactions, votes, failed, base64Encode(body) AS body";

const blockOf = ({ slot, body, ...raw }: RawBlock): BlockRow => ({
  ...raw,
  slot: BigInt(slot),
  body: Uint8Array.fromBase64(body),
});

/** Rows of one statement of which the slots are taken. */
const rowsOfAddressMax = 8_192;

/** The slots of a window beyond one of them, in an order. */
function slotsBeyond(
  { from, to, order }: SlotWindow & { readonly order: ChainOrder },
  slot: bigint | null,
): { readonly from: bigint; readonly to: bigint } {
  if (slot === null) return { from, to };
  if (order === "asc") return { from: slot + 1n, to };
  // Nothing is before the first slot.
  return slot === 0n ? { from: 1n, to: 0n } : { from, to: slot - 1n };
}

/** Reads of blocks; of two of one slot, the last one written. Throw LedgerUnavailableError, LedgerQueryError. */
export class BlockReads {
  readonly #connection: LedgerConnection;

  constructor(connection: LedgerConnection) {
    this.#connection = connection;
  }

  async block(network: Network, slot: bigint): Promise<BlockRow | null> {
    return (await this.blocksOf(network, [slot], "asc"))[0] ?? null;
  }

  /** The blocks of these slots; those that have none are left out. */
  async blocksOf(network: Network, slots: readonly bigint[], order: ChainOrder): Promise<BlockRow[]> {
    if (slots.length === 0) return [];
    const rows = await this.#connection.query<RawBlock>(
      `SELECT ${columns} FROM blocks PREWHERE network = {network:String} AND slot IN (${slotList(slots)}) ` +
        `WHERE ${ofChain} ORDER BY slot ${order.toUpperCase()}, at DESC LIMIT 1 BY slot`,
      { network },
      lookupSettings,
    );
    return rows.map(blockOf);
  }

  /** One page of blocks. */
  async blocks(range: BlockRange): Promise<BlockRow[]> {
    const rows = await eachOnce({ ...range, after: null }, async ({ network, from, to, order, after, limit }) => {
      const beyond = slotsBeyond({ from, to, order }, after?.slot ?? null);
      const found = await this.#connection.query<RawBlock>(
        `SELECT ${columns} FROM blocks ` +
          "PREWHERE network = {network:String} AND slot >= {from:UInt64} AND slot <= {to:UInt64} " +
          `WHERE ${ofChain} ORDER BY slot ${order.toUpperCase()} LIMIT {limit:UInt32}`,
        { network, ...beyond, limit },
        lookupSettings,
      );
      return found.map((raw) => ({ ...blockOf(raw), index: 0 }));
    });
    return rows.map(({ index: _index, ...row }) => row);
  }

  /** Slots that have a block, ascending; at most `limit`. */
  async slots({ network, from, to, limit }: Omit<BlockRange, "order">): Promise<bigint[]> {
    const rows = await this.#connection.query<{ slot: string }>(
      "SELECT slot FROM blocks PREWHERE network = {network:String} AND slot >= {from:UInt64} AND slot <= {to:UInt64} " +
        `WHERE ${ofChain} ORDER BY slot LIMIT 1 BY slot LIMIT {limit:UInt32}`,
      { network, from, to, limit },
      lookupSettings,
    );
    return rows.map(({ slot }) => BigInt(slot));
  }

  /** Slots with a transaction that names an address; a slot that was found is not read to its end. */
  async slotsOfAddress({ network, order, limit, ...window }: BlockRange, address: string): Promise<bigint[]> {
    const slots: bigint[] = [];
    for (;;) {
      const beyond = slotsBeyond({ ...window, order }, slots.at(-1) ?? null);
      const rows = await this.#connection.query<{ slot: string }>(
        "SELECT slot FROM transactions_by_address PREWHERE network = {network:String} AND address = {address:String} " +
          `AND slot >= {from:UInt64} AND slot <= {to:UInt64} WHERE ${ofChain} ` +
          `ORDER BY slot ${order.toUpperCase()} LIMIT ${rowsOfAddressMax}`,
        { network, ...beyond, address },
        lookupSettings,
      );
      slots.push(...new Set(rows.map(({ slot }) => BigInt(slot))));
      if (rows.length < rowsOfAddressMax || slots.length >= limit) return slots.slice(0, limit);
    }
  }

  /** The signatures of a block's transactions, in their order. */
  async signatures(network: Network, { slot, blockhash }: Pick<BlockRow, "slot" | "blockhash">): Promise<string[]> {
    const rows = await this.#connection.query<{ signature: string }>(
      "SELECT signature FROM transactions PREWHERE network = {network:String} AND slot = {slot:UInt64} " +
        "WHERE blockhash = {blockhash:String} ORDER BY transaction_index LIMIT 1 BY transaction_index",
      { network, slot, blockhash },
      lookupSettings,
    );
    return rows.map(({ signature }) => signature);
  }
}
