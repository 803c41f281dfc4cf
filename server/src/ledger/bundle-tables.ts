import type { ColumnDefinition, TableDefinition } from "./table-definition.ts";

/** The outcome of each bundle, written when it ends; a bundle that was written twice is one row. */
export const bundleOutcomesTable: TableDefinition = {
  name: "bundle_outcomes",
  timeColumn: "at",
  columns: [
    { name: "at", type: "DateTime64(3, 'UTC')", codec: "DoubleDelta, ZSTD" },
    { name: "id", type: "String" },
    { name: "searcher_id", type: "LowCardinality(String)" },
    /** Empty where the searcher is a public key that no account has linked. */
    { name: "account_id", type: "LowCardinality(String)" },
    { name: "door", type: "LowCardinality(String)" },
    { name: "mev_type", type: "LowCardinality(String)" },
    { name: "state", type: "LowCardinality(String)" },
    { name: "reason", type: "LowCardinality(String)" },
    /** Lamports that it claimed to pay, and that its tip accounts were last seen to gain by it. */
    { name: "tip", type: "UInt64" },
    { name: "tip_seen", type: "Nullable(UInt64)" },
    { name: "compute_units", type: "Nullable(UInt64)" },
    { name: "signatures", type: "Array(String)" },
    { name: "target_slot", type: "Nullable(UInt64)" },
    { name: "accepted_at", type: "DateTime64(3, 'UTC')", codec: "DoubleDelta, ZSTD" },
    { name: "landed_slot", type: "Nullable(UInt64)" },
    /** Who was handed it last, and how often it was handed to a leader. */
    { name: "leader", type: "LowCardinality(String)" },
    { name: "forwarded_times", type: "UInt32" },
  ],
  orderBy: ["at", "id"],
  shardBy: "cityHash64(id)",
  replacing: true,
};

/**
 * Which chain a bundle was for, added to the columns above and to the key: two chains may end a bundle of one id. Empty
 * in rows of versions that did not write them.
 */
export const bundleChainColumns: readonly ColumnDefinition[] = [
  { name: "network", type: "LowCardinality(String)" },
  /** The hash of the chain's genesis; empty where nodes do not tell it. */
  { name: "chain", type: "LowCardinality(String)" },
];
