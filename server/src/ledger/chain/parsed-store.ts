import type { Network } from "@sluice/contract/tiers";
import type { LedgerConnection } from "../connection.ts";
import type { Form } from "../ddl.ts";
import { parsedTable, reparsesTable } from "../parsed-tables.ts";
import { ChainInserts, type ChainInsertsDependencies } from "./inserts.ts";
import type { SlotSpan } from "./ranges.ts";
import type { EncodedRows } from "./rows.ts";
import { ofChain, slotList } from "./statements.ts";

/**
 * Slots whose transactions are parsed again. The one with the id `version` is of the network itself: below its `next`
 * every transaction has a row of its version of the parser or of a newer one.
 */
export interface ReparseOrder extends SlotSpan {
  readonly id: string;
  /** Slots below it are done. */
  readonly next: bigint;
  readonly state: "active" | "done" | "cancelled";
  readonly parserVersion: number;
  /** Transactions that were parsed for it. */
  readonly transactions: bigint;
}

/** The id of the order that a network has of itself. */
export const versionOrder = "version";

/** A block whose transactions are to be parsed, and how many of them have rows at all. */
export interface UnparsedBlock {
  readonly slot: bigint;
  readonly blockhash: string;
  readonly transactions: number;
}

/** A transaction of the ledger, as it is parsed again. */
export interface StoredTransaction {
  readonly slot: bigint;
  readonly blockhash: string;
  readonly index: number;
  /** Unix seconds; null where the chain has none that the table holds. */
  readonly blockTime: number | null;
  /** Unix milliseconds: what retention counts from. */
  readonly atMs: number;
  /** As `packTransaction` wrote it. */
  readonly body: Uint8Array;
}

/** Which blocks of some slots are asked for. */
export interface UnparsedQuestion extends SlotSpan {
  /** Rows of an older version count as none; null asks for all blocks. */
  readonly version: number | null;
  /** Whether votes have rows. */
  readonly votes: boolean;
}

export interface ParsedStoreDependencies extends ChainInsertsDependencies {
  readonly connection: Pick<LedgerConnection, "query" | "insertRows">;
}

interface RawTransaction {
  readonly slot: string;
  readonly blockhash: string;
  readonly transaction_index: number;
  readonly time: number | null;
  readonly at_ms: string;
  readonly body: string;
}

/** Behind look-ups and searches. */
const settings = { priority: 3, max_threads: 1, max_execution_time: 60 } as const;
const withinSpan = "network = {network:String} AND slot >= {first:UInt64} AND slot < {until:UInt64}";

/** The table `parsed` and the orders to write it again. Methods throw LedgerUnavailableError and LedgerQueryError. */
export class ParsedStore {
  readonly #dependencies: ParsedStoreDependencies;
  readonly #inserts: ChainInserts;

  constructor(form: Form, dependencies: ParsedStoreDependencies) {
    this.#dependencies = dependencies;
    this.#inserts = new ChainInserts(form, dependencies);
  }

