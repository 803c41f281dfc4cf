import type { Network } from "@sluice/contract/tiers";
import { CompiledQuery } from "kysely";
import type { BundleContentRow, BundleOutcomeRow, BundleRow } from "../engine-tables.ts";
import type { StateDriver } from "../records.ts";
import type { Db } from "../tables.ts";
import type { BundleStateRow } from "./bundle-rows.ts";

/** Column types as PostgreSQL names them; SQLite needs none. */
export type CellType = "text" | "bigint" | "bytea";
export type Cell = string | bigint | Uint8Array | null;

/** Rows that one statement of SQLite takes at most; a power of two. */
const rowsMax = 64;

/** The rows as a table whose columns are column1, column2 and so on. */
type RowSource = string;

/**
 * A statement over many rows of values, written out once and kept prepared, in place of a tree of nodes for each value:
 * a bundle's whole way through SQLite takes 190 µs of CPU in groups of 30 where it took 415 through the query builder
 * (`accept` to `markReported`, shared cores), through PostgreSQL 96 where it took 223. Most of what is left is SQLite's
 * writing.
 *
 * PostgreSQL takes all rows as one array for each column, so that there is one text and one round trip. SQLite has no
 * arrays; it takes rows in runs of powers of two, so that there are few texts.
 */
export class RowStatement<Row> {
  readonly #driver: StateDriver;
  readonly #types: readonly CellType[];
  readonly #write: (source: RowSource) => string;
  readonly #compiled = new Map<number, CompiledQuery<Row>>();

  /** `write` gives the statement around the rows, which are a `select` or a `values` list. */
  constructor(driver: StateDriver, types: readonly CellType[], write: (source: RowSource) => string) {
    this.#driver = driver;
    this.#types = types;
    this.#write = write;
  }

