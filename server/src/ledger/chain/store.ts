import type { Network } from "@sluice/contract/tiers";
import { assetTables } from "../asset-tables.ts";
import {
  backfillsTable,
  chainRecordTables,
  chainTables,
  droppedBlocksTable,
  heldRangesTable,
} from "../chain-tables.ts";
import type { LedgerConnection } from "../connection.ts";
import { dropPartition, type Form, partsOf, storedName } from "../ddl.ts";
import { LedgerQueryError } from "../errors.ts";
import { ChainInserts, type ChainInsertsDependencies } from "./inserts.ts";
import { joined, type SlotSpan } from "./ranges.ts";
import type { EncodedRows } from "./rows.ts";

/** Which chain of a network the rows are of, since one may be started anew with the same genesis. */
export interface HeldIdentity {
  readonly genesisHash: string;
  /** Of the first block after the genesis; empty while none was seen. */
  readonly firstBlockhash: string;
}

/** Whether both may be one chain: one of which no block was seen yet is any with its genesis. */
export const isSameHeldChain = (one: HeldIdentity, other: HeldIdentity): boolean =>
  one.genesisHash === other.genesisHash &&
  (one.firstBlockhash === "" || other.firstBlockhash === "" || one.firstBlockhash === other.firstBlockhash);

/** What the ledger holds of a network's chain. */
export interface HeldChain {
  /** Finalized slots that are held whole, skipped ones among them; in order, apart from each other. */
  readonly ranges: readonly SlotSpan[];
  /** Blocks of slots up to this one are final; null while none is. */
  readonly watermark: bigint | null;
  /** Where the writer goes on; null before it has written. */
  readonly cursor: string | null;
  /** The range that the writer extends, null before it has one. */
  readonly writing: SlotSpan | null;
  /** Null while nothing is held. */
  readonly chain: HeldIdentity | null;
  /** The highest version of a row; who writes uses higher ones. */
  readonly version: bigint;
}

/** A range as it is now held: the row of its source and first slot with the highest version stands. */
export interface HeldRange extends SlotSpan {
  readonly source: "writer" | "backfill";
  readonly version: bigint;
  /** Empty for backfill. */
  readonly cursor: string;
}

/** A block that left the chain, or came back to it. */
export interface DroppedBlock {
  readonly slot: bigint;
  readonly blockhash: string;
  readonly dropped: boolean;
  readonly version: bigint;
}

/** A block of the chain, and the one that it follows on. */
export interface LinkedBlock {
  readonly slot: bigint;
  readonly blockhash: string;
  readonly parentSlot: bigint;
  readonly parentBlockhash: string;
}

/** Slots that an operator wants to be held. */
export interface BackfillOrder extends SlotSpan {
  readonly id: string;
  readonly state: "active" | "done" | "cancelled";
}

export interface ChainStoreDependencies extends ChainInsertsDependencies {
  readonly connection: Pick<LedgerConnection, "query" | "command" | "insertRows">;
}

interface HeldRow {
  readonly source: string;
  readonly first_slot: string;
  readonly until_slot: string;
  readonly version: string;
  readonly cursor: string;
  readonly genesis_hash: string;
  readonly first_blockhash: string;
}

/** INSERTs of one block or range that run at one time; look-ups and facts use the same connections. */
const insertsAtOnce = 3;

/**
 * The chain's tables, as they are written. All writing may be repeated: a row that is there twice counts once. Who
 * calls repeats what has failed.
 */
export class ChainStore {
  readonly #form: Form;
  readonly #dependencies: ChainStoreDependencies;
  readonly #inserts: ChainInserts;

  constructor(form: Form, dependencies: ChainStoreDependencies) {
    this.#form = form;
    this.#dependencies = dependencies;
    this.#inserts = new ChainInserts(form, dependencies);
  }

  /**
   * Writes the rows of whole blocks, one INSERT for each table. Resolves when all of them are on disk. The first of
   * `tables` has rows of each block that has rows in any but `blocks`, the last is `blocks`.
   *
   * @param range - the slots of the blocks
   * @throws {LedgerUnavailableError | LedgerQueryError} some tables may have their rows then; write the same again
   */
  async writeBlocks(network: Network, range: SlotSpan, tables: readonly EncodedRows[]): Promise<void> {
    const [first, ...others] = tables;
    const last = others.pop();
    // Who finds nothing of a block in the first finds nothing of it anywhere.
    if (first !== undefined) await this.#inserts.rows(network, range, first);
    const next = others.values();
    const worker = async (): Promise<void> => {
      for (const rows of next) await this.#inserts.rows(network, range, rows);
    };
    const settled = await Promise.allSettled(Array.from({ length: insertsAtOnce }, worker));
    for (const each of settled) if (each.status === "rejected") throw each.reason;
    // Who finds a block in `blocks` finds the rest of it.
    if (last !== undefined) await this.#inserts.rows(network, range, last);
  }

