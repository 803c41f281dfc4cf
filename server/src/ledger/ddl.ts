import type { LedgerRetention } from "@sluice/contract/ledger";
import { invariant } from "@sluice/lib";
import type { ColumnDefinition, IndexDefinition, TableDefinition } from "./table-definition.ts";
import { batchColumn } from "./tables.ts";

/** Where the tables are created: one server (or the embedded engine), or every node of a cluster. */
export interface Form {
  readonly database: string;
  /** Name of the cluster in the servers' configuration, or null for the form of one server. */
  readonly cluster: string | null;
}

/** A step of a migration. */
export type Change =
  | CreateTable
  | { readonly kind: "add-column"; readonly table: string; readonly column: ColumnDefinition; readonly after: string }
  | CopyRows
  /** New columns at the end of the sorting key; rows that are there have them empty. */
  | {
      readonly kind: "extend-key";
      readonly table: string;
      readonly columns: readonly ColumnDefinition[];
      /** The sorting key before. */
      readonly key: readonly string[];
    }
  | { readonly kind: "add-index"; readonly table: string; readonly index: IndexDefinition };

interface CreateTable {
  readonly kind: "create-table";
  readonly table: TableDefinition;
}

/**
 * Rows of a table of an earlier form go into another one. The target takes a row twice without harm (`replacing`), so
 * that the copy may be repeated. The rows stay where they were.
 */
interface CopyRows {
  readonly kind: "copy-rows";
  readonly into: string;
  readonly columns: readonly string[];
  /** A SELECT of these columns, of tables of the ledger's own database. */
  readonly select: string;
}

/** How many INSERTs a table remembers by their token, so that a repeated one is recognised. */
const rememberedInserts = 10_000;

/** An INSERT is answered only when its part and the directory entry of the part are on disk. */
const durable = "fsync_after_insert = 1, fsync_part_directory = 1";

/**
 * Where a replicated table is in Keeper, and the replica in it. The table's id, which ON CLUSTER gives to all nodes
 * alike, keeps a table that is made anew apart from the one of that name before it.
 */
const shardPath = "'/clickhouse/tables/{uuid}/{shard}', '{replica}'";

const onCluster = (form: Form): string => (form.cluster === null ? "" : ` ON CLUSTER '${form.cluster}'`);

/** The table that holds the rows of a server, without its database. */
export const storedName = (form: Form, table: string): string => (form.cluster === null ? table : `${table}_local`);

const localName = (form: Form, table: string): string => `${form.database}.${storedName(form, table)}`;

function columnText(column: ColumnDefinition): string {
  return `${column.name} ${column.type}${column.codec === undefined ? "" : ` CODEC(${column.codec})`}`;
}

/** The definition with the column that every table has besides its own. */
const withBatchColumn = (table: TableDefinition): TableDefinition => ({
  ...table,
  columns: [...table.columns, batchColumn],
});

/** The table that holds the rows, with these columns and no others. */
function createLocal(table: TableDefinition, form: Form): string {
  const indexes = (table.indexes ?? []).map(indexText);
  const lines = [...table.columns.map(columnText), ...indexes].map((line) => `  ${line}`);
  const merging = table.replacing === undefined ? "MergeTree" : "ReplacingMergeTree";
  const version = typeof table.replacing === "object" ? [table.replacing.version] : [];
  const engine = form.cluster === null ? merging : `Replicated${merging}`;
  const remembered = form.cluster === null ? "non_replicated_deduplication_window" : "replicated_deduplication_window";
  return [
    `CREATE TABLE IF NOT EXISTS ${localName(form, table.name)}${onCluster(form)}`,
    "(",
    lines.join(",\n"),
    ")",
    `ENGINE = ${engine}${argumentsText([...(form.cluster === null ? [] : [shardPath]), ...version])}`,
    `PARTITION BY ${partitionText(table)}`,
    ...(table.primaryKey === undefined ? [] : [`PRIMARY KEY (${table.primaryKey.join(", ")})`]),
    `ORDER BY (${table.orderBy.join(", ")})`,
    ...(table.keptDays === undefined ? [] : [`TTL toDateTime(${table.timeColumn}) + INTERVAL ${table.keptDays} DAY`]),
    `SETTINGS ${[durable, `${remembered} = ${rememberedInserts}`, ...(table.settings ?? [])].join(", ")}`,
  ].join("\n");
}