  /** What the statement returns, for all rows together. The statement has to be one that may run in parts. */
  async execute(db: Db, rows: readonly (readonly Cell[])[]): Promise<Row[]> {
    if (rows.length === 0) return [];
    if (this.#driver === "postgres") {
      const arrays = this.#types.map((_, column) => rows.map((row) => row[column] ?? null));
      return (await db.executeQuery<Row>({ ...this.#of(0), parameters: arrays })).rows;
    }
    const found: Row[] = [];
    for (let at = 0; at < rows.length; ) {
      const count = runOf(rows.length - at);
      const part = await db.executeQuery<Row>({ ...this.#of(count), parameters: rows.slice(at, at + count).flat() });
      found.push(...part.rows);
      at += count;
    }
    return found;
  }

  /** The statement for so many rows with SQLite, for any number with PostgreSQL. */
  #of(count: number): CompiledQuery<Row> {
    const known = this.#compiled.get(count);
    if (known !== undefined) return known;
    const source = this.#driver === "postgres" ? arraySource(this.#types) : listSource(this.#types, count);
    const compiled: CompiledQuery<Row> = CompiledQuery.raw(this.#write(source));
    this.#compiled.set(count, compiled);
    return compiled;
  }
}

/** The largest power of two that is not more than are left. */
function runOf(left: number): number {
  return Math.min(rowsMax, 2 ** (31 - Math.clz32(left)));
}

function listSource(types: readonly CellType[], count: number): RowSource {
  const row = `(${types.map(() => "?").join(",")})`;
  return `values ${Array.from({ length: count }, () => row).join(",")}`;
}

function arraySource(types: readonly CellType[]): RowSource {
  const arrays = types.map((type, index) => `$${index + 1}::${type}[]`);
  const names = types.map((_, index) => `column${index + 1}`);
  return `select * from unnest(${arrays.join(", ")}) as rows(${names.join(", ")})`;
}

type Columns<Row> = Readonly<Record<keyof Row & string, CellType>>;

/** The columns that every step writes. */
const stateColumns: Columns<Omit<BundleStateRow, "ended_at">> = {
  state: "text",
  reason: "text",
  detail: "text",
  landed_slot: "bigint",
  landed_blockhash: "text",
  landed_index: "bigint",
  forwarded_times: "bigint",
  forwarded_slot: "bigint",
  forwarded_leader: "text",
  tip_seen: "bigint",
  compute_units: "bigint",
  changed_at: "bigint",
};
const bundleColumns: Columns<BundleRow> = {
  id: "text",
  searcher_id: "text",
  door: "text",
  signatures: "text",
  tip: "bigint",
  mev_type: "text",
  target_slot: "bigint",
  received_at: "bigint",
  accepted_slot: "bigint",
  last_valid_block_height: "bigint",
  expires_at: "bigint",
  ...stateColumns,
  ended_at: "bigint",
  followers: "text",
  network: "text",
  chain: "text",
};
const contentColumns: Columns<BundleContentRow> = {
  bundle_id: "text",
  transactions: "bytea",
  sealed: "bytea",
  network: "text",
};
const outcomeColumns: Columns<BundleOutcomeRow> = { bundle_id: "text", ended_at: "bigint", network: "text" };

/** Of which bundle, in which state, and what becomes of it. */
export type StepRow = BundleStateRow & { readonly id: string; readonly from: string };
/**
 * A step that nothing is the end of leaves the index of ends alone, which SQLite would write anew for the same value.
 */
type GoingRow = Omit<StepRow, "ended_at">;
export type ForwardedRow = Pick<BundleRow, "id" | "forwarded_times" | "forwarded_slot" | "forwarded_leader">;

const goingColumns: Columns<GoingRow> = {
  id: "text",
  from: "text",
  ...stateColumns,
};
const endColumns: Columns<StepRow> = { ...goingColumns, ended_at: "bigint" };
const forwardedColumns: Columns<ForwardedRow> = {
  id: "text",
  forwarded_times: "bigint",
  forwarded_slot: "bigint",
  forwarded_leader: "text",
};

interface WithId {
  readonly id: string;
}

/** The cells of a row in the order of its columns. */
function cellsOf<Row extends Readonly<Record<Name, Cell>>, Name extends string>(
  columns: Readonly<Record<Name, CellType>>,
): (row: Row) => readonly Cell[] {
  const names = Object.keys(columns) as Name[];
  return (row) => names.map((name) => row[name]);
}

const typesOf = (columns: Readonly<Record<string, CellType>>): CellType[] => Object.values(columns);
const namesOf = (columns: Readonly<Record<string, CellType>>): string => Object.keys(columns).join(", ");
/** `set` of an update from rows as `v`, for the columns from the one of this index on. */
const assignments = (columns: Readonly<Record<string, CellType>>, from: number): string =>
  Object.keys(columns)
    .slice(from)
    .map((name, index) => `${name} = v.column${from + index + 1}`)
    .join(", ");

/** The cells of each kind of row. */
export const bundleCells = {
  bundle: cellsOf<BundleRow, keyof BundleRow>(bundleColumns),
  content: cellsOf<BundleContentRow, keyof BundleContentRow>(contentColumns),
  outcome: cellsOf<BundleOutcomeRow, keyof BundleOutcomeRow>(outcomeColumns),
  going: cellsOf<GoingRow, keyof GoingRow>(goingColumns),
  end: cellsOf<StepRow, keyof StepRow>(endColumns),
  forwarded: cellsOf<ForwardedRow, keyof ForwardedRow>(forwardedColumns),
};

/** What is written of many bundles of one network at a time, in the words of one driver. */
export class BundleStatements {
  /** Returns the ids of those that were not there. */
  readonly accept: RowStatement<WithId>;
  readonly insertContents: RowStatement<never>;
  /**
   * Steps that end nothing, and steps that end their bundle. Both return the ids of those that started from that state.
   */
  readonly go: RowStatement<WithId>;
  readonly end: RowStatement<WithId>;
  readonly insertOutcomes: RowStatement<never>;
  /** By the bundles' ids. */
  readonly deleteContents: RowStatement<never>;
  readonly deleteOutcomes: RowStatement<never>;
  readonly noteForwarded: RowStatement<never>;

  constructor(driver: StateDriver, network: Network) {
    const insert = <Row>(table: string, columns: Readonly<Record<string, CellType>>, rest = ""): RowStatement<Row> =>
      new RowStatement(
        driver,
        typesOf(columns),
        (rows) => `insert into ${table} (${namesOf(columns)}) ${rows}${rest === "" ? "" : ` ${rest}`}`,
      );
    const deleteFrom = (table: string): RowStatement<never> =>
      new RowStatement(
        driver,
        ["text"],
        (rows) => `delete from ${table}
        where bundle_id in (${rows}) and (network = '${network}' or network is null)`,
      );
    // Of whatever key: until what contracts is applied (docs/decisions/0049), an id is in one network alone.
    this.accept = insert("bundles", bundleColumns, "on conflict do nothing returning id");
    this.insertContents = insert("bundle_contents", contentColumns);
    this.insertOutcomes = insert("bundle_outcomes", outcomeColumns);
    this.deleteContents = deleteFrom("bundle_contents");
    this.deleteOutcomes = deleteFrom("bundle_outcomes");
    const step = (columns: Readonly<Record<string, CellType>>): RowStatement<WithId> =>
      new RowStatement(
        driver,
        typesOf(columns),
        (rows) => `update bundles set ${assignments(columns, 2)} from (${rows}) as v
          where id = v.column1 and state = v.column2 and ended_at is null and network = '${network}' returning id`,
      );
    this.go = step(goingColumns);
    this.end = step(endColumns);
    this.noteForwarded = new RowStatement(
      driver,
      typesOf(forwardedColumns),
      (rows) => `update bundles set ${assignments(forwardedColumns, 1)} from (${rows}) as v
        where id = v.column1 and ended_at is null and network = '${network}'`,
    );
  }
}