  /** Orders of a network, that of the version and active ones first, then the newest; at most 1,000. */
  async orders(network: Network): Promise<readonly ReparseOrder[]> {
    const sql =
      "SELECT id, first_slot, until_slot, next_slot, state, parser_version, transactions " +
      `FROM ${reparsesTable.name} FINAL WHERE network = {network:String} ` +
      "ORDER BY id = {id:String} DESC, state != 'active', if(state = 'active', id, ''), id DESC LIMIT 1000";
    const rows = await this.#dependencies.connection.query<{
      id: string;
      first_slot: string;
      until_slot: string;
      next_slot: string;
      state: ReparseOrder["state"];
      parser_version: number;
      transactions: string;
    }>(sql, { network, id: versionOrder });
    return rows.map(({ id, state, parser_version: parserVersion, ...row }) => ({
      ...{ id, state, parserVersion, transactions: BigInt(row.transactions) },
      ...{ first: BigInt(row.first_slot), until: BigInt(row.until_slot), next: BigInt(row.next_slot) },
    }));
  }

  /** Writes an order, or how far it is. What has ended stays so, and so does what a newer parser has begun. */
  async putOrder(network: Network, order: ReparseOrder): Promise<void> {
    const at = this.#dependencies.clock.now();
    const rank = order.id === versionOrder ? order.parserVersion : order.state === "active" ? 0 : 1;
    // Milliseconds need 41 bits until the year 2039, and 44 until 2527.
    const version = BigInt(rank) * 2n ** 44n + BigInt(Math.trunc(at));
    const row = {
      ...{ network, id: order.id, first_slot: order.first, until_slot: order.until, next_slot: order.next },
      ...{ state: order.state, parser_version: order.parserVersion, transactions: order.transactions, at, version },
    };
    await this.#inserts.records(reparsesTable.name, [row], `reparse-${network}-${order.id}-${order.next}`);
  }

  /** Blocks of the chain that lack rows, in order. */
  async blocks(network: Network, { first, until, version, votes }: UnparsedQuestion): Promise<UnparsedBlock[]> {
    const { connection } = this.#dependencies;
    const span = { network, first, until };
    const expected = votes ? "any(transactions)" : "any(transactions) - any(votes)";
    const [blocks, parsed] = await Promise.all([
      connection.query<{ slot: string; blockhash: string; n: string }>(
        `SELECT slot, blockhash, ${expected} AS n FROM blocks WHERE ${withinSpan} AND ${ofChain} ` +
          "GROUP BY slot, blockhash ORDER BY slot, blockhash",
        span,
        settings,
      ),
      version === null
        ? []
        : connection.query<{ blockhash: string; n: string }>(
            `SELECT blockhash, uniqExact(transaction_index) AS n FROM ${parsedTable.name} ` +
              `WHERE ${withinSpan} AND version >= {version:UInt32} GROUP BY slot, blockhash`,
            { ...span, version },
            settings,
          ),
    ]);
    const found = new Map(parsed.map(({ blockhash, n }) => [blockhash, Number(n)]));
    return blocks.flatMap(({ slot, blockhash, n }) => {
      const transactions = Number(n);
      return transactions > (found.get(blockhash) ?? 0) ? [{ slot: BigInt(slot), blockhash, transactions }] : [];
    });
  }

  /** The transactions of blocks, each once, in their order. */
  async transactions(network: Network, blocks: readonly UnparsedBlock[], votes: boolean): Promise<StoredTransaction[]> {
    if (blocks.length === 0) return [];
    const rows = await this.#dependencies.connection.query<RawTransaction>(
      "SELECT slot, blockhash, transaction_index, toUnixTimestamp(block_time) AS time, " +
        "toUnixTimestamp64Milli(at) AS at_ms, base64Encode(body) AS body FROM transactions " +
        `PREWHERE network = {network:String} AND slot IN (${slotList(blocks.map(({ slot }) => slot))}) ` +
        `WHERE has({blockhashes:Array(String)}, blockhash)${votes ? "" : " AND NOT is_vote"} ` +
        "ORDER BY slot, blockhash, transaction_index LIMIT 1 BY slot, blockhash, transaction_index",
      { network, blockhashes: blocks.map(({ blockhash }) => blockhash) },
      settings,
    );
    return rows.map(({ slot, blockhash, transaction_index: index, time, at_ms, body }) => ({
      ...{ slot: BigInt(slot), blockhash, index, blockTime: time, atMs: Number(at_ms) },
      body: Uint8Array.fromBase64(body),
    }));
  }

  /** Writes rows of `parsed`; those of an older version are not read any more then. */
  async write(network: Network, range: SlotSpan, rows: EncodedRows): Promise<void> {
    await this.#inserts.rows(network, range, rows);
  }
}

/** What re-parses history. */
export type LedgerParsedStore = Pick<ParsedStore, keyof ParsedStore>;
