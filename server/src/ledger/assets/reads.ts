import type { Network } from "@sluice/contract/tiers";
import { lookupSettings, ofChain, type TransactionPlace } from "../chain/statements.ts";
import type { LedgerConnection, LedgerSettings } from "../connection.ts";
import type { AssetDescription, AssetHolding, AssetLeaf } from "./asset-rows.ts";
import { type AssetFilter, type AssetPage, addressList, newestAssets, selectionOf } from "./select.ts";

/** An asset as the index has it. */
export interface IndexedAsset {
  readonly asset: string;
  /** The first slot, and the last, in which the index saw it. */
  readonly created: bigint;
  readonly updated: bigint;
  /** Whether anything that is final has shown it. */
  readonly isSettled: boolean;
  readonly holding: AssetHolding;
  readonly leaf: AssetLeaf | null;
  /** Null where only changes of its leaf were seen, and none with metadata. */
  readonly description: AssetDescription | null;
}

/** A transaction that changed the leaf of an asset. */
export interface AssetSignature {
  readonly signature: string;
  readonly operation: string;
  readonly slot: bigint;
}

/** Which transactions of a leaf are listed: between two of them, neither included. */
export interface SignaturePage {
  readonly limit: number;
  readonly skip: number;
  readonly before: TransactionPlace | null;
  readonly after: TransactionPlace | null;
}

/** A reading that is not final yet. */
export interface UnsettledReading {
  readonly asset: string;
  /** As far as the node was that the asset was read from. */
  readonly slot: bigint;
  /** In which it was changed. */
  readonly changedSlot: bigint;
}

interface RawAsset {
  readonly asset: string;
  readonly created: string;
  readonly updated: string;
  readonly is_described: boolean | number;
  readonly is_settled: boolean | number;
  readonly owner: string;
  readonly delegate: string;
  readonly frozen: boolean;
  readonly burnt: boolean;
  readonly token_account: string;
  readonly supply: string;
  readonly tree: string;
  readonly leaf_index: string;
  readonly sequence: string;
  readonly data_hash: string;
  readonly creator_hash: string;
  readonly leaf_hash: string;
  readonly interface: string;
  readonly name: string;
  readonly json_uri: string;
  readonly authority: string;
  readonly collection: string;
  readonly collection_verified: boolean;
  readonly creators: readonly string[];
  readonly creators_verified: readonly string[];
  readonly royalty: number;
  readonly body: string;
}

/** Lists name thousands of assets of an owner in one statement. */
const listSettings: LedgerSettings = { ...lookupSettings, max_query_size: 4 * 1024 * 1024, max_threads: 2 };
const sortColumns = { id: "asset", created: "created", updated: "updated" } as const;

/** The index of assets, as it is looked up. Each asset once, as its newest row on the chain says. */
export class AssetReads {
  readonly #connection: Pick<LedgerConnection, "query">;

  constructor(connection: Pick<LedgerConnection, "query">) {
    this.#connection = connection;
  }

