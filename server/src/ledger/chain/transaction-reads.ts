import type { Network } from "@sluice/contract/tiers";
import { decodeSignature } from "@sluice/wire/base58";
import type { LedgerConnection } from "../connection.ts";
import {
  type ChainOrder,
  eachOnce,
  lookupSettings,
  ofChain,
  onceEach,
  type PlaceRange,
  placeList,
  rangeCondition,
  sorted,
  type TransactionPlace,
} from "./statements.ts";

/** What a list of signatures needs of a transaction. */
export interface TransactionRow extends TransactionPlace {
  readonly signature: string;
  readonly blockhash: string;
  /** Unix seconds; null where the chain has none, or one that is no second from 1970 to 2106. */
  readonly blockTime: bigint | null;
  readonly success: boolean;
  /** The error as nodes write it in JSON; empty without one. */
  readonly error: string;
  /** As getSignaturesForAddress shows it; null without one. */
  readonly memo: string | null;
}

/** A whole transaction. */
export interface TransactionBodyRow extends TransactionRow {
  /** What `packTransaction` wrote. */
  readonly body: Uint8Array;
}

/** A transaction of an address. */
export interface AddressPlace extends TransactionPlace {
  readonly success: boolean;
}

interface RawRow {
  readonly slot: string;
  readonly transaction_index: number;
  readonly blockhash: string;
  readonly time: number | null;
  readonly signature: string;
  readonly success: boolean;
  readonly error: string;
  readonly memo: string;
  readonly body?: string;
}

const rowColumns =
  "slot, transaction_index, blockhash, toUnixTimestamp(block_time) AS time, signature, success, error, memo";
const bodyColumns = `${rowColumns}, base64Encode(body) AS body`;
/** Of one key: more places than a signature can have, those in branches that died among them. */
const placesOfSignatureMax = 64;

function rowOf(raw: RawRow): TransactionRow {
  return {
    slot: BigInt(raw.slot),
    index: raw.transaction_index,
    signature: raw.signature,
    blockhash: raw.blockhash,
    blockTime: raw.time === null ? null : BigInt(raw.time),
    success: raw.success,
    error: raw.error,
    memo: raw.memo === "" ? null : raw.memo,
  };
}

const bodyRowOf = (raw: RawRow): TransactionBodyRow => ({
  ...rowOf(raw),
  body: Uint8Array.fromBase64(raw.body ?? ""),
});

/** Reads of transactions by signature, by place and by address. Throw LedgerUnavailableError, LedgerQueryError. */
export class TransactionReads {
  readonly #connection: LedgerConnection;

  constructor(connection: LedgerConnection) {
    this.#connection = connection;
  }

  /** The transaction of a signature; the newest, where a chain holds it twice. */
  async bySignature(network: Network, signature: string): Promise<TransactionBodyRow | null> {
    const raw = await this.#ofSignature<RawRow>(network, signature, bodyColumns);
    return raw === null ? null : bodyRowOf(raw);
  }

  /** Where the transaction of a signature is. */
  async placeOf(network: Network, signature: string): Promise<TransactionPlace | null> {
    const raw = await this.#ofSignature<RawRow>(network, signature, "slot, transaction_index");
    return raw === null ? null : { slot: BigInt(raw.slot), index: raw.transaction_index };
  }

  /** Rows of places, in an order; those that are not there, or are of another branch, are left out. */
  async rows(network: Network, places: readonly TransactionPlace[], order: ChainOrder): Promise<TransactionRow[]> {
    return (await this.#ofPlaces(network, places, { columns: rowColumns, order })).map(rowOf);
  }

  /** The same with their bodies. */
  async bodies(
    network: Network,
    places: readonly TransactionPlace[],
    order: ChainOrder,
  ): Promise<TransactionBodyRow[]> {
    return (await this.#ofPlaces(network, places, { columns: bodyColumns, order })).map(bodyRowOf);
  }

  /** The transactions of a block, in their order. */
  async ofBlock(
    network: Network,
    { slot, blockhash }: { readonly slot: bigint; readonly blockhash: string },
  ): Promise<TransactionBodyRow[]> {
    const rows = await this.#connection.query<RawRow>(
      `SELECT ${bodyColumns} FROM transactions PREWHERE network = {network:String} AND slot = {slot:UInt64} ` +
        "WHERE blockhash = {blockhash:String} ORDER BY transaction_index LIMIT 1 BY transaction_index",
      { network, slot, blockhash },
      lookupSettings,
    );
    return rows.map(bodyRowOf);
  }

  /** One page of the transactions of an address. */
  ofAddress(range: PlaceRange, address: string, success: boolean | null = null): Promise<AddressPlace[]> {
    return eachOnce(range, (page) => this.#pageOfAddress(page, address, success));
  }

  async #pageOfAddress(range: PlaceRange, address: string, success: boolean | null): Promise<AddressPlace[]> {
    const { condition, parameters } = rangeCondition(range);
    const outcome = success === null ? "" : `AND success = ${success} `;
    const rows = await this.#connection.query<{ slot: string; transaction_index: number; success: boolean }>(
      "SELECT slot, transaction_index, success FROM transactions_by_address " +
        `PREWHERE network = {network:String} AND address = {address:String} AND ${condition} ` +
        `WHERE ${ofChain} ${outcome}${sorted(range.order)} LIMIT {limit:UInt32}`,
      { ...parameters, address, limit: range.limit },
      lookupSettings,
    );
    return rows.map(({ slot, transaction_index: index, success }) => ({ slot: BigInt(slot), index, success }));
  }

  /**
   * The newest row with this very signature, of the places that the table of signatures names for its key: in one
   * statement, since what a statement costs before it reads is a third of a look-up.
   */
  async #ofSignature<Row>(network: Network, signature: string, columns: string): Promise<Row | null> {
    const bytes = decodeSignature(signature);
    if (bytes === null) return null;
    const key = new DataView(bytes.buffer, bytes.byteOffset).getBigUint64(0, true);
    const [row] = await this.#connection.query<Row>(
      `SELECT ${columns} FROM transactions PREWHERE network = {network:String} AND (slot, transaction_index) GLOBAL IN ` +
        "(SELECT DISTINCT slot, transaction_index FROM transactions_by_signature " +
        "PREWHERE network = {network:String} AND signature_key = {key:UInt64} " +
        `${sorted("desc")} LIMIT ${placesOfSignatureMax}) ` +
        `WHERE signature = {signature:String} AND ${ofChain} ${sorted("desc")} LIMIT 1`,
      { network, key, signature },
      lookupSettings,
    );
    return row ?? null;
  }

  async #ofPlaces(
    network: Network,
    places: readonly TransactionPlace[],
    { columns, order }: { readonly columns: string; readonly order: ChainOrder },
  ): Promise<RawRow[]> {
    if (places.length === 0) return [];
    return await this.#connection.query<RawRow>(
      `SELECT ${columns} FROM transactions ` +
        `PREWHERE network = {network:String} AND (slot, transaction_index) IN (${placeList(places)}) ` +
        `WHERE ${ofChain} ${sorted(order)} ${onceEach}`,
      { network },
      lookupSettings,
    );
  }
}
