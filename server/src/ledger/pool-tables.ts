import type { ColumnDefinition, TableDefinition } from "./table-definition.ts";

const word = (name: string): ColumnDefinition => ({ name, type: "LowCardinality(String)" });
const u64 = (name: string): ColumnDefinition => ({ name, type: "UInt64", codec: "ZSTD" });
const at: ColumnDefinition = { name: "at", type: "DateTime64(3, 'UTC')", codec: "DoubleDelta, ZSTD" };

/** Of which pool of which chain a row is; `chain` is the genesis hash, empty where nodes do not tell it. */
const place = [word("network"), word("chain"), word("pool")] as const;

/**
 * A stake pool as it was at a moment: every ten minutes, and as its update counted an epoch. Who samples the same
 * moment writes the same row. Amounts in lamports and the token's smallest unit, rates in millionths of a percent.
 */
export const poolSamplesTable: TableDefinition = {
  name: "pool_samples",
  timeColumn: "at",
  columns: [
    ...place,
    at,
    u64("slot"),
    u64("epoch"),
    u64("last_update_epoch"),
    u64("total_lamports"),
    u64("token_supply"),
    { name: "decimals", type: "UInt8" },
    /** Before the last update. */
    u64("last_total_lamports"),
    u64("last_token_supply"),
    u64("fee_numerator"),
    u64("fee_denominator"),
    /** Tips of the epoch for the pool, before its fee, and how long the epoch was. */
    u64("tips"),
    u64("epoch_ms"),
    { name: "validators", type: "UInt32" },
    { name: "apy", type: "Int64" },
    { name: "mev_apy", type: "Int64" },
  ],
  orderBy: ["network", "chain", "pool", "at"],
  shardBy: "cityHash64(pool)",
  replacing: true,
};

/** A validator of a stake pool in an epoch that the pool's update counted. Lamports and basis points. */
export const poolValidatorSamplesTable: TableDefinition = {
  name: "pool_validator_samples",
  timeColumn: "at",
  columns: [
    ...place,
    at,
    u64("epoch"),
    { name: "vote", type: "String" },
    u64("stake"),
    u64("total_stake"),
    { name: "commission", type: "UInt16" },
    u64("tips"),
    { name: "tip_commission", type: "UInt16" },
    /** What inflation paid to the pool's stake, and that stake before; null where no node told. */
    { name: "paid", type: "Nullable(UInt64)" },
    { name: "paid_on", type: "Nullable(UInt64)" },
  ],
  orderBy: ["network", "chain", "pool", "at", "vote"],
  shardBy: "cityHash64(pool)",
  replacing: true,
};

/**
 * What the last update counted, where it was more than one epoch: how many, and how long they were together. 0 in rows
 * of versions that did not write them, which are of one epoch.
 */
export const countedEpochsColumns: readonly ColumnDefinition[] = [
  { name: "epochs", type: "UInt32" },
  u64("counted_ms"),
];

/** In the order in which they are made. */
export const poolTables: readonly TableDefinition[] = [poolSamplesTable, poolValidatorSamplesTable];
