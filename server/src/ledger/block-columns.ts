import type { ColumnDefinition, IndexDefinition } from "./table-definition.ts";

/** What the tables of blocks have in common: their partitions, and the columns that name a row. */

/** Slots of one partition: two epochs and a half of a public chain, and a multiple of the slots of one INSERT. */
export const partitionSlots = 1_000_000;

export const byPartition = { partitionBy: `network, intDiv(slot, ${partitionSlots})`, replacing: true } as const;
/** Parts are deleted as a whole when their last row is too old, so that nothing is written again for it. */
export const wholeParts = "ttl_only_drop_parts = 1";

export const text = (name: string): ColumnDefinition => ({ name, type: "String", codec: "ZSTD" });
export const word = (name: string): ColumnDefinition => ({ name, type: "LowCardinality(String)", codec: "ZSTD" });
export const texts = (name: string): ColumnDefinition => ({ name, type: "Array(String)", codec: "ZSTD" });
export const u64 = (name: string): ColumnDefinition => ({ name, type: "UInt64", codec: "ZSTD" });
export const small = (name: string, type: string): ColumnDefinition => ({ name, type, codec: "ZSTD" });

export const network = word("network");
export const slot: ColumnDefinition = { name: "slot", type: "UInt64", codec: "DoubleDelta, ZSTD" };
export const blockhash = text("blockhash");
export const times: readonly ColumnDefinition[] = [
  /** As the chain has it; null where nodes do not know it, or when it is no second from 1970 to 2106. */
  { name: "block_time", type: "Nullable(DateTime('UTC'))", codec: "ZSTD" },
  /** The block's time, or that of writing where the chain has none: what retention counts from. */
  { name: "at", type: "DateTime64(3, 'UTC')", codec: "DoubleDelta, ZSTD" },
];
export const index = small("transaction_index", "UInt32");
export const place = [network, slot, index, blockhash, ...times] as const;

/** Finds granules that may hold a text: one in a hundred is read for nothing. */
export const filter = (column: string): IndexDefinition => ({
  name: `${column}_filter`,
  expression: column,
  type: "bloom_filter(0.01)",
  granularity: 1,
});
