import { createHash } from "node:crypto";
import type { Network } from "@sluice/contract/tiers";
import type { StateDriver } from "./records.ts";

/**
 * Tables as data, rendered into the SQL of either driver. `id` is text that sorts by its bytes on both, whatever the
 * database's locale; `int` is a signed 64-bit integer; JSON is kept as `text`, and truth as an `int` of 0 or 1, so that
 * a row reads the same from both. `bytes` mean nothing to the database.
 */
type ColumnType = "id" | "text" | "int" | "bytes";

/** A column in terms of both drivers. */
interface Column {
  readonly type: ColumnType;
  readonly nullable?: true;
  readonly unique?: true;
  /** `table.column` */
  readonly references?: string;
}

/** One change of the schema, rendered for each driver. */
export type MigrationStep =
  | {
      readonly create: string;
      readonly columns: Readonly<Record<string, Column>>;
      readonly primaryKey: readonly string[];
      readonly foreignKey?: ForeignKey;
    }
  | { readonly index: string; readonly on: string; readonly columns: readonly string[] }
  | { readonly addColumn: string; readonly to: string; readonly column: Column & { readonly nullable: true } }
  /** Appends a text to the JSON list of texts in each row that does not hold it. */
  | { readonly appendText: string; readonly table: string; readonly list: string }
  | { readonly appendOnly: string }
  /** A column with the network that each row speaks of; rows that are there get the network of `MigrationContext`. */
  | { readonly addNetwork: string }
  /** Puts that network and a colon before the text of a column of every row. */
  | { readonly prefixNetwork: string; readonly column: string }
  /** Copies these columns of all rows into another table. */
  | { readonly copy: string; readonly to: string; readonly columns: readonly string[] }
  | { readonly dropIndex: string }
  | { readonly dropTable: string }
  | { readonly rename: string; readonly to: string }
  /** Gives rows that have no network the one of the row that they refer to by its `id`. */
  | { readonly fillNetwork: string; readonly from: string; readonly by: string }
  /** PostgreSQL alone: another primary key, without the references to the one before. */
  | { readonly rekey: string; readonly primaryKey: readonly string[] }
  | { readonly require: string; readonly in: string }
  | ({ readonly refer: string } & ForeignKey)
  /** Where one driver cannot do what the other does. */
  | { readonly sqlite: readonly MigrationStep[]; readonly postgres: readonly MigrationStep[] };

/** Columns that refer to those of another table, in their order. */
interface ForeignKey {
  readonly columns: readonly string[];
  readonly references: string;
  readonly targets: readonly string[];
}

/** What a step takes from the process that applies it; the step itself, and so its checksum, is the same everywhere. */
export interface MigrationContext {
  /** The network that rows without one speak of. */
  readonly network: Network;
}

/** A numbered list of steps; it never changes once released, since its checksum is stored. */
export interface Migration {
  readonly number: number;
  readonly name: string;
  readonly steps: readonly MigrationStep[];
}

const typeNames: Readonly<Record<StateDriver, Readonly<Record<ColumnType, string>>>> = {
  sqlite: { id: "text", text: "text", int: "integer", bytes: "blob" },
  postgres: { id: 'text collate "C"', text: "text", int: "bigint", bytes: "bytea" },
};

/** Names come from the migrations of this room alone; any other character is a mistake in them. */
function plain(name: string): string {
  if (!/^[a-z][a-z0-9_]*$/.test(name)) throw new Error(`Not a plain name: ${name}`);
  return name;
}

function renderColumn(driver: StateDriver, name: string, column: Column): string {
  const parts = [plain(name), typeNames[driver][column.type]];
  if (column.nullable !== true) parts.push("not null");
  if (column.unique === true) parts.push("unique");
  if (column.references !== undefined) {
    const [table = "", target = ""] = column.references.split(".");
    parts.push(`references ${plain(table)} (${plain(target)})`);
  }
  return parts.join(" ");
}

/** The database refuses to change or delete rows of an append-only table. */
function renderAppendOnly(driver: StateDriver, table: string): string[] {
  const message = `'${plain(table)} is append-only'`;
  if (driver === "sqlite") {
    return ["update", "delete"].map(
      (action) =>
        `create trigger ${table}_no_${action} before ${action} on ${table} begin select raise(abort, ${message}); end`,
    );
  }
  return [
    `create function ${table}_append_only() returns trigger language plpgsql as $$ begin raise exception ${message}; end $$`,
    `create trigger ${table}_append_only before update or delete or truncate on ${table} for each statement execute function ${table}_append_only()`,
  ];
}