function createTable(table: TableDefinition, form: Form): string[] {
  const local = createLocal(withBatchColumn(table), form);
  if (form.cluster === null) return [local];
  const distributed = [
    `CREATE TABLE IF NOT EXISTS ${form.database}.${table.name}${onCluster(form)}`,
    `AS ${localName(form, table.name)}`,
    `ENGINE = Distributed('${form.cluster}', '${form.database}', '${table.name}_local', ${table.shardBy})`,
  ].join("\n");
  return [local, distributed];
}

const partitionText = ({ partitionBy, timeColumn }: TableDefinition): string =>
  partitionBy === undefined ? `toYYYYMM(${timeColumn})` : `(${partitionBy})`;

const argumentsText = (list: readonly string[]): string => (list.length === 0 ? "" : `(${list.join(", ")})`);

function addColumn(change: Extract<Change, { kind: "add-column" }>, form: Form): string[] {
  const names = form.cluster === null ? [change.table] : [`${change.table}_local`, change.table];
  return names.map((name, index) => {
    // A Distributed table stores nothing, so it takes no codec.
    const column = index === 0 ? change.column : { name: change.column.name, type: change.column.type };
    const head = `ALTER TABLE ${form.database}.${name}${onCluster(form)}`;
    return `${head}\nADD COLUMN IF NOT EXISTS ${columnText(column)} AFTER ${change.after}`;
  });
}

/** A key takes columns that the same statement adds. */
function extendKey({ table, columns, key }: Extract<Change, { kind: "extend-key" }>, form: Form): string[] {
  const order = `MODIFY ORDER BY (${[...key, ...columns.map(({ name }) => name)].join(", ")})`;
  const added = columns.map((column) => `ADD COLUMN IF NOT EXISTS ${columnText(column)}`);
  const head = `ALTER TABLE ${localName(form, table)}${onCluster(form)}`;
  const local = `${head}\n${[...added, order].join(",\n")}`;
  if (form.cluster === null) return [local];
  return [local, `ALTER TABLE ${form.database}.${table}${onCluster(form)}\n${added.join(",\n")}`];
}

const indexText = ({ name, expression, type, granularity }: IndexDefinition): string =>
  `INDEX ${name} ${expression} TYPE ${type}${granularity === undefined ? "" : ` GRANULARITY ${granularity}`}`;

/** A Distributed table has no index. Parts that exist get theirs in the background; until then they are read whole. */
function addIndex({ table, index }: Extract<Change, { kind: "add-index" }>, form: Form): string[] {
  const head = `ALTER TABLE ${localName(form, table)}${onCluster(form)}`;
  return [
    `${head}\nADD ${indexText(index).replace("INDEX", "INDEX IF NOT EXISTS")}`,
    `${head}\nMATERIALIZE INDEX ${index.name}`,
  ];
}

/**
 * The source is read in its order, so that memory does not grow with it. In a cluster the statement ends when the
 * shards have the rows.
 */
function copyRows({ into, columns, select }: CopyRows, form: Form): string[] {
  const settings = [
    "optimize_aggregation_in_order = 1",
    "max_partitions_per_insert_block = 0",
    ...(form.cluster === null ? [] : ["distributed_foreground_insert = 1"]),
  ];
  return [`INSERT INTO ${form.database}.${into} (${columns.join(", ")})\n${select}\nSETTINGS ${settings.join(", ")}`];
}

/** The statements of one change, in order. Each may be run again without harm. */
export function statementsOf(change: Change, form: Form): string[] {
  switch (change.kind) {
    case "create-table":
      return createTable(change.table, form);
    case "add-column":
      return addColumn(change, form);
    case "copy-rows":
      return copyRows(change, form);
    case "add-index":
      return addIndex(change, form);
    case "extend-key":
      return extendKey(change, form);
  }
}

/** Puts an element behind the one of that name. */
function placed(columns: readonly ColumnDefinition[], column: ColumnDefinition, after: string): ColumnDefinition[] {
  const index = columns.findIndex(({ name }) => name === after);
  invariant(index >= 0, "a change adds a column behind one that is not there");
  return columns.toSpliced(index + 1, 0, column);
}