  /** One page of the assets that pass a filter. @throws {LedgerUnavailableError | LedgerQueryError} */
  async list(network: Network, filter: AssetFilter, page: AssetPage): Promise<readonly IndexedAsset[]> {
    const { candidates, conditions, parameters } = selectionOf(network, filter);
    const edges = edgeConditions(page);
    const where = [...conditions, ...edges.conditions];
    // The page before an asset is read backwards.
    const isBackwards = page.before !== null && page.after === null;
    const isDown = (page.order === "desc") !== isBackwards;
    const direction = isDown ? "DESC" : "ASC";
    const by = page.sort === "id" ? `asset ${direction}` : `${sortColumns[page.sort]} ${direction}, asset ${direction}`;
    const sql =
      `SELECT * FROM (${newestAssets(candidates)}) ${where.length === 0 ? "" : `WHERE ${where.join(" AND ")} `}` +
      `ORDER BY ${by} LIMIT {limit:UInt32} OFFSET {skip:UInt32}`;
    const rows = await this.#connection.query<RawAsset>(
      sql,
      { ...parameters, ...edges.parameters, limit: page.limit, skip: page.skip },
      listSettings,
    );
    const assets = rows.map(assetOf);
    return isBackwards ? assets.toReversed() : assets;
  }

  /** How many assets pass a filter. @throws {LedgerUnavailableError | LedgerQueryError} */
  async count(network: Network, filter: AssetFilter): Promise<number> {
    const { candidates, conditions, parameters } = selectionOf(network, filter);
    const where = conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`;
    const [row] = await this.#connection.query<{ count: string }>(
      `SELECT count() AS count FROM (${newestAssets(candidates)})${where}`,
      parameters,
      listSettings,
    );
    return Number(row?.count ?? 0);
  }

  /** Those of some assets that the index has. @throws {LedgerUnavailableError | LedgerQueryError} */
  async byIds(network: Network, ids: readonly string[]): Promise<ReadonlyMap<string, IndexedAsset>> {
    if (ids.length === 0) return new Map();
    const sql = newestAssets(`asset IN (${addressList(ids)})`);
    const rows = await this.#connection.query<RawAsset>(sql, { network }, listSettings);
    return new Map(rows.map((row) => [row.asset, assetOf(row)]));
  }

  /** Which of some addresses are assets of the index. @throws {LedgerUnavailableError | LedgerQueryError} */
  async known(network: Network, addresses: readonly string[]): Promise<ReadonlySet<string>> {
    if (addresses.length === 0) return new Set();
    const sql = `SELECT DISTINCT asset FROM assets WHERE network = {network:String} AND asset IN (${addressList(addresses)})`;
    const rows = await this.#connection.query<{ asset: string }>(sql, { network }, listSettings);
    return new Set(rows.map(({ asset }) => asset));
  }

  /** The mints of master editions by the accounts of these; those that the index does not have are not there. */
  async masters(network: Network, accounts: readonly string[]): Promise<ReadonlyMap<string, string>> {
    if (accounts.length === 0) return new Map();
    const sql =
      "SELECT value, min(asset) AS asset FROM asset_values WHERE network = {network:String} AND kind = 'master' " +
      `AND value IN (${addressList(accounts)}) GROUP BY value`;
    const rows = await this.#connection.query<Record<"value" | "asset", string>>(sql, { network }, listSettings);
    return new Map(rows.map(({ value, asset }) => [value, asset]));
  }

  /**
   * Transactions that changed a leaf, each once, the newest first: those that are older than `before` and newer than
   * `after`; with `after` alone the ones that follow it next.
   */
  async signatures(
    network: Network,
    asset: string,
    { limit, skip, before, after }: SignaturePage,
  ): Promise<readonly AssetSignature[]> {
    const isBackwards = after !== null && before === null;
    const direction = isBackwards ? "ASC" : "DESC";
    const parameters: Record<string, unknown> = { network, asset, limit, skip };
    const edge = (name: "before" | "after", sign: "<" | ">", place: TransactionPlace | null): string => {
      if (place === null) return "";
      parameters[`${name}Slot`] = place.slot;
      parameters[`${name}Index`] = place.index;
      return `AND (slot, transaction_index) ${sign} ({${name}Slot:UInt64}, {${name}Index:UInt32}) `;
    };
    const sql =
      "SELECT signature, operation, slot FROM assets FINAL WHERE network = {network:String} AND asset = {asset:String} " +
      `AND signature != '' AND ${ofChain} ${edge("before", "<", before)}${edge("after", ">", after)}` +
      `ORDER BY slot ${direction}, transaction_index ${direction}, position DESC ` +
      "LIMIT 1 BY signature LIMIT {limit:UInt32} OFFSET {skip:UInt32}";
    const rows = await this.#connection.query<Record<"signature" | "operation" | "slot", string>>(
      sql,
      parameters,
      lookupSettings,
    );
    const found = rows.map(({ signature, operation, slot }) => ({ signature, operation, slot: BigInt(slot) }));
    return isBackwards ? found.reverse() : found;
  }

  /** Where some transactions that changed a leaf are, by signature; others are not there. */
  async signaturePlaces(
    network: Network,
    asset: string,
    signatures: readonly string[],
  ): Promise<ReadonlyMap<string, TransactionPlace>> {
    if (signatures.length === 0) return new Map();
    const sql =
      "SELECT signature, slot, transaction_index FROM assets WHERE network = {network:String} AND asset = {asset:String} " +
      `AND has({signatures:Array(String)}, signature) AND ${ofChain}`;
    const rows = await this.#connection.query<{ signature: string; slot: string; transaction_index: number }>(
      sql,
      { network, asset, signatures },
      lookupSettings,
    );
    const placeOf = (slot: string, index: number): TransactionPlace => ({ slot: BigInt(slot), index: Number(index) });
    return new Map(rows.map(({ signature, slot, transaction_index: index }) => [signature, placeOf(slot, index)]));
  }

  /** Nodes of a tree as they are now, by their number; those that no change has written are not there. */
  async treeNodes(network: Network, tree: string, nodes: readonly number[]): Promise<ReadonlyMap<number, string>> {
    if (nodes.length === 0) return new Map();
    const list = nodes.map((node) => Math.trunc(node)).join(",");
    const sql =
      "SELECT node, argMax(hash, (sequence, slot, transaction_index, position)) AS hash FROM tree_nodes " +
      `WHERE network = {network:String} AND tree = {tree:String} AND node IN (${list}) AND ${ofChain} GROUP BY node`;
    const rows = await this.#connection.query<{ node: number; hash: string }>(sql, { network, tree }, lookupSettings);
    return new Map(rows.map(({ node, hash }) => [Number(node), hash]));
  }

  /** How many levels a tree has below its root; null where no change of it is known. */
  async treeDepth(network: Network, tree: string): Promise<number | null> {
    const sql = "SELECT max(node) AS node FROM tree_nodes WHERE network = {network:String} AND tree = {tree:String}";
    const [row] = await this.#connection.query<{ node: number }>(sql, { network, tree }, lookupSettings);
    const node = Number(row?.node ?? 0);
    return node === 0 ? null : Math.floor(Math.log2(node));
  }

  /** Assets whose newest reading is not final, the oldest first. */
  async unsettled(network: Network, limit: number): Promise<readonly UnsettledReading[]> {
    const sql =
      "SELECT asset, max(slot) AS newest, max(changed_slot) AS changed, " +
      "argMax(position, (slot, transaction_index, position)) AS final FROM assets " +
      "WHERE network = {network:String} AND signature = '' GROUP BY asset HAVING final = 0 " +
      "ORDER BY newest, asset LIMIT {limit:UInt32}";
    const rows = await this.#connection.query<Record<"asset" | "newest" | "changed", string>>(sql, {
      ...{ network, limit },
    });
    return rows.map(({ asset, newest, changed }) => ({ asset, slot: BigInt(newest), changedSlot: BigInt(changed) }));
  }
}

function edgeConditions({ sort, order, after, before }: AssetPage) {
  const conditions: string[] = [];
  const parameters: Record<string, unknown> = {};
  const beyond = (edge: { slot: bigint; asset: string } | null, name: string, isAfter: boolean): void => {
    if (edge === null) return;
    const sign = isAfter === (order === "asc") ? ">" : "<";
    parameters[`${name}Asset`] = edge.asset;
    if (sort === "id") {
      conditions.push(`asset ${sign} {${name}Asset:String}`);
      return;
    }
    parameters[`${name}Slot`] = edge.slot;
    conditions.push(`(${sortColumns[sort]}, asset) ${sign} ({${name}Slot:UInt64}, {${name}Asset:String})`);
  };
  beyond(after, "after", true);
  beyond(before, "before", false);
  return { conditions, parameters };
}

function assetOf(row: RawAsset): IndexedAsset {
  const { owner, delegate, frozen, burnt, tree } = row;
  const isDescribed = Boolean(row.is_described);
  return {
    asset: row.asset,
    created: BigInt(row.created),
    updated: BigInt(row.updated),
    isSettled: Boolean(row.is_settled),
    holding: { owner, delegate, frozen, burnt, tokenAccount: row.token_account, supply: BigInt(row.supply) },
    leaf:
      tree === ""
        ? null
        : {
            tree,
            leafIndex: BigInt(row.leaf_index),
            sequence: BigInt(row.sequence),
            dataHash: row.data_hash,
            creatorHash: row.creator_hash,
            leafHash: row.leaf_hash,
          },
    description: isDescribed
      ? {
          interface: row.interface,
          name: row.name,
          jsonUri: row.json_uri,
          authority: row.authority,
          collection: row.collection,
          collectionVerified: Boolean(row.collection_verified),
          creators: row.creators,
          creatorsVerified: row.creators_verified,
          royalty: row.royalty,
          body: row.body,
        }
      : null,
  };
}

/** What lists of assets are read with. */
export type LedgerAssetReads = Pick<AssetReads, keyof AssetReads>;