/** Texts of permissions: what LIKE or JSON gives a meaning does not occur in them, but for the quotes around them. */
function renderAppendText(text: string, table: string, list: string): string {
  if (!/^[a-z:]+$/.test(text)) throw new Error(`Not a plain text: ${text}`);
  const [rows, column] = [plain(table), plain(list)];
  const longer = `substr(${column}, 1, length(${column}) - 1) || ',"${text}"]'`;
  const appended = `case when ${column} = '[]' then '["${text}"]' else ${longer} end`;
  return `update ${rows} set ${column} = ${appended} where ${column} not like '%"${text}"%'`;
}

/** A constant default fills a column of any number of rows at once; PostgreSQL asks every later row for its own. */
function renderAddNetwork(driver: StateDriver, table: string, network: Network): string[] {
  const column = renderColumn(driver, "network", { type: "id" });
  const add = `alter table ${plain(table)} add column ${column} default '${plain(network)}'`;
  return driver === "sqlite" ? [add] : [add, `alter table ${table} alter column network drop default`];
}

const list = (names: readonly string[]): string => `(${names.map(plain).join(", ")})`;

const renderForeignKey = ({ columns, references, targets }: ForeignKey): string =>
  `foreign key ${list(columns)} references ${plain(references)} ${list(targets)}`;

/**
 * Whether a version that does not know a migration can go on with what it leaves: tables, indexes and columns are
 * added, and nothing that was there is taken away or means something else.
 */
export const expands = ({ steps }: Migration): boolean =>
  steps.every((step) => "create" in step || "index" in step || "addColumn" in step);

/** The statements of one step, in order. */
export function renderStep(driver: StateDriver, step: MigrationStep, context: MigrationContext): string[] {
  if ("create" in step) {
    const columns = Object.entries(step.columns).map(([name, column]) => renderColumn(driver, name, column));
    const keys = [
      `primary key ${list(step.primaryKey)}`,
      ...(step.foreignKey === undefined ? [] : [renderForeignKey(step.foreignKey)]),
    ];
    const ending = driver === "sqlite" ? ") strict" : ")";
    return [`create table ${plain(step.create)} (${[...columns, ...keys].join(", ")}${ending}`];
  }
  if ("index" in step) {
    return [`create index ${plain(step.index)} on ${plain(step.on)} (${step.columns.map(plain).join(", ")})`];
  }
  if ("addColumn" in step) {
    return [`alter table ${plain(step.to)} add column ${renderColumn(driver, step.addColumn, step.column)}`];
  }
  if ("appendText" in step) return [renderAppendText(step.appendText, step.table, step.list)];
  if ("appendOnly" in step) return renderAppendOnly(driver, step.appendOnly);
  if ("addNetwork" in step) return renderAddNetwork(driver, step.addNetwork, context.network);
  if ("prefixNetwork" in step) {
    const column = plain(step.column);
    return [`update ${plain(step.prefixNetwork)} set ${column} = '${plain(context.network)}:' || ${column}`];
  }
  if ("copy" in step) {
    const columns = step.columns.map(plain).join(", ");
    return [`insert into ${plain(step.to)} (${columns}) select ${columns} from ${plain(step.copy)}`];
  }
  if ("dropIndex" in step) return [`drop index ${plain(step.dropIndex)}`];
  if ("dropTable" in step) return [`drop table ${plain(step.dropTable)}`];
  if ("rename" in step) return [`alter table ${plain(step.rename)} rename to ${plain(step.to)}`];
  if ("fillNetwork" in step) {
    const [table, from] = [plain(step.fillNetwork), plain(step.from)];
    const network = `select ${from}.network from ${from} where ${from}.id = ${table}.${plain(step.by)}`;
    return [`update ${table} set network = (${network}) where network is null`];
  }
  if ("rekey" in step) {
    const table = plain(step.rekey);
    return [
      `alter table ${table} drop constraint ${table}_pkey cascade`,
      `alter table ${table} add primary key ${list(step.primaryKey)}`,
    ];
  }
  if ("require" in step) return [`alter table ${plain(step.in)} alter column ${plain(step.require)} set not null`];
  if ("refer" in step) return [`alter table ${plain(step.refer)} add ${renderForeignKey(step)}`];
  return step[driver].flatMap((each) => renderStep(driver, each, context));
}

/** Identifies a migration's content, the same on both drivers; an edited migration is found by it. */
export function checksumOf(migration: Migration): string {
  return createHash("sha256")
    .update(JSON.stringify([migration.number, migration.name, migration.steps]))
    .digest("hex");
}
