import type { ColumnDefinition, TableDefinition } from "./table-definition.ts";

/**
 * The tables of digital assets. A row is what was known of an asset at a moment: read from its accounts, or told by a
 * change of its leaf. Rows are named by asset, slot and place, so that one that is written twice is there once. Of an
 * asset the newest row says who holds it, and the newest one with metadata what it is. Rows of blocks that left the
 * chain stay, and readers leave them out by `dropped_blocks`.
 *
 * The tables are kept for ever: the present state of an asset may be in its oldest row.
 */

const text = (name: string): ColumnDefinition => ({ name, type: "String", codec: "ZSTD" });
const word = (name: string): ColumnDefinition => ({ name, type: "LowCardinality(String)", codec: "ZSTD" });
const u64 = (name: string): ColumnDefinition => ({ name, type: "UInt64", codec: "ZSTD" });
const small = (name: string, type: string): ColumnDefinition => ({ name, type, codec: "ZSTD" });

const place: readonly ColumnDefinition[] = [
  /** The block of a leaf's change; of accounts, as far as the node was that they were read from. */
  u64("slot"),
  /** Of the transaction in its block; of accounts the highest number, since they are read after the block. */
  small("transaction_index", "UInt32"),
  /** Of the call in the transaction; of accounts 1 for a finalized reading, else 0. */
  small("position", "UInt32"),
  /** Empty for what was read from accounts. */
  text("blockhash"),
  { name: "at", type: "DateTime64(3, 'UTC')", codec: "ZSTD" },
];

const placeKey = ["slot", "transaction_index", "position", "blockhash"] as const;

/** One row for each reading and each change of an asset. Addresses and hashes are base58; empty is none. */
export const assetsTable: TableDefinition = {
  name: "assets",
  timeColumn: "at",
  columns: [
    word("network"),
    text("asset"),
    ...place,
    /** The slot in which the asset was changed; 0 where a reading does not know. */
    u64("changed_slot"),
    /** Of the change; empty for a reading. */
    text("signature"),
    /** The instruction of the change; `read` for a reading. */
    word("operation"),
    text("owner"),
    text("delegate"),
    small("frozen", "Bool"),
    small("burnt", "Bool"),
    /** The token account with an NFT's only unit. */
    text("token_account"),
    u64("supply"),
    text("tree"),
    u64("leaf_index"),
    u64("sequence"),
    text("data_hash"),
    text("creator_hash"),
    text("leaf_hash"),
    /** Whether the columns below are filled. */
    small("described", "Bool"),
    word("interface"),
    text("name"),
    text("json_uri"),
    text("authority"),
    text("collection"),
    small("collection_verified", "Bool"),
    small("creators", "Array(String)"),
    /** Of these. */
    small("creators_verified", "Array(String)"),
    small("royalty", "UInt16"),
    /** The asset in JSON; of leaves their metadata alone. */
    text("body"),
  ],
  partitionBy: "network",
  replacing: true,
  orderBy: ["network", "asset", ...placeKey],
  primaryKey: ["network", "asset"],
  shardBy: "cityHash64(asset)",
  settings: ["index_granularity = 2048"],
};

/**
 * Which assets have had a value: candidates of a list, of which the newest rows say whether they still have it. `kind`
 * is owner, delegate, authority, collection, creator, tree, uri, master (the account of a master edition, which the
 * asset is) or print (the same, of which the asset is a print).
 */
export const assetValuesTable: TableDefinition = {
  name: "asset_values",
  timeColumn: "at",
  columns: [
    word("network"),
    word("kind"),
    text("value"),
    text("asset"),
    { name: "at", type: "DateTime64(3, 'UTC')", codec: "ZSTD" },
  ],
  partitionBy: "network",
  replacing: true,
  orderBy: ["network", "kind", "value", "asset"],
  shardBy: "cityHash64(value)",
  settings: ["index_granularity = 2048"],
};

/** Nodes of trees of compressed assets as changes wrote them: 1 is the root, 2n and 2n+1 are below node n. */
export const treeNodesTable: TableDefinition = {
  name: "tree_nodes",
  timeColumn: "at",
  columns: [word("network"), text("tree"), small("node", "UInt32"), u64("sequence"), ...place, text("hash")],
  partitionBy: "network",
  replacing: true,
  orderBy: ["network", "tree", "node", ...placeKey],
  primaryKey: ["network", "tree", "node"],
  shardBy: "cityHash64(tree)",
  settings: ["index_granularity = 2048"],
};

/** How far something that feeds the index has come; of one name the row with the highest version stands. */
export const assetProgressTable: TableDefinition = {
  name: "asset_progress",
  timeColumn: "at",
  columns: [
    word("network"),
    /** `blocks`, `past`, or `fill`. */
    word("name"),
    { name: "at", type: "DateTime64(3, 'UTC')" },
    { name: "version", type: "UInt64" },
    /** The chain that it is of, as held ranges have it. */
    { name: "genesis_hash", type: "String" },
    { name: "first_blockhash", type: "String" },
    { name: "state", type: "String" },
  ],
  partitionBy: "network",
  replacing: { version: "version" },
  orderBy: ["network", "name"],
  shardBy: "cityHash64(network)",
};

/** In the order in which they are made. */
export const assetTables: readonly TableDefinition[] = [
  assetsTable,
  assetValuesTable,
  treeNodesTable,
  assetProgressTable,
];
