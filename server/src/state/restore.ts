import type { Network } from "@sluice/contract/tiers";
import type { Clock } from "@sluice/lib";
import { sql } from "kysely";
import { StateError } from "./errors.ts";
import { applyMigrationsWithin } from "./migrate.ts";
import { migrations } from "./migrations.ts";
import { openPostgres } from "./postgres.ts";
import type { StateDriver, StateLog } from "./records.ts";
import { type CopiedRow, readRowLine } from "./row-text.ts";
import { copiedTables, tableKeys } from "./snapshot.ts";
import { openSqlite } from "./sqlite.ts";
import type { Tx } from "./tables.ts";

export interface RestoreOptions {
  /** A directory without a database, used without `databaseUrl`. */
  readonly directory: string;
  readonly databaseUrl: string | null;
  /** What rows without a network, of an earlier schema, speak of. */
  readonly network: Network;
  /** The migrations of the copy, by number. */
  readonly schema: readonly number[];
  /** Whether what PostgreSQL holds may be replaced. */
  readonly replace: boolean;
  /** Names this restore in the audit trail; letters, digits and `_`. */
  readonly id: string;
}

/** The first migration of a copy that this version does not know; null where it knows all. */
export const unknownMigration = (schema: readonly number[]): number | null =>
  schema.find((number) => !migrations.some((migration) => migration.number === number)) ?? null;

/**
 * Epochs and the revision of keys begin this far above every one that was seen, so that no holder and no cache of
 * before the restore is taken for one of after it: far more than there are between a backup and its restore.
 */
const raisedBy = 1n << 20n;
const insertedRows = 200;

/**
 * Fills a new SQLite database, or a PostgreSQL database in one transaction, from the lines of a snapshot. Leases come
 * without a holder and in a later epoch. Throws StateError: LOCKED while processes run on the database, NOT_EMPTY where
 * it holds something and may not be replaced, SCHEMA_NEWER, CORRUPT.
 */
export async function restoreState(
  options: RestoreOptions,
  lines: AsyncIterable<string>,
  dependencies: { readonly clock: Clock; readonly log: StateLog },
): Promise<void> {
  const unknown = unknownMigration(options.schema);
  if (unknown !== null) {
    const message = `The copy has migration ${unknown} of the state database, which this version does not know.`;
    throw new StateError("SCHEMA_NEWER", message);
  }
  if (options.databaseUrl === null) {
    await using opened = await openSqlite(options.directory);
    await opened.db.transaction().execute((tx) => fill(tx, { ...options, driver: "sqlite" }, lines, dependencies));
    return;
  }
  await using opened = openPostgres(options.databaseUrl, dependencies);
  await opened.db.transaction().execute(async (tx) => {
    await sql`select set_config('statement_timeout', '30min', true), set_config('lock_timeout', '60s', true)`.execute(
      tx,
    );
    await fill(tx, { ...options, driver: "postgres" }, lines, dependencies);
  });
}

/** What some version has made in PostgreSQL. */
const everyTable: readonly string[] = [
  "sluice_migrations",
  "sluice_expansions",
  ...new Set(migrations.flatMap(({ number }) => [...tableKeys("postgres", upTo(number)).keys()])),
];

function upTo(last: number): ReadonlySet<number> {
  return new Set(migrations.map(({ number }) => number).filter((number) => number <= last));
}

interface Seen {
  readonly epochs: ReadonlyMap<string, bigint>;
  readonly revision: bigint;
}

async function fill(
  tx: Tx,
  options: RestoreOptions & { readonly driver: StateDriver },
  lines: AsyncIterable<string>,
  { clock }: { readonly clock: Clock },
): Promise<void> {
  const { driver, network, schema, id } = options;
  const before = driver === "postgres" ? await clear(tx, options) : { epochs: new Map(), revision: 0n };
  const target = { driver };
  const applied = new Set(schema);
  const own = migrations.filter(({ number }) => applied.has(number));
  await applyMigrationsWithin(tx, target, { clock, network, migrations: own });
  await insertLines(tx, lines, copiedTables(driver, applied));
  // Nobody else is on the database, so nothing of another version has to be waited for.
  await applyMigrationsWithin(tx, target, { clock, network, migrations, contracting: true });
  await raise(tx, before);
  const at = BigInt(clock.now());
  const detail = JSON.stringify({ schema });
  const entry = { id: `audit_${id}`, at, actor: "operator", action: "state.restore", subject: id, detail };
  await tx.insertInto("audit").values(entry).execute();
}

