import { byPartition, filter, network, place, small, text, wholeParts, word } from "./block-columns.ts";
import type { ColumnDefinition, TableDefinition } from "./table-definition.ts";

/** The table `parsed` as the migration that made it has it. */
export const firstParsedTable: TableDefinition = {
  name: "parsed",
  timeColumn: "at",
  columns: [
    ...place,
    text("signature"),
    /** Of the parsers. */
    small("version", "UInt32"),
    text("fee_payer"),
    word("type"),
    word("source"),
    text("description"),
    /** JSON. */
    text("events"),
  ],
  ...byPartition,
  replacing: { version: "version" },
  orderBy: ["network", "slot", "transaction_index", "blockhash"],
  primaryKey: ["network", "slot", "transaction_index"],
  indexes: [filter("signature")],
  shardBy: "cityHash64(network, intDiv(slot, 16))",
  settings: [wholeParts],
};

const raw = (name: string): ColumnDefinition => small(name, "Nullable(UInt64)");
const decimals = (name: string): ColumnDefinition => small(name, "Nullable(UInt8)");

/**
 * Facts that questions in SQL are about. Amounts are in the smallest units of their mint; null where the transaction
 * does not tell them, or where they are no u64.
 */
export const parsedFactColumns: readonly ColumnDefinition[] = [
  small("success", "Bool"),
  /** The program whose call causes the type; empty where there is none. */
  word("program_id"),
  /** Who swaps; empty for other types. What he gave and got over the whole route. */
  text("trader"),
  text("input_mint"),
  raw("input_amount"),
  decimals("input_decimals"),
  text("output_mint"),
  raw("output_amount"),
  decimals("output_decimals"),
  /** The first NFT that the type is about: its mint, or the id of an asset; and how many there are. */
  text("nft_mint"),
  small("nfts", "UInt16"),
  text("nft_seller"),
  text("nft_buyer"),
  /** Lamports; null for a price in a token, which `events` tells. */
  raw("nft_price"),
];

/** What the parsers of the enhanced API made of a transaction; the row of the newest version stands. */
export const parsedTable: TableDefinition = {
  ...firstParsedTable,
  columns: [...firstParsedTable.columns, ...parsedFactColumns],
};

/**
 * Transactions that are parsed again: orders of operators, and one row of the network (id `version`) that says up to
 * where all have rows of a version of the parsers. Of one id the row with the highest version stands.
 */
export const reparsesTable: TableDefinition = {
  name: "reparses",
  timeColumn: "at",
  columns: [
    network,
    { name: "id", type: "String" },
    { name: "first_slot", type: "UInt64" },
    { name: "until_slot", type: "UInt64" },
    /** Slots below it are done. */
    { name: "next_slot", type: "UInt64" },
    /** `active`, `done` or `cancelled`. */
    word("state"),
    { name: "parser_version", type: "UInt32" },
    /** Transactions that were parsed for it. */
    { name: "transactions", type: "UInt64" },
    { name: "at", type: "DateTime64(3, 'UTC')" },
    { name: "version", type: "UInt64" },
  ],
  partitionBy: "network",
  replacing: { version: "version" },
  orderBy: ["network", "id"],
  shardBy: "cityHash64(network)",
};
