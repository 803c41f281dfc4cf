import type { Network } from "@sluice/contract/tiers";
import type { LedgerConnection } from "../connection.ts";
import { LedgerQueryError } from "../errors.ts";
import {
  eachOnce,
  lookupSettings,
  ofChain,
  type PlaceRange,
  placeList,
  rangeCondition,
  type SlotWindow,
  sorted,
  type TransactionPlace,
} from "./statements.ts";

/** Some addresses in a window of a chain: a wallet and its token accounts, of which the first one is the wallet. */
export interface AddressWindow extends SlotWindow {
  readonly network: Network;
  readonly addresses: readonly string[];
}

/** Transactions of one day. */
export interface ActiveDay {
  /** UTC, as `2026-11-27`. */
  readonly date: string;
  readonly transactions: number;
  readonly failed: number;
}

/** What was counted, and whether that is all of the window: else it is the newest of it. */
export interface Counted<Row> {
  readonly rows: readonly Row[];
  readonly isWhole: boolean;
}

/** A transaction's type and source, as the parsers' newest row has them. */
export interface ParsedType extends TransactionPlace {
  readonly type: string;
  readonly source: string;
  /** Of the parsers that wrote the row. */
  readonly version: number;
}

/** Rows of each address that one count looks at, the newest first; after a statement that was too slow, fewer. */
const countedRows = [400_000, 20_000, 1_000] as const;

const settings = {
  ...lookupSettings,
  // Counts may wait for look-ups, and use what is left of the machine.
  priority: 2,
  max_threads: 2,
  max_execution_time: 2,
  max_memory_usage: 512 * 1024 * 1024,
} as const;

/** Too slow, or too many rows: the same statement over fewer rows may do. */
const overLimit: ReadonlySet<number> = new Set([158, 159, 160, 191, 241, 307]);

/**
 * What happened to addresses: their transactions in the order of the chain, and counts that are bounded in rows and
 * time. The table of addresses is read in its own order, once for each address: over several addresses at a time the
 * engine would read all rows of each. Throws LedgerUnavailableError, LedgerQueryError.
 */
export class AddressActivity {
  readonly #connection: LedgerConnection;

  constructor(connection: LedgerConnection) {
    this.#connection = connection;
  }

