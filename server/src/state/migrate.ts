import type { Network } from "@sluice/contract/tiers";
import type { Clock } from "@sluice/lib";
import { sql } from "kysely";
import { StateError } from "./errors.ts";
import type { MigrationStatus, StateDriver } from "./records.ts";
import { checksumOf, type Migration, renderStep } from "./schema.ts";
import type { Db, MigrationRow, Tx } from "./tables.ts";

interface Target {
  readonly db: Db;
  readonly driver: StateDriver;
}

/**
 * Applies the missing migrations in one transaction: all or none. On PostgreSQL an advisory lock of the schema makes
 * replicas that start together take turns; the second finds nothing left to do. Throws StateError SCHEMA_NEWER or
 * SCHEMA_CHANGED, having changed nothing. Gives the numbers that it applied. `network` is what rows of versions that
 * stored none speak of.
 */
export async function applyMigrations(
  target: Target,
  migrations: readonly Migration[],
  { clock, network = "mainnet" }: { readonly clock: Clock; readonly network?: Network },
): Promise<readonly number[]> {
  return target.db.transaction().execute(async (tx) => {
    if (target.driver === "postgres") await takeTurn(tx);
    const int = sql.raw(target.driver === "sqlite" ? "integer" : "bigint");
    await sql`create table if not exists sluice_migrations
      (number ${int} not null primary key, name text not null, checksum text not null, applied_at ${int} not null)`.execute(
      tx,
    );
    const applied = await readApplied(tx);
    refuseUnknown(applied, migrations);
    const pending = migrations.filter((migration) => !applied.has(migration.number));
    for (const migration of pending) {
      for (const statement of migration.steps.flatMap((step) => renderStep(target.driver, step, { network }))) {
        await sql.raw(statement).execute(tx);
      }
      const row = {
        number: BigInt(migration.number),
        name: migration.name,
        checksum: checksumOf(migration),
        applied_at: BigInt(clock.now()),
      };
      await tx.insertInto("sluice_migrations").values(row).execute();
    }
    return pending.map((migration) => migration.number);
  });
}

/** The applied and the pending migrations, in order. Changes nothing; throws as `applyMigrations` does. */
export async function readMigrationStatus(
  target: Target,
  migrations: readonly Migration[],
): Promise<readonly MigrationStatus[]> {
  const applied = (await hasMigrationTable(target)) ? await readApplied(target.db) : new Map<number, MigrationRow>();
  refuseUnknown(applied, migrations);
  return migrations.map(({ number, name }) => {
    const row = applied.get(number);
    return { number, name, appliedAt: row === undefined ? null : Number(row.applied_at) };
  });
}

/** Waits up to a minute for another replica's migration; the limits hold for this transaction only. */
async function takeTurn(tx: Tx): Promise<void> {
  await sql`select set_config('lock_timeout', '60s', true), set_config('statement_timeout', '10min', true)`.execute(tx);
  await sql`select pg_advisory_xact_lock(hashtextextended('sluice state ' || current_schema(), 0))`.execute(tx);
}

async function hasMigrationTable(target: Target): Promise<boolean> {
  const query =
    target.driver === "sqlite"
      ? sql<{ found: bigint }>`select count(*) as found from sqlite_schema where name = 'sluice_migrations'`
      : sql<{ found: bigint }>`select count(to_regclass('sluice_migrations')) as found`;
  const { rows } = await query.execute(target.db);
  return rows[0]?.found === 1n;
}

async function readApplied(db: Db): Promise<Map<number, MigrationRow>> {
  const rows = await db.selectFrom("sluice_migrations").selectAll().orderBy("number").execute();
  return new Map(rows.map((row) => [Number(row.number), row]));
}

function refuseUnknown(applied: ReadonlyMap<number, MigrationRow>, migrations: readonly Migration[]): void {
  const known = new Map(migrations.map((migration) => [migration.number, migration]));
  const newest = Math.max(0, ...known.keys());
  for (const [number, row] of applied) {
    const migration = known.get(number);
    if (migration === undefined) {
      const message = `The state database has migration ${number} (${row.name}); this version knows them up to ${newest}. Run the version that wrote it, or a newer one.`;
      throw new StateError("SCHEMA_NEWER", message);
    }
    if (checksumOf(migration) !== row.checksum) {
      const message = `Migration ${number} (${row.name}) of the state database is not the one of this version.`;
      throw new StateError("SCHEMA_CHANGED", message);
    }
  }
}
