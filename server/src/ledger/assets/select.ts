import type { Network } from "@sluice/contract/tiers";
import { ofChain } from "../chain/statements.ts";
import { type AssetValueKind, absentOperation } from "./asset-rows.ts";

/** Which assets are wanted; null asks for nothing of the kind. All that is given has to hold. */
export interface AssetFilter {
  readonly owner: string | null;
  /**
   * The assets of an owner that tokens decide, as nodes tell them: with it an asset that a token account holds is the
   * owner's when it is among these, and never else. Addresses.
   */
  readonly held: readonly string[] | null;
  readonly delegate: string | null;
  readonly authority: string | null;
  readonly collection: string | null;
  /** Whether collections that are not verified count as well. */
  readonly unverifiedCollections: boolean;
  readonly creator: string | null;
  readonly creatorVerified: boolean | null;
  readonly tree: string | null;
  readonly uri: string | null;
  /** The account of the master edition of which an asset is a print, as it stays. */
  readonly printOf: string | null;
  readonly compressed: boolean | null;
  readonly frozen: boolean | null;
  readonly burnt: boolean | null;
  readonly interfaces: readonly string[] | null;
  readonly withoutInterfaces: readonly string[];
  /** Basis points. */
  readonly royalty: number | null;
  readonly supply: bigint | null;
}

/** A filter that every asset passes. */
export const anyAsset: AssetFilter = {
  ...{ owner: null, held: null, delegate: null, authority: null, collection: null, unverifiedCollections: false },
  ...{
    creator: null,
    creatorVerified: null,
    tree: null,
    uri: null,
    printOf: null,
    compressed: null,
    frozen: null,
    burnt: null,
  },
  ...{ interfaces: null, withoutInterfaces: [], royalty: null, supply: null },
};

export type AssetSort = "id" | "created" | "updated";

/** Where a page begins: beyond an asset, in the order of the list. */
export interface AssetEdge {
  readonly slot: bigint;
  readonly asset: string;
}

export interface AssetPage {
  readonly sort: AssetSort;
  readonly order: "asc" | "desc";
  /** Assets after this one. */
  readonly after: AssetEdge | null;
  /** Assets before this one: the last of them are the page. */
  readonly before: AssetEdge | null;
  readonly skip: number;
  readonly limit: number;
}

const versionOf = "(slot, transaction_index, position)";
const addressText = /^[1-9A-HJ-NP-Za-km-z]{32,44}$/;

/** Addresses as a list of SQL. @throws {RangeError} when one is none: nothing else may stand in a statement */
export function addressList(addresses: readonly string[]): string {
  const wrong = addresses.find((address) => !addressText.test(address));
  if (wrong !== undefined) throw new RangeError("a list of addresses has something else in it");
  return addresses.map((address) => `'${address}'`).join(",");
}

const holding = [
  ...["owner", "delegate", "frozen", "burnt", "token_account", "supply", "tree", "leaf_index", "sequence"],
  ...["data_hash", "creator_hash", "leaf_hash"],
];
const description = [
  ...["interface", "name", "json_uri", "authority", "collection", "collection_verified", "creators"],
  ...["creators_verified", "royalty", "body"],
];

/** The first or last slot in which an asset was changed; where no row knows one, that of its first row. */
const seen = (of: "min" | "max"): string =>
  `if(max(changed_slot) = 0, min(slot), ${of}If(changed_slot, changed_slot > 0))`;

/** The newest row of each asset, over the assets that a condition selects. */
export function newestAssets(candidates: string): string {
  const named = (tuple: string, columns: readonly string[]): string =>
    columns.map((column, at) => `${tuple}.${at + 1} AS ${column}`).join(", ");
  return (
    `SELECT asset, created, updated, is_described, is_settled, ${named("h", holding)}, ${named("d", description)} FROM (` +
    `SELECT asset, ${seen("min")} AS created, ${seen("max")} AS updated, max(described) AS is_described, ` +
    `max(described AND (position = 1 OR signature != '')) AS is_settled, argMax(operation, ${versionOf}) AS newest, ` +
    `argMax((${holding.join(", ")}), ${versionOf}) AS h, ` +
    `argMaxIf((${description.join(", ")}), ${versionOf}, described) AS d FROM assets ` +
    `WHERE network = {network:String} AND ${candidates} AND ${ofChain} GROUP BY asset HAVING newest != '${absentOperation}')`
  );
}

