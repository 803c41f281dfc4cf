import { CompiledQuery } from "kysely";
import type { StateDriver } from "./records.ts";
import type { Db } from "./tables.ts";

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
    const found: Row[] = [];
    for (const part of this.#parts(rows)) found.push(...(await db.executeQuery<Row>(part)).rows);
    return found;
  }

  /** As `execute`, of a statement that returns nothing: how many rows it changed. */
  async change(db: Db, rows: readonly (readonly Cell[])[]): Promise<number> {
    let changed = 0n;
    for (const part of this.#parts(rows)) changed += (await db.executeQuery(part)).numAffectedRows ?? 0n;
    return Number(changed);
  }

  *#parts(rows: readonly (readonly Cell[])[]): Generator<CompiledQuery<Row>> {
    if (rows.length === 0) return;
    if (this.#driver === "postgres") {
      const arrays = this.#types.map((_, column) => rows.map((row) => row[column] ?? null));
      yield { ...this.#of(0), parameters: arrays };
      return;
    }
    for (let at = 0; at < rows.length; ) {
      const count = runOf(rows.length - at);
      yield { ...this.#of(count), parameters: rows.slice(at, at + count).flat() };
      at += count;
    }
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

/** The cells of a row in the order of its columns. */
export function cellsOf<Row extends Readonly<Record<Name, Cell>>, Name extends string>(
  columns: Readonly<Record<Name, CellType>>,
): (row: Row) => readonly Cell[] {
  const names = Object.keys(columns) as Name[];
  return (row) => names.map((name) => row[name]);
}

/** The types of columns in their order. */
export const typesOf = (columns: Readonly<Record<string, CellType>>): CellType[] => Object.values(columns);
/** The names of columns in their order, for a statement. */
export const namesOf = (columns: Readonly<Record<string, CellType>>): string => Object.keys(columns).join(", ");
