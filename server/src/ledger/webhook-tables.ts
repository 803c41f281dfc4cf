import type { TableDefinition } from "./table-definition.ts";

/**
 * A row for each attempt to deliver an event to a webhook, with what is needed to make the delivery again. One that was
 * written twice is one row.
 */
export const webhookAttemptsTable: TableDefinition = {
  name: "webhook_attempts",
  timeColumn: "at",
  columns: [
    { name: "at", type: "DateTime64(3, 'UTC')", codec: "DoubleDelta, ZSTD" },
    { name: "account_id", type: "LowCardinality(String)" },
    { name: "webhook_id", type: "LowCardinality(String)" },
    { name: "delivery_id", type: "String" },
    { name: "event_id", type: "String" },
    { name: "event", type: "LowCardinality(String)" },
    { name: "network", type: "LowCardinality(String)" },
    /** When the delivery was made. */
    { name: "created_at", type: "DateTime64(3, 'UTC')", codec: "DoubleDelta, ZSTD" },
    { name: "attempt", type: "UInt32" },
    /** `delivered`, `failed` (it is tried again) or `exhausted`. */
    { name: "outcome", type: "LowCardinality(String)" },
    { name: "status_code", type: "Nullable(UInt16)" },
    { name: "error", type: "LowCardinality(String)" },
    { name: "latency_ms", type: "Float64" },
    { name: "request_headers", type: "String", codec: "ZSTD" },
    /** The beginning of the body of the answer. */
    { name: "answer", type: "String", codec: "ZSTD" },
    { name: "slot", type: "UInt64" },
    { name: "blockhash", type: "String" },
    { name: "ordinal", type: "UInt32" },
    { name: "tx_index", type: "Nullable(UInt32)" },
    /** Empty for events that are of no account. */
    { name: "account", type: "String" },
    /** What cannot be made again from the chain, of a delivery that succeeded; empty for all others. */
    { name: "detail", type: "String", codec: "ZSTD" },
  ],
  orderBy: ["webhook_id", "at", "delivery_id", "attempt"],
  shardBy: "cityHash64(delivery_id)",
  replacing: true,
  keptDays: 14,
  indexes: [{ name: "delivery_id_filter", expression: "delivery_id", type: "bloom_filter(0.001)", granularity: 1 }],
};