interface Selection {
  /** Of the rows of `assets` that are read. */
  readonly candidates: string;
  /** Of the newest rows. */
  readonly conditions: readonly string[];
  readonly parameters: Readonly<Record<string, unknown>>;
}

const ofKind = (kind: AssetValueKind, parameter: string): string =>
  "asset GLOBAL IN (SELECT asset FROM asset_values WHERE network = {network:String} " +
  `AND kind = '${kind}' AND value = {${parameter}:String})`;

/** The conditions of a filter, with the parameters that they name. */
export function selectionOf(network: Network, filter: AssetFilter): Selection {
  const parameters: Record<string, unknown> = { network };
  const candidates: string[] = [];
  const conditions: string[] = [];
  const equal = (kind: AssetValueKind, value: string | null, condition: string): void => {
    if (value === null) return;
    parameters[kind] = value;
    candidates.push(ofKind(kind, kind));
    conditions.push(condition);
  };
  ownerCondition(filter, { parameters, candidates, conditions });
  equal("delegate", filter.delegate, "delegate = {delegate:String}");
  equal("authority", filter.authority, "authority = {authority:String}");
  const verified = filter.unverifiedCollections ? "" : " AND collection_verified";
  equal("collection", filter.collection, `collection = {collection:String}${verified}`);
  equal("creator", filter.creator, creatorCondition(filter.creatorVerified));
  equal("tree", filter.tree, "tree = {tree:String}");
  equal("uri", filter.uri, "json_uri = {uri:String}");
  equal("print", filter.printOf, "is_described");
  const flags = { compressed: "(tree != '')", frozen: "frozen", burnt: "burnt" } as const;
  for (const name of ["compressed", "frozen", "burnt"] as const) {
    const wanted = filter[name];
    if (wanted !== null) conditions.push(wanted ? flags[name] : `NOT ${flags[name]}`);
  }
  const words = { interfaces: filter.interfaces, without: filter.withoutInterfaces };
  if (words.interfaces !== null) {
    conditions.push("has({interfaces:Array(String)}, interface)");
    parameters["interfaces"] = words.interfaces;
  }
  if (words.without.length > 0) {
    conditions.push("NOT has({without:Array(String)}, interface)");
    parameters["without"] = words.without;
  }
  if (filter.royalty !== null) {
    conditions.push("royalty = {royalty:UInt16}");
    parameters["royalty"] = filter.royalty;
  }
  if (filter.supply !== null) {
    conditions.push("supply = {supply:UInt64}");
    parameters["supply"] = filter.supply;
  }
  return { candidates: candidates.length === 0 ? "1" : candidates.join(" AND "), conditions, parameters };
}

function creatorCondition(verified: boolean | null): string {
  if (verified === null) return "has(creators, {creator:String})";
  const list = "has(creators_verified, {creator:String})";
  return verified ? list : `has(creators, {creator:String}) AND NOT ${list}`;
}

function ownerCondition(
  { owner, held }: AssetFilter,
  of: { readonly parameters: Record<string, unknown>; readonly candidates: string[]; readonly conditions: string[] },
): void {
  if (owner === null) return;
  of.parameters["owner"] = owner;
  if (held === null) {
    of.candidates.push(ofKind("owner", "owner"));
    of.conditions.push("owner = {owner:String}");
    return;
  }
  const among = held.length === 0 ? "0" : `asset IN (${addressList(held)})`;
  of.candidates.push(`(${ofKind("owner", "owner")} OR ${among})`);
  of.conditions.push(`(${among} OR (owner = {owner:String} AND token_account = ''))`);
}
