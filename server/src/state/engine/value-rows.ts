import { type RawBuilder, sql } from "kysely";

export type Cell = { readonly text: string | null } | { readonly int: bigint | null };

/** One row of values with their types, which PostgreSQL cannot guess in a VALUES list of an UPDATE. */
export function cells(...row: readonly Cell[]): RawBuilder<unknown> {
  const values = row.map((cell) =>
    "text" in cell ? sql`cast(${cell.text} as text)` : sql`cast(${cell.int} as bigint)`,
  );
  return sql`(${sql.join(values)})`;
}

/** The rows as a table `v`, whose columns are column1, column2 and so on with both drivers. */
export function valueRows(rows: readonly RawBuilder<unknown>[]): RawBuilder<unknown> {
  return sql`(values ${sql.join(rows)}) as v`;
}