/** A table after one change of it. */
function changed(table: TableDefinition, change: Exclude<Change, CreateTable | CopyRows>): TableDefinition {
  switch (change.kind) {
    case "add-column":
      return { ...table, columns: placed(table.columns, change.column, change.after) };
    case "add-index":
      return { ...table, indexes: [...(table.indexes ?? []), change.index] };
    case "extend-key": {
      const { key, columns } = change;
      const orderBy = [...key, ...columns.map(({ name }) => name)];
      return { ...table, columns: [...table.columns, ...columns], orderBy, primaryKey: table.primaryKey ?? key };
    }
  }
}

/**
 * The statements that create, on one server without tables, what all changes make one after the other: each table
 * once, in its last form. There is nothing to copy.
 */
export function statementsOfAll(changes: readonly Change[], form: Form & { readonly cluster: null }): string[] {
  const made = new Map<string, TableDefinition>();
  for (const change of changes) {
    if (change.kind === "create-table") made.set(change.table.name, withBatchColumn(change.table));
    else if (change.kind !== "copy-rows") {
      const table = made.get(change.table);
      invariant(table !== undefined, "a change is of a table that none before it creates");
      made.set(change.table, changed(table, change));
    }
  }
  return [...made.values()].map((table) => createLocal(table, form));
}

/** In seconds, minutes, hours or days: whatever is whole. */
function interval(ms: number): string {
  for (const [unitMs, unit] of [
    [86_400_000, "DAY"],
    [3_600_000, "HOUR"],
    [60_000, "MINUTE"],
  ] as const) {
    if (ms % unitMs === 0) return `INTERVAL ${ms / unitMs} ${unit}`;
  }
  return `INTERVAL ${Math.floor(ms / 1_000)} SECOND`;
}

/** The table of the parts of all tables: of the server, or of every server of the cluster. */
export const partsOf = ({ cluster }: Form): string =>
  cluster === null ? "system.parts" : `clusterAllReplicas('${cluster}', system.parts)`;

/**
 * Deletes a partition at once.
 *
 * @param of - the table that holds the rows, and the partition as the engine shows it
 */
export function dropPartition(form: Form, { table, partition }: { table: string; partition: string }): string {
  const value = partition.startsWith("(") ? partition : `'${partition}'`;
  return `ALTER TABLE ${form.database}.${table}${onCluster(form)}\nDROP PARTITION ${value}`;
}

/** Changes how long a table keeps its rows, those that are there included. */
export function retentionStatement(
  { table, timeColumn, kept }: { readonly table: string; readonly timeColumn: string; readonly kept: LedgerRetention },
  form: Form,
): string {
  const rule = kept === "forever" ? "REMOVE TTL" : `MODIFY TTL toDateTime(${timeColumn}) + ${interval(kept)}`;
  return `ALTER TABLE ${localName(form, table)}${onCluster(form)}\n${rule}`;
}

const recordColumns = ["number UInt32", "name String", "checksum String", "applied_at DateTime64(3, 'UTC')"];
const identityColumns = ["id String", "network String", "made_at DateTime64(3, 'UTC')"];

/** A table of which each node of a cluster holds the whole. */
function bookkeepingTable(form: Form, name: string, columns: readonly string[], key: string): string {
  const engine =
    form.cluster === null
      ? "ReplacingMergeTree"
      : `ReplicatedReplacingMergeTree('/clickhouse/tables/{uuid}/all', '{shard}-{replica}')`;
  return [
    `CREATE TABLE IF NOT EXISTS ${form.database}.${name}${onCluster(form)}`,
    "(",
    columns.map((column) => `  ${column}`).join(",\n"),
    ")",
    `ENGINE = ${engine}`,
    `ORDER BY ${key}`,
    `SETTINGS ${durable}`,
  ].join("\n");
}

/** What must exist before any migration can be recorded: the records of migrations, and which ledger this is. */
export const bookkeepingStatements = (form: Form): string[] => [
  `CREATE DATABASE IF NOT EXISTS ${form.database}${onCluster(form)}`,
  bookkeepingTable(form, "migrations", recordColumns, "number"),
  bookkeepingTable(form, "expansions", recordColumns, "number"),
  bookkeepingTable(form, "identity", identityColumns, "id"),
];

/** How many tables there are besides those, in the database of the connection. */
export const otherTables =
  "SELECT count() AS tables FROM system.tables WHERE database = currentDatabase() " +
  "AND name NOT IN ('migrations', 'expansions', 'identity')";
