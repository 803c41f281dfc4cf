/** A database on PostgreSQL as an earlier release left it, and a process of it that is still registered there. */
import { systemClock } from "@sluice/lib";
import { sql } from "kysely";
import { applyMigrations } from "../migrate.ts";
import { migrations } from "../migrations.ts";
import { openPostgres } from "../postgres.ts";

/** Far in the future, in Unix milliseconds: until somebody says that the process has ended. */
const neverMs = 4_102_444_800_000;
const log = { info: () => undefined, warn: () => undefined };

/** Applies the migrations up to `last` to the schema of a database's address. */
export async function migrateUpTo(databaseUrl: string, last: number): Promise<void> {
  await using opened = openPostgres(databaseUrl, { clock: systemClock, log });
  const known = migrations.filter(({ number }) => number <= last);
  await applyMigrations({ ...opened, driver: "postgres" }, known, { clock: systemClock });
}

/** Registers a process that knows migrations up to `schema`; it is gone when it is disposed of. */
export async function earlierProcess(databaseUrl: string, schema: number): Promise<AsyncDisposable> {
  await using opened = openPostgres(databaseUrl, { clock: systemClock, log });
  await sql`insert into processes
    (id, roles, version, meters, shares_ledger, shares_hot, started_at, beats, expires_at, schema)
    values ('earlier', 'gateway', '0.0.9', 1, 1, 1, 1, 0, ${neverMs}, ${schema})`.execute(opened.db);
  return {
    [Symbol.asyncDispose]: async () => {
      await using again = openPostgres(databaseUrl, { clock: systemClock, log });
      await sql`delete from processes where id = 'earlier'`.execute(again.db);
    },
  };
}