  /** @throws {LedgerUnavailableError | LedgerQueryError} */
  async markDropped(network: Network, blocks: readonly DroppedBlock[]): Promise<void> {
    if (blocks.length === 0) return;
    const at = this.#dependencies.clock.now();
    const rows = blocks.map(({ slot, blockhash, dropped, version }) => ({
      ...{ network, slot, blockhash, at, version, dropped },
    }));
    await this.#inserts.records(droppedBlocksTable.name, rows, `dropped-${network}-${rows[0]?.version}`);
  }

  /** Blocks from a slot on that left the chain. @throws {LedgerUnavailableError | LedgerQueryError} */
  async droppedFrom(network: Network, slot: bigint): Promise<readonly string[]> {
    const sql =
      `SELECT blockhash FROM ${droppedBlocksTable.name} FINAL ` +
      "WHERE network = {network:String} AND slot >= {slot:UInt64} AND dropped ORDER BY slot, blockhash";
    const rows = await this.#dependencies.connection.query<{ blockhash: string }>(sql, { network, slot });
    return rows.map(({ blockhash }) => blockhash);
  }

  /** Which blocks of some slots are on the chain, in order. @throws {LedgerUnavailableError | LedgerQueryError} */
  async blocksOf(network: Network, { first, until }: SlotSpan): Promise<readonly LinkedBlock[]> {
    const of = "network = {network:String} AND slot >= {first:UInt64} AND slot < {until:UInt64}";
    const sql =
      "SELECT slot, blockhash, any(parent_slot) AS before, any(parent_blockhash) AS parent FROM blocks " +
      `WHERE ${of} AND (slot, blockhash) GLOBAL NOT IN (SELECT slot, blockhash FROM ${droppedBlocksTable.name} FINAL WHERE ${of} AND dropped) ` +
      "GROUP BY slot, blockhash ORDER BY slot, blockhash";
    const rows = await this.#dependencies.connection.query<{
      slot: string;
      blockhash: string;
      before: string;
      parent: string;
    }>(sql, { network, first, until });
    return rows.map(({ slot, blockhash, before, parent }) => ({
      ...{ slot: BigInt(slot), blockhash, parentSlot: BigInt(before), parentBlockhash: parent },
    }));
  }

  /**
   * Slots below it are of blocks from before a moment, as far as the ledger shows; 0 where it shows none. Of slots that
   * are held and have lost their blocks to retention the first block that is left says so. Times of blocks are taken
   * as ascending.
   *
   * @param sinceMs - Unix milliseconds
   * @throws {LedgerUnavailableError | LedgerQueryError}
   */
  async agedBefore(network: Network, sinceMs: number): Promise<bigint> {
    const { connection } = this.#dependencies;
    const rowOf = async (condition: string, order: string, value: bigint | number) => {
      const sql = `SELECT slot, parent_slot FROM blocks WHERE network = {network:String} AND ${condition} ORDER BY slot ${order} LIMIT 1`;
      const [row] = await connection.query<{ slot: string; parent_slot: string }>(sql, { network, value });
      return row === undefined ? null : { slot: BigInt(row.slot), parent: BigInt(row.parent_slot) };
    };
    // From the oldest one on: retention leaves few that are too old.
    const newer = await rowOf("at >= fromUnixTimestamp64Milli({value:Int64})", "ASC", Math.ceil(sinceMs));
    const older = await rowOf("slot < {value:UInt64}", "DESC", newer?.slot ?? 2n ** 64n - 1n);
    if (older !== null) return older.slot + 1n;
    const { ranges } = await this.held(network);
    if (newer === null) return ranges.at(-1)?.until ?? 0n;
    const isHeld = ranges.some(({ first, until }) => first <= newer.parent && newer.parent < until);
    return isHeld && newer.parent < newer.slot ? newer.parent + 1n : 0n;
  }

  /**
   * Blocks of some slots that were begun and are not whole, those that left the chain apart: who wrote them was killed.
   * @throws {LedgerUnavailableError | LedgerQueryError}
   */
  async partsOf(
    network: Network,
    { first, until }: SlotSpan,
  ): Promise<readonly { readonly slot: bigint; readonly blockhash: string }[]> {
    const of = "network = {network:String} AND slot >= {first:UInt64} AND slot < {until:UInt64}";
    const begun = ["transactions", "rewards"].map((table) => `SELECT slot, blockhash FROM ${table} WHERE ${of}`);
    const sql =
      `SELECT DISTINCT slot, blockhash FROM (${begun.join(" UNION ALL ")}) ` +
      `WHERE (slot, blockhash) GLOBAL NOT IN (SELECT slot, blockhash FROM blocks WHERE ${of}) AND (slot, blockhash) ` +
      `GLOBAL NOT IN (SELECT slot, blockhash FROM ${droppedBlocksTable.name} FINAL WHERE ${of} AND dropped) ` +
      "ORDER BY slot, blockhash";
    const rows = await this.#dependencies.connection.query<{ slot: string; blockhash: string }>(sql, {
      ...{ network, first, until },
    });
    return rows.map(({ slot, blockhash }) => ({ slot: BigInt(slot), blockhash }));
  }

  /** Orders of a network, the oldest first; at most 1,000. @throws {LedgerUnavailableError | LedgerQueryError} */
  async backfills(network: Network): Promise<readonly BackfillOrder[]> {
    const sql =
      `SELECT id, first_slot, until_slot, state FROM ${backfillsTable.name} FINAL ` +
      "WHERE network = {network:String} ORDER BY state != 'active', id LIMIT 1000";
    const rows = await this.#dependencies.connection.query<{
      id: string;
      first_slot: string;
      until_slot: string;
      state: BackfillOrder["state"];
    }>(sql, { network });
    return rows.map(({ id, state, ...row }) => ({
      ...{ id, state, first: BigInt(row.first_slot), until: BigInt(row.until_slot) },
    }));
  }

  /** Writes an order, or its new state. @throws {LedgerUnavailableError | LedgerQueryError} */
  async putBackfill(network: Network, { id, first, until, state }: BackfillOrder): Promise<void> {
    const at = this.#dependencies.clock.now();
    // What has ended stays so, whatever the clocks of processes say.
    const version = BigInt(Math.trunc(at)) + (state === "active" ? 0n : 2n ** 62n);
    const row = { network, id, first_slot: first, until_slot: until, state, at, version };
    await this.#inserts.records(backfillsTable.name, [row], `backfill-${network}-${id}-${state}`);
  }

  /** @throws {LedgerUnavailableError | LedgerQueryError} */
  async hold(network: Network, chain: HeldIdentity, range: HeldRange): Promise<void> {
    const { source, first, until, version, cursor } = range;
    const row = {
      ...{ network, source, first_slot: first, until_slot: until, at: this.#dependencies.clock.now(), version, cursor },
      ...{ genesis_hash: chain.genesisHash, first_blockhash: chain.firstBlockhash },
    };
    await this.#inserts.records(heldRangesTable.name, [row], `held-${network}-${source}-${first}-${version}`);
  }

  /** @throws {LedgerUnavailableError | LedgerQueryError} */
  async held(network: Network): Promise<HeldChain> {
    const sql =
      "SELECT source, first_slot, until_slot, version, cursor, genesis_hash, first_blockhash " +
      `FROM ${heldRangesTable.name} FINAL WHERE network = {network:String} ORDER BY version`;
    const rows = await this.#dependencies.connection.query<HeldRow>(sql, { network });
    const rangeOf = (row: HeldRow): SlotSpan => ({ first: BigInt(row.first_slot), until: BigInt(row.until_slot) });
    const ranges = joined(rows.map(rangeOf));
    const writing = rows.findLast(({ source }) => source === "writer");
    const newest = rows.at(-1);
    const until = ranges.at(-1)?.until;
    return {
      ranges,
      watermark: until === undefined ? null : until - 1n,
      cursor: writing === undefined || writing.cursor === "" ? null : writing.cursor,
      writing: writing === undefined ? null : rangeOf(writing),
      chain: newest === undefined ? null : { genesisHash: newest.genesis_hash, firstBlockhash: newest.first_blockhash },
      version: BigInt(newest?.version ?? 0),
    };
  }

  /**
   * Removes all that is held of a network's chain, which is another one now. Killed half-way it may be called again:
   * what says which chain it was goes last.
   *
   * @throws {LedgerUnavailableError | LedgerQueryError}
   */
  async discard(network: Network): Promise<void> {
    const { connection } = this.#dependencies;
    for (const { name } of [...assetTables, ...chainTables, ...chainRecordTables]) {
      const table = storedName(this.#form, name);
      const parts = await connection.query<{ partition: string }>(
        `SELECT DISTINCT partition FROM ${partsOf(this.#form)} WHERE active AND database = {database:String} ` +
          "AND table = {table:String} AND (partition = {network:String} OR startsWith(partition, {start:String}))",
        { database: this.#form.database, table, network, start: `('${network}',` },
      );
      for (const { partition } of parts) await connection.command(dropPartition(this.#form, { table, partition }));
    }
  }
}

/** What writers of the chain's tables use. */
export type LedgerChainStore = Pick<ChainStore, keyof ChainStore>;

/** Whether the same may succeed later; what the ledger refuses for good stays refused until somebody mends it. */
export const isTransient = (error: unknown): boolean => !(error instanceof LedgerQueryError) || error.transient;