/** Makes PostgreSQL empty of what this version, or an earlier one, has made there. */
async function clear(tx: Tx, { replace }: RestoreOptions): Promise<Seen> {
  await sql`select pg_advisory_xact_lock(hashtextextended('sluice state ' || current_schema(), 0))`.execute(tx);
  const present = await presentTables(tx);
  if (present.size > 0 && !replace) {
    throw new StateError("NOT_EMPTY", "The database of DATABASE_URL holds a state already; --replace replaces it.");
  }
  if (present.has("processes")) await requireNoProcess(tx);
  const seen = { epochs: await epochsOf(tx, present), revision: await revisionOf(tx, present) };
  for (const table of everyTable) {
    await sql`drop table if exists ${sql.table(table)} cascade`.execute(tx);
  }
  await sql`drop function if exists audit_append_only() cascade`.execute(tx);
  return seen;
}

async function presentTables(tx: Tx): Promise<ReadonlySet<string>> {
  const { rows } = await sql<{ name: string }>`select table_name as name from information_schema.tables
    where table_schema = current_schema() and table_name in (${sql.join(everyTable)})`.execute(tx);
  return new Set(rows.map(({ name }) => name));
}

async function requireNoProcess(tx: Tx): Promise<void> {
  // A process that joins waits for this lock, and finds other tables then.
  await sql`lock table processes in share row exclusive mode`.execute(tx);
  const { rows } = await sql<{ roles: string }>`select roles from processes
    where expires_at > cast(extract(epoch from clock_timestamp()) * 1000 as bigint) limit 10`.execute(tx);
  if (rows.length === 0) return;
  const roles = rows.map((row) => row.roles).join("; ");
  throw new StateError(
    "LOCKED",
    `Processes run on the database of DATABASE_URL (roles ${roles}): stop all of them, and wait 6 seconds after a kill.`,
  );
}

async function epochsOf(tx: Tx, present: ReadonlySet<string>): Promise<Map<string, bigint>> {
  if (!present.has("leases")) return new Map();
  const rows = await tx.selectFrom("leases").select(["name", "epoch"]).execute();
  return new Map(rows.map(({ name, epoch }) => [name, epoch]));
}

async function revisionOf(tx: Tx, present: ReadonlySet<string>): Promise<bigint> {
  if (!present.has("revisions")) return 0n;
  const rows = await tx.selectFrom("revisions").select("revision").execute();
  const revisions = rows.map(({ revision }) => revision);
  return revisions.toSorted((one, other) => (one < other ? 1 : -1))[0] ?? 0n;
}

async function raise(tx: Tx, { epochs, revision }: Seen): Promise<void> {
  for (const lease of await tx.selectFrom("leases").selectAll().execute()) {
    const before = epochs.get(lease.name) ?? 0n;
    const epoch = (lease.epoch > before ? lease.epoch : before) + raisedBy;
    await tx.updateTable("leases").set({ epoch, beats: 0n, holder: "" }).where("name", "=", lease.name).execute();
  }
  const rows = await tx.selectFrom("leases").select("name").execute();
  const restored = new Set(rows.map(({ name }) => name));
  for (const [name, epoch] of epochs) {
    if (restored.has(name)) continue;
    await tx
      .insertInto("leases")
      .values({ name, epoch: epoch + raisedBy, beats: 0n, holder: "" })
      .execute();
  }
  // Its workers are gone, and none of them may write an outcome any more.
  await tx
    .updateTable("webhook_queues")
    .set(({ eb }) => ({ holder: "", epoch: eb("epoch", "+", raisedBy) }))
    .execute();
  for (const row of await tx.selectFrom("revisions").selectAll().execute()) {
    const raised = (row.revision > revision ? row.revision : revision) + raisedBy;
    await tx.updateTable("revisions").set({ revision: raised }).where("name", "=", row.name).execute();
  }
}

async function insertLines(tx: Tx, lines: AsyncIterable<string>, tables: readonly string[]): Promise<void> {
  let table = "";
  let rows: CopiedRow[] = [];
  const flush = async (): Promise<void> => {
    if (rows.length > 0) await insertRows(tx, table, rows);
    rows = [];
  };
  for await (const line of lines) {
    const next = readRowLine(line);
    if (!tables.includes(next.table)) {
      const message = `The copy of the state database has rows of a table that is not copied: ${next.table}.`;
      throw new StateError("CORRUPT", message);
    }
    if (next.table !== table || rows.length >= insertedRows) await flush();
    table = next.table;
    rows.push(next.row);
  }
  await flush();
}

async function insertRows(tx: Tx, table: string, rows: readonly CopiedRow[]): Promise<void> {
  const names = Object.keys(rows[0] ?? {});
  const columns = sql.join(names.map((name) => sql.ref(name)));
  const values = rows.map((row) => sql`(${sql.join(names.map((name) => sql`${row[name] ?? null}`))})`);
  await sql`insert into ${sql.table(table)} (${columns}) values ${sql.join(values)}`.execute(tx);
}