  /** One page of the transactions that name one of the addresses, each once; `success` null is with failed ones. */
  places(range: PlaceRange, addresses: readonly string[], success: boolean | null = null): Promise<TransactionPlace[]> {
    if (range.from > range.to || addresses.length === 0) return Promise.resolve([]);
    return eachOnce(range, async (page) => {
      const { condition, parameters } = rangeCondition(page);
      const outcome = success === null ? "" : `AND success = ${success} `;
      const part = (_: string, index: number): string =>
        `(SELECT slot, transaction_index FROM transactions_by_address ${rowsOf(index, condition)} ` +
        `WHERE ${ofChain} ${outcome}${sorted(page.order)} LIMIT {limit:UInt32})`;
      const rows = await this.#connection.query<{ slot: string; transaction_index: number }>(
        `SELECT slot, transaction_index FROM (${addresses.map(part).join(" UNION ALL ")}) ` +
          `${sorted(page.order)} LIMIT {limit:UInt32}`,
        { ...parameters, ...named(addresses), limit: page.limit },
        lookupSettings,
      );
      return rows.map(({ slot, transaction_index: index }) => ({ slot: BigInt(slot), index }));
    });
  }

  /** Transactions by the days of their blocks, the newest day first. */
  async days(window: AddressWindow): Promise<Counted<ActiveDay>> {
    return await this.#counted(window, async (most) => {
      const rows = await this.#connection.query<{ day: string; transactions: string; failed: string; read: string }>(
        "SELECT toString(toDate(moment)) AS day, count() AS transactions, countIf(NOT ok) AS failed, " +
          "sum(copies) AS read " +
          "FROM (SELECT slot, transaction_index, any(at) AS moment, any(success) AS ok, count() AS copies " +
          `FROM (${newest(window.addresses, "slot, transaction_index, blockhash, at, success")}) ` +
          `WHERE ${ofChain} GROUP BY slot, transaction_index) GROUP BY day ORDER BY day DESC`,
        parametersOf(window, most),
        settings,
      );
      return {
        rows: rows.map(({ day: date, transactions, failed }) => {
          return { date, transactions: Number(transactions), failed: Number(failed) };
        }),
        isWhole: rows.reduce((sum, { read }) => sum + Number(read), 0) < most,
      };
    });
  }

  /**
   * How many transactions the parsers found to be of each type; those without a row of a version of the parsers, or of
   * a newer one, are not there.
   */
  async types(
    window: AddressWindow,
    version: number,
  ): Promise<Counted<{ readonly type: string; readonly transactions: number }>> {
    return await this.#counted(window, async (most) => {
      const within = "network = {network:String} AND slot >= {from:UInt64} AND slot <= {to:UInt64}";
      const rows = await this.#connection.query<{ kind: string; transactions: string }>(
        "SELECT kind, count() AS transactions FROM (" +
          "SELECT slot, transaction_index, argMax(type, version) AS kind FROM parsed " +
          `PREWHERE ${within} AND version >= {version:UInt32} AND (slot, transaction_index) GLOBAL IN (` +
          `SELECT slot, transaction_index FROM (${newest(window.addresses, "slot, transaction_index")})) ` +
          `WHERE ${ofChain} GROUP BY slot, transaction_index) GROUP BY kind ORDER BY transactions DESC, kind`,
        { ...parametersOf(window, most), version },
        settings,
      );
      const found = rows.map(({ kind: type, transactions }) => ({ type, transactions: Number(transactions) }));
      return { rows: found, isWhole: found.reduce((sum, { transactions }) => sum + transactions, 0) < most };
    });
  }

  /** The types of transactions, by the newest version of the parsers; those that were never parsed are not there. */
  async typesOf(network: Network, places: readonly TransactionPlace[]): Promise<ParsedType[]> {
    if (places.length === 0) return [];
    const rows = await this.#connection.query<{
      slot: string;
      transaction_index: number;
      kind: string;
      named: string;
      newest: number;
    }>(
      "SELECT slot, transaction_index, argMax(type, version) AS kind, argMax(source, version) AS named, " +
        "max(version) AS newest FROM parsed " +
        `PREWHERE network = {network:String} AND (slot, transaction_index) IN (${placeList(places)}) ` +
        `WHERE ${ofChain} GROUP BY slot, transaction_index`,
      { network },
      lookupSettings,
    );
    return rows.map(({ slot, transaction_index: index, kind: type, named: source, newest: version }) => {
      return { slot: BigInt(slot), index, type, source, version };
    });
  }

  /** Counts over fewer rows where more are too slow. */
  async #counted<Row>(
    { from, to, addresses }: AddressWindow,
    count: (most: number) => Promise<Counted<Row>>,
  ): Promise<Counted<Row>> {
    if (from > to || addresses.length === 0) return { rows: [], isWhole: true };
    for (const most of countedRows) {
      const counted = await count(most).catch((error: unknown) => {
        const isSmallest = most === countedRows.at(-1);
        if (isSmallest || !(error instanceof LedgerQueryError && overLimit.has(error.engineCode))) throw error;
        return null;
      });
      if (counted !== null) return counted;
    }
    return { rows: [], isWhole: false };
  }
}

const rowsOf = (address: number, condition: string): string =>
  `PREWHERE network = {network:String} AND address = {address${address}:String} AND ${condition}`;

const named = (addresses: readonly string[]): Record<string, string> =>
  Object.fromEntries(addresses.map((address, index) => [`address${index}`, address]));

/** The newest rows of each address in a window. */
function newest(addresses: readonly string[], columns: string): string {
  const window = "slot >= {from:UInt64} AND slot <= {to:UInt64}";
  const part = (_: string, index: number): string =>
    `(SELECT ${columns} FROM transactions_by_address ${rowsOf(index, window)} ${sorted("desc")} LIMIT {most:UInt32})`;
  return addresses.map(part).join(" UNION ALL ");
}

const parametersOf = ({ network, from, to, addresses }: AddressWindow, most: number) => ({
  ...{ network, from, to, most },
  ...named(addresses),
});
