import type { Network } from "@sluice/contract/tiers";
import type { Clock } from "@sluice/lib";
import { sql } from "kysely";
import type { StoreSchema } from "../observe/index.ts";
import { StateError } from "./errors.ts";
import type { MigrationStatus, StateDriver } from "./records.ts";
import { checksumOf, expands, type Migration, renderStep } from "./schema.ts";
import type { Db, MigrationRow, Tx } from "./tables.ts";

interface Target {
  readonly db: Db;
  readonly driver: StateDriver;
}

/**
 * Two records of what was applied. A version refuses a database whose `sluice_migrations` has a number that it does not
 * know. What only adds is recorded in `sluice_expansions`, where a version looks for its own numbers alone: the release
 * before goes on, and starts, on what this one has added.
 */
type RecordTable = "sluice_migrations" | "sluice_expansions";

/** The last one of the time before there were two records. */
const lastOfOneRecord = 16;

/** Whether versions before a migration cannot go on after it, so that it waits until none runs. */
const contracts = (migration: Migration): boolean => migration.number > lastOfOneRecord && !expands(migration);

const recordOf = (migration: Migration): RecordTable =>
  migration.number <= lastOfOneRecord || contracts(migration) ? "sluice_migrations" : "sluice_expansions";

export interface MigrateDependencies {
  readonly clock: Clock;
  /** What rows of versions that stored no network speak of; mainnet unless given. */
  readonly network?: Network;
  /** Whether also what contracts is applied; unless given it waits in a shared database that has rows of a version. */
  readonly contracting?: boolean;
  /** First in the transaction; what it throws leaves the database as it is. */
  readonly check?: (tx: Tx) => Promise<void>;
}

/**
 * Applies the missing migrations in one transaction: all or none. On PostgreSQL an advisory lock of the schema makes
 * replicas that start together take turns; the second finds nothing left to do. Throws StateError SCHEMA_NEWER or
 * SCHEMA_CHANGED, having changed nothing. Gives the numbers that it applied.
 */
export async function applyMigrations(
  target: Target,
  migrations: readonly Migration[],
  { clock, network = "mainnet", contracting = false, check }: MigrateDependencies,
): Promise<readonly number[]> {
  return target.db.transaction().execute(async (tx) => {
    if (target.driver === "postgres") await takeTurn(tx);
    await check?.(tx);
    return await applyMigrationsWithin(tx, target, { clock, network, migrations, contracting });
  });
}

/** The same within a transaction of the caller's, who has taken the turn. */
export async function applyMigrationsWithin(
  tx: Tx,
  { driver }: Pick<Target, "driver">,
  terms: Pick<MigrateDependencies, "clock" | "network" | "contracting"> & { readonly migrations: readonly Migration[] },
): Promise<readonly number[]> {
  const { clock, network = "mainnet", contracting = false, migrations } = terms;
  const int = sql.raw(driver === "sqlite" ? "integer" : "bigint");
  for (const table of ["sluice_migrations", "sluice_expansions"] as const) {
    await sql`create table if not exists ${sql.table(table)}
      (number ${int} not null primary key, name text not null, checksum text not null, applied_at ${int} not null)`.execute(
      tx,
    );
  }
  const applied = await readApplied(driver, tx);
  refuseUnknown(applied, migrations);
  const isAlone = driver === "sqlite" || applied.size === 0;
  const pending = migrations.filter(
    (migration) => !applied.has(migration.number) && (isAlone || contracting || !contracts(migration)),
  );
  for (const migration of pending) {
    for (const statement of migration.steps.flatMap((step) => renderStep(driver, step, { network }))) {
      await sql.raw(statement).execute(tx);
    }
    const row = {
      number: BigInt(migration.number),
      name: migration.name,
      checksum: checksumOf(migration),
      applied_at: BigInt(clock.now()),
    };
    await tx.insertInto(recordOf(migration)).values(row).execute();
  }
  return pending.map((migration) => migration.number);
}

/** The applied and the pending migrations, in order. Changes nothing; throws as `applyMigrations` does. */
export async function readMigrationStatus(
  target: Target,
  migrations: readonly Migration[],
): Promise<readonly MigrationStatus[]> {
  const applied = await readApplied(target.driver, target.db);
  refuseUnknown(applied, migrations);
  return migrations.map((migration) => {
    const row = applied.get(migration.number);
    const { number, name } = migration;
    const appliedAt = row === undefined ? null : Number(row.applied_at);
    return { number, name, appliedAt, contracts: contracts(migration) };
  });
}

/** What a version that knows these migrations says of the database. */
export async function readSchema(target: Target, migrations: readonly Migration[]): Promise<StoreSchema> {
  const applied = await readApplied(target.driver, target.db);
  return {
    known: Math.max(0, ...migrations.map(({ number }) => number)),
    stored: Math.max(0, ...applied.keys()),
    missing: migrations.filter(({ number }) => !applied.has(number)).length,
  };
}

/** Waits up to a minute for another replica's migration; the limits hold for this transaction only. */
async function takeTurn(tx: Tx): Promise<void> {
  await sql`select set_config('lock_timeout', '60s', true), set_config('statement_timeout', '10min', true)`.execute(tx);
  await sql`select pg_advisory_xact_lock(hashtextextended('sluice state ' || current_schema(), 0))`.execute(tx);
}

async function hasTable(driver: StateDriver, db: Db, table: RecordTable): Promise<boolean> {
  const query =
    driver === "sqlite"
      ? sql<{ found: bigint }>`select count(*) as found from sqlite_schema where name = ${table}`
      : sql<{ found: bigint }>`select count(to_regclass(${table})) as found`;
  const { rows } = await query.execute(db);
  return rows[0]?.found === 1n;
}

interface AppliedRow extends MigrationRow {
  readonly record: RecordTable;
}

/** What was applied of either record, by number. */
export async function readApplied(driver: StateDriver, db: Db): Promise<ReadonlyMap<number, AppliedRow>> {
  const applied = new Map<number, AppliedRow>();
  for (const record of ["sluice_migrations", "sluice_expansions"] as const) {
    if (!(await hasTable(driver, db, record))) continue;
    const rows = await db.selectFrom(record).selectAll().orderBy("number").execute();
    for (const row of rows) applied.set(Number(row.number), { ...row, record });
  }
  return applied;
}

function refuseUnknown(applied: ReadonlyMap<number, AppliedRow>, migrations: readonly Migration[]): void {
  const known = new Map(migrations.map((migration) => [migration.number, migration]));
  const newest = Math.max(0, ...known.keys());
  for (const [number, row] of applied) {
    const migration = known.get(number);
    if (migration === undefined && row.record === "sluice_expansions") continue;
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
