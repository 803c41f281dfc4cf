import { expect, test } from "bun:test";
import { assetTables } from "./asset-tables.ts";
import { chainRecordTables, chainTables } from "./chain-tables.ts";
import { bookkeepingStatements, statementsOf } from "./ddl.ts";
import { firstRequestsTable, requestIdIndex, tables } from "./tables.ts";

const single = { database: "sluice", cluster: null };
const cluster = { database: "sluice", cluster: "main" };

const requestColumns = `(
  at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD),
  request_id String,
  account_id String,
  key_id String,
  network LowCardinality(String),
  door LowCardinality(String),
  method LowCardinality(String),
  status UInt16,
  rpc_code Nullable(Int32),
  latency_ms Float64,
  bytes_in UInt64,
  bytes_out UInt64,
  credits UInt64,
  cache LowCardinality(String),
  upstream LowCardinality(String),
  batch UInt64 CODEC(Delta, ZSTD)
)`;

test("golden: the requests table of one server", () => {
  expect(statementsOf({ kind: "create-table", table: firstRequestsTable }, single)).toEqual([
    `CREATE TABLE IF NOT EXISTS sluice.requests
${requestColumns}
ENGINE = MergeTree
PARTITION BY toYYYYMM(at)
ORDER BY (account_id, at)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, non_replicated_deduplication_window = 10000`,
  ]);
});

test("golden: the requests table of a cluster is a replicated local table below a distributed one", () => {
  expect(statementsOf({ kind: "create-table", table: firstRequestsTable }, cluster)).toEqual([
    `CREATE TABLE IF NOT EXISTS sluice.requests_local ON CLUSTER 'main'
${requestColumns}
ENGINE = ReplicatedMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}')
PARTITION BY toYYYYMM(at)
ORDER BY (account_id, at)
SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, replicated_deduplication_window = 10000`,
    `CREATE TABLE IF NOT EXISTS sluice.requests ON CLUSTER 'main'
AS sluice.requests_local
ENGINE = Distributed('main', 'sluice', 'requests_local', cityHash64(account_id))`,
  ]);
});

test("golden: a table that forgets says so before its settings", () => {
  const [text] = statementsOf({ kind: "create-table", table: { ...firstRequestsTable, keptDays: 8 } }, single);
  expect(text).toContain("ORDER BY (account_id, at)\nTTL toDateTime(at) + INTERVAL 8 DAY\nSETTINGS fsync_after_insert");
});

test("golden: a table whose rows may be written again keeps the last of each sorting key, in both forms", () => {
  const table = { ...firstRequestsTable, replacing: true } as const;
  const [alone] = statementsOf({ kind: "create-table", table }, single);
  expect(alone).toContain("ENGINE = ReplacingMergeTree\nPARTITION BY");
  const [local] = statementsOf({ kind: "create-table", table }, cluster);
  expect(local).toContain("ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}'");
});

test("golden: of rows that several processes write the one with the highest version stays, in both forms", () => {
  const table = { ...firstRequestsTable, replacing: { version: "latency_ms" } } as const;
  const [alone] = statementsOf({ kind: "create-table", table }, single);
  expect(alone).toContain("ENGINE = ReplacingMergeTree(latency_ms)\nPARTITION BY");
  const [local] = statementsOf({ kind: "create-table", table }, cluster);
  expect(local).toContain(
    "ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}', latency_ms)",
  );
});

test("golden: rows are copied in the order of their table, and in a cluster until the shards have them", () => {
  const change = { kind: "copy-rows", into: "b", columns: ["at", "x"], select: "SELECT at, x FROM a" } as const;
  expect(statementsOf(change, single)).toEqual([
    "INSERT INTO sluice.b (at, x)\nSELECT at, x FROM a\n" +
      "SETTINGS optimize_aggregation_in_order = 1, max_partitions_per_insert_block = 0",
  ]);
  expect(statementsOf(change, cluster)[0]).toEndWith(
    "max_partitions_per_insert_block = 0, distributed_foreground_insert = 1",
  );
});

