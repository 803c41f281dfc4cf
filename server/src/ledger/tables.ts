import { bundleOutcomesTable } from "./bundle-tables.ts";
import { chainTables } from "./chain-tables.ts";
import { oracleKeyedTables, oracleTables } from "./oracle-tables.ts";
import { poolTables } from "./pool-tables.ts";
import type { ColumnDefinition, IndexDefinition, TableDefinition } from "./table-definition.ts";
import { webhookAttemptsTable } from "./webhook-tables.ts";

/** Added to every table: the number of the INSERT that brought the row, by which a repeated INSERT finds itself. */
export const batchColumn: ColumnDefinition = { name: "batch", type: "UInt64", codec: "Delta, ZSTD" };

/** The requests table as the first migration makes it. */
export const firstRequestsTable: TableDefinition = {
  name: "requests",
  timeColumn: "at",
  columns: [
    { name: "at", type: "DateTime64(3, 'UTC')", codec: "DoubleDelta, ZSTD" },
    { name: "request_id", type: "String" },
    { name: "account_id", type: "String" },
    { name: "key_id", type: "String" },
    { name: "network", type: "LowCardinality(String)" },
    { name: "door", type: "LowCardinality(String)" },
    { name: "method", type: "LowCardinality(String)" },
    { name: "status", type: "UInt16" },
    { name: "rpc_code", type: "Nullable(Int32)" },
    { name: "latency_ms", type: "Float64" },
    { name: "bytes_in", type: "UInt64" },
    { name: "bytes_out", type: "UInt64" },
    { name: "credits", type: "UInt64" },
    { name: "cache", type: "LowCardinality(String)" },
    { name: "upstream", type: "LowCardinality(String)" },
  ],
  orderBy: ["account_id", "at"],
  shardBy: "cityHash64(account_id)",
};

/** The public code of a refusal, in the words of the endpoint that refused; empty for an answer. */
export const publicCodeColumn: ColumnDefinition = { name: "code", type: "LowCardinality(String)" };

/** Requests that were served: one row each, for usage pages and analytics. */
export const requestsTable: TableDefinition = {
  ...firstRequestsTable,
  columns: [...firstRequestsTable.columns, publicCodeColumn],
};

/**
 * Finds a request by its id in the whole table: ids are of no order that the table has. A granule holds 8,192 facts, so
 * the filter takes 1.8 bytes a fact and lets one granule in a thousand be read for nothing.
 */
export const requestIdIndex: IndexDefinition = {
  name: "request_id_filter",
  expression: "request_id",
  type: "bloom_filter(0.001)",
  granularity: 1,
};

/** Tables that `insert` knows, by name. */
export const tables: Readonly<Record<string, TableDefinition>> = Object.fromEntries(
  [
    requestsTable,
    ...oracleTables,
    ...oracleKeyedTables,
    bundleOutcomesTable,
    ...chainTables,
    webhookAttemptsTable,
    ...poolTables,
  ].map((table) => [table.name, table]),
);
