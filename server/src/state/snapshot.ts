import { rmSync } from "node:fs";
import { type RawBuilder, sql } from "kysely";
import { readApplied } from "./migrate.ts";
import { migrations } from "./migrations.ts";
import type { StateDriver } from "./records.ts";
import { rowLine } from "./row-text.ts";
import type { MigrationStep } from "./schema.ts";
import type { StateSnapshot } from "./snapshot-record.ts";
import { openCopy } from "./sqlite.ts";
import type { Db } from "./tables.ts";

/**
 * Tables whose rows mean nothing after their moment: who is running and signed in, what is leased of credits by
 * processes that will not be there, what was changed of keys and webhooks since a revision, which workers deliver, and
 * the keys of encrypted bundles,
 * without which nothing that was sent before can be sent again (docs/decisions/0046).
 */
const leftOut: ReadonlySet<string> = new Set([
  "processes",
  "sessions",
  "lease_books",
  "key_changes",
  "encryption_keys",
  "webhook_changes",
  "webhook_workers",
]);

/** The tables that some migrations make, with their primary keys, each after those that it refers to. */
export function tableKeys(driver: StateDriver, applied: ReadonlySet<number>): ReadonlyMap<string, readonly string[]> {
  const tables = new Map<string, readonly string[]>();
  const follow = (steps: readonly MigrationStep[]): void => {
    for (const step of steps) {
      if ("sqlite" in step) follow(step[driver]);
      if ("create" in step) tables.set(step.create, step.primaryKey);
      if ("rekey" in step) tables.set(step.rekey, step.primaryKey);
      if ("rename" in step) tables.set(step.to, tables.get(step.rename) ?? []);
      if ("rename" in step) tables.delete(step.rename);
      if ("dropTable" in step) tables.delete(step.dropTable);
    }
  };
  follow(migrations.filter(({ number }) => applied.has(number)).flatMap(({ steps }) => steps));
  return tables;
}

/** Those of which a copy has rows. */
export const copiedTables = (driver: StateDriver, applied: ReadonlySet<number>): readonly string[] =>
  [...tableKeys(driver, applied).keys()].filter((table) => !leftOut.has(table));

const pageRows = 2_000;

/**
 * Calls `work` with the content of the database at one moment, while it goes on being used. SQLite copies itself to
 * `scratch` for it, during which nothing else runs (1 s for 100 MB, two busy cores); PostgreSQL reads in one
 * transaction that sees its beginning.
 */
export async function withSnapshot<T>(
  { db, driver }: { readonly db: Db; readonly driver: StateDriver },
  scratch: string,
  work: (snapshot: StateSnapshot) => Promise<T>,
): Promise<T> {
  if (driver === "postgres") {
    const transaction = db.transaction().setIsolationLevel("repeatable read").setAccessMode("read only");
    return await transaction.execute(async (tx) => work(await snapshotOf(tx, driver)));
  }
  rmSync(scratch, { force: true });
  try {
    await sql`vacuum into ${scratch}`.execute(db);
    await using copy = openCopy(scratch);
    return await work(await snapshotOf(copy.db, driver));
  } finally {
    rmSync(scratch, { force: true });
  }
}

async function snapshotOf(db: Db, driver: StateDriver): Promise<StateSnapshot> {
  const applied = new Set((await readApplied(driver, db)).keys());
  const keys = tableKeys(driver, applied);
  return {
    schema: [...applied].toSorted((one, other) => one - other),
    async *lines() {
      for (const table of copiedTables(driver, applied)) yield* linesOf(db, table, keys.get(table) ?? []);
    },
  };
}

async function* linesOf(db: Db, table: string, key: readonly string[]): AsyncGenerator<string> {
  const columns = sql.join(key.map((name) => sql.ref(name)));
  let condition: RawBuilder<unknown> = sql``;
  for (;;) {
    const page = await sql<
      Record<string, unknown>
    >`select * from ${sql.table(table)} ${condition} order by ${columns} limit ${pageRows}`.execute(db);
    for (const row of page.rows) yield rowLine(table, row);
    const last = page.rows.at(-1);
    if (last === undefined || page.rows.length < pageRows) return;
    condition = sql`where (${columns}) > (${sql.join(key.map((name) => sql`${last[name]}`))})`;
  }
}