test("every table whose rows are versions has in its key what decides the partition, since rows of two never meet", () => {
  for (const table of [...Object.values(tables), ...chainRecordTables, ...assetTables]) {
    if (table.replacing === undefined) continue;
    const { partitionBy = table.timeColumn } = table;
    for (const column of partitionBy.match(/\b[a-z_]+\b(?!\()/g) ?? []) expect(table.orderBy).toContain(column);
    if (table.replacing !== true) expect(table.columns.map(({ name }) => name)).toContain(table.replacing.version);
  }
});

test("golden: the look-up of an address, partitioned by slots, with a primary key that is shorter than the sorting key", () => {
  const table = chainTables.find(({ name }) => name === "transactions_by_address");
  if (table === undefined) throw new Error("no table");
  const columns = `(
  network LowCardinality(String) CODEC(ZSTD),
  address String CODEC(ZSTD),
  slot UInt64 CODEC(DoubleDelta, ZSTD),
  transaction_index UInt32 CODEC(ZSTD),
  blockhash String CODEC(ZSTD),
  at DateTime64(3, 'UTC') CODEC(DoubleDelta, ZSTD),
  success Bool CODEC(ZSTD),
  batch UInt64 CODEC(Delta, ZSTD)
)`;
  const key = `PARTITION BY (network, intDiv(slot, 16000000))
PRIMARY KEY (network, address, slot, transaction_index)
ORDER BY (network, address, slot, transaction_index, blockhash)`;
  const settings = (window: string): string =>
    `SETTINGS fsync_after_insert = 1, fsync_part_directory = 1, ${window} = 10000, index_granularity = 4096`;
  expect(statementsOf({ kind: "create-table", table }, single)).toEqual([
    `CREATE TABLE IF NOT EXISTS sluice.transactions_by_address
${columns}
ENGINE = ReplacingMergeTree
${key}
${settings("non_replicated_deduplication_window")}`,
  ]);
  expect(statementsOf({ kind: "create-table", table }, cluster)).toEqual([
    `CREATE TABLE IF NOT EXISTS sluice.transactions_by_address_local ON CLUSTER 'main'
${columns}
ENGINE = ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/{shard}', '{replica}')
${key}
${settings("replicated_deduplication_window")}`,
    `CREATE TABLE IF NOT EXISTS sluice.transactions_by_address ON CLUSTER 'main'
AS sluice.transactions_by_address_local
ENGINE = Distributed('main', 'sluice', 'transactions_by_address_local', cityHash64(address))`,
  ]);
});

test("golden: an index is part of the local table", () => {
  const table = {
    ...firstRequestsTable,
    columns: firstRequestsTable.columns.slice(0, 2),
    indexes: [{ name: "by_request", expression: "request_id", type: "bloom_filter(0.01)" }],
  };
  expect(statementsOf({ kind: "create-table", table }, single)[0]).toContain(
    "  batch UInt64 CODEC(Delta, ZSTD),\n  INDEX by_request request_id TYPE bloom_filter(0.01)\n)",
  );
});

test("golden: a column is added to the local table with its codec and to the distributed one without", () => {
  const column = { name: "region", type: "LowCardinality(String)", codec: "ZSTD" };
  const change = { kind: "add-column", table: "requests", column, after: "upstream" } as const;
  expect(statementsOf(change, single)).toEqual([
    "ALTER TABLE sluice.requests\nADD COLUMN IF NOT EXISTS region LowCardinality(String) CODEC(ZSTD) AFTER upstream",
  ]);
  expect(statementsOf(change, cluster)).toEqual([
    "ALTER TABLE sluice.requests_local ON CLUSTER 'main'\nADD COLUMN IF NOT EXISTS region LowCardinality(String) CODEC(ZSTD) AFTER upstream",
    "ALTER TABLE sluice.requests ON CLUSTER 'main'\nADD COLUMN IF NOT EXISTS region LowCardinality(String) AFTER upstream",
  ]);
});

test("golden: an index is added to the local table alone, and made for what is stored already", () => {
  const change = { kind: "add-index", table: "requests", index: requestIdIndex } as const;
  expect(statementsOf(change, single)).toEqual([
    "ALTER TABLE sluice.requests\nADD INDEX IF NOT EXISTS request_id_filter request_id TYPE bloom_filter(0.001) GRANULARITY 1",
    "ALTER TABLE sluice.requests\nMATERIALIZE INDEX request_id_filter",
  ]);
  expect(statementsOf(change, cluster)).toEqual([
    "ALTER TABLE sluice.requests_local ON CLUSTER 'main'\nADD INDEX IF NOT EXISTS request_id_filter request_id TYPE bloom_filter(0.001) GRANULARITY 1",
    "ALTER TABLE sluice.requests_local ON CLUSTER 'main'\nMATERIALIZE INDEX request_id_filter",
  ]);
});

test("golden: the record of migrations is whole on every node of a cluster", () => {
  const columns = `(
  number UInt32,
  name String,
  checksum String,
  applied_at DateTime64(3, 'UTC')
)`;
  const identity = `(
  id String,
  network String,
  made_at DateTime64(3, 'UTC')
)`;
  const durable = "SETTINGS fsync_after_insert = 1, fsync_part_directory = 1";
  const one = (name: string, of: string, key: string): string =>
    `CREATE TABLE IF NOT EXISTS sluice.${name}\n${of}\nENGINE = ReplacingMergeTree\nORDER BY ${key}\n${durable}`;
  expect(bookkeepingStatements(single)).toEqual([
    "CREATE DATABASE IF NOT EXISTS sluice",
    one("migrations", columns, "number"),
    one("expansions", columns, "number"),
    one("identity", identity, "id"),
  ]);
  const replicated = "ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/all', '{shard}-{replica}')";
  expect(bookkeepingStatements(cluster)).toEqual([
    "CREATE DATABASE IF NOT EXISTS sluice ON CLUSTER 'main'",
    ...[
      ["migrations", columns, "number"],
      ["expansions", columns, "number"],
      ["identity", identity, "id"],
    ].map(
      ([name, of, key]) =>
        `CREATE TABLE IF NOT EXISTS sluice.${name} ON CLUSTER 'main'\n${of}\nENGINE = ${replicated}\nORDER BY ${key}\n${durable}`,
    ),
  ]);
});

test("golden: columns that extend a sorting key are added with it, and to the table over the shards alone without", () => {
  const change = {
    kind: "extend-key",
    table: "bundle_outcomes",
    columns: [{ name: "network", type: "LowCardinality(String)" }],
    key: ["at", "id"],
  } as const;
  expect(statementsOf(change, single)).toEqual([
    "ALTER TABLE sluice.bundle_outcomes\nADD COLUMN IF NOT EXISTS network LowCardinality(String),\nMODIFY ORDER BY (at, id, network)",
  ]);
  expect(statementsOf(change, cluster)).toEqual([
    "ALTER TABLE sluice.bundle_outcomes_local ON CLUSTER 'main'\nADD COLUMN IF NOT EXISTS network LowCardinality(String),\nMODIFY ORDER BY (at, id, network)",
    "ALTER TABLE sluice.bundle_outcomes ON CLUSTER 'main'\nADD COLUMN IF NOT EXISTS network LowCardinality(String)",
  ]);
});

test("every table is sharded by something its rows carry and ordered by columns it has", () => {
  for (const table of [...Object.values(tables), ...chainRecordTables, ...assetTables]) {
    const names = table.columns.map((column) => column.name);
    for (const column of [...table.orderBy, table.timeColumn]) expect(names).toContain(column);
    expect(table.shardBy).not.toContain("rand");
    expect(names.some((name) => table.shardBy.includes(name))).toBe(true);
    expect(names).not.toContain("batch");
  }
});
