import { createHash } from "node:crypto";
import type { Network } from "@sluice/contract/tiers";
import type { Clock, Random } from "@sluice/lib";
import type { StoreSchema } from "../observe/index.ts";
import { assetTables } from "./asset-tables.ts";
import { bundleChainColumns, bundleOutcomesTable } from "./bundle-tables.ts";
import { chainRecordTables, chainTables } from "./chain-tables.ts";
import type { LedgerConnection } from "./connection.ts";
import { bookkeepingStatements, type Change, type Form, otherTables, statementsOf, statementsOfAll } from "./ddl.ts";
import type { LedgerLog } from "./endpoint.ts";
import { LedgerOpenError } from "./errors.ts";
import { oracleCopies, oracleKeyedTables, oracleTables } from "./oracle-tables.ts";
import { firstParsedTable, parsedFactColumns, parsedTable, reparsesTable } from "./parsed-tables.ts";
import { countedEpochsColumns, poolSamplesTable, poolTables } from "./pool-tables.ts";
import { firstRequestsTable, publicCodeColumn, requestIdIndex, requestsTable } from "./tables.ts";
import { webhookAttemptsTable } from "./webhook-tables.ts";

/** One numbered change of the schema; it never changes once released. */
export interface LedgerMigration {
  readonly number: number;
  readonly name: string;
  readonly changes: readonly Change[];
}

/** The tables of blocks as they were first. */
const firstChainTables = [...chainTables, ...chainRecordTables]
  .filter(({ name }) => name !== reparsesTable.name)
  .map((table) => (table.name === parsedTable.name ? firstParsedTable : table));

/** Append-only and numbered from 1 without gaps. An entry that has been released is never edited. */
export const migrations: readonly LedgerMigration[] = [
  { number: 1, name: "requests", changes: [{ kind: "create-table", table: firstRequestsTable }] },
  { number: 2, name: "prices", changes: oracleTables.map((table) => ({ kind: "create-table", table })) },
  { number: 3, name: "outcomes of bundles", changes: [{ kind: "create-table", table: bundleOutcomesTable }] },
  {
    number: 4,
    name: "requests by id",
    changes: [{ kind: "add-index", table: requestsTable.name, index: requestIdIndex }],
  },
  {
    number: 5,
    name: "prices and volumes by second and minute",
    changes: [...oracleKeyedTables.map((table) => ({ kind: "create-table", table }) as const), ...oracleCopies],
  },
  {
    number: 6,
    name: "the chain of outcomes of bundles",
    changes: [
      {
        kind: "extend-key",
        table: bundleOutcomesTable.name,
        columns: bundleChainColumns,
        key: bundleOutcomesTable.orderBy,
      },
    ],
  },
  {
    number: 7,
    name: "public codes of refusals",
    changes: [{ kind: "add-column", table: requestsTable.name, column: publicCodeColumn, after: "upstream" }],
  },
  {
    number: 8,
    name: "blocks and transactions",
    changes: firstChainTables.map((table) => ({ kind: "create-table", table })),
  },
  { number: 9, name: "attempts of webhooks", changes: [{ kind: "create-table", table: webhookAttemptsTable }] },
  {
    number: 10,
    name: "samples of stake pools",
    changes: poolTables.map((table) => ({ kind: "create-table", table })),
  },
  {
    number: 11,
    name: "facts of what transactions were",
    changes: [
      ...parsedFactColumns.map((column, at) => {
        const after = at === 0 ? "events" : (parsedFactColumns[at - 1]?.name ?? "events");
        return { kind: "add-column", table: parsedTable.name, column, after } as const;
      }),
      { kind: "create-table", table: reparsesTable },
    ],
  },
  { number: 12, name: "digital assets", changes: assetTables.map((table) => ({ kind: "create-table", table })) },
  {
    number: 13,
    name: "epochs that an update of a stake pool counted",
    changes: countedEpochsColumns.map((column, at) => {
      const after = at === 0 ? "epoch_ms" : (countedEpochsColumns[at - 1]?.name ?? "epoch_ms");
      return { kind: "add-column", table: poolSamplesTable.name, column, after } as const;
    }),
  },
];

/** A version refuses a ledger whose `migrations` has a number that it does not know. */
type RecordTable = "migrations" | "expansions";

/**
 * Every kind of change adds, so that the version before goes on beside it (docs/decisions/0049). Up to this number they
 * are recorded where versions refuse what they do not know.
 */
const lastOfOneRecord = 5;
const recordOf = ({ number }: LedgerMigration): RecordTable =>
  number <= lastOfOneRecord ? "migrations" : "expansions";

/** Of the definition, not of the generated text: both forms of a ledger record the same. */
function checksum(migration: LedgerMigration): string {
  return createHash("sha256").update(JSON.stringify(migration)).digest("hex");
}

interface AppliedRow {
  readonly number: number;
  readonly name: string;
  readonly checksum: string;
  readonly record: RecordTable;
}

/** All that is recorded, in order. */
const appliedMigrations =
  "SELECT number, name, checksum, toUnixTimestamp64Milli(applied_at) AS applied, record FROM (" +
  "SELECT number, name, checksum, applied_at, 'migrations' AS record FROM migrations FINAL UNION ALL " +
  "SELECT number, name, checksum, applied_at, 'expansions' AS record FROM expansions FINAL) ORDER BY number";

/** The migrations that were applied, in order, with the time of each in Unix milliseconds. */
export async function readMigrations(connection: Pick<LedgerConnection, "query">) {
  const rows = await connection.query<AppliedRow & { readonly applied: string }>(appliedMigrations);
  return rows.map(({ number, name, applied }) => ({ number: Number(number), name, appliedAt: Number(applied) }));
}

/** The migrations that were applied, beside those that this version knows. */
export async function readSchema(connection: Pick<LedgerConnection, "query">): Promise<StoreSchema> {
  const applied = new Set((await readMigrations(connection)).map(({ number }) => number));
  return {
    known: Math.max(0, ...migrations.map(({ number }) => number)),
    stored: Math.max(0, ...applied),
    missing: migrations.filter(({ number }) => !applied.has(number)).length,
  };
}

function refuseUnknown(applied: readonly AppliedRow[], known: readonly LedgerMigration[]): void {
  const newest = Math.max(0, ...known.map((migration) => migration.number));
  for (const row of applied) {
    if (row.number > newest && row.record === "migrations") {
      throw new LedgerOpenError(
        `The ledger was written by a newer version: it has migration ${row.number} (${row.name}), this version knows ` +
          `up to ${newest}. Start that version, or choose another data directory.`,
      );
    }
    const migration = known.find((one) => one.number === row.number);
    if (migration !== undefined && checksum(migration) !== row.checksum) {
      throw new LedgerOpenError(`Migration ${row.number} (${row.name}) of the ledger differs from what was applied.`);
    }
  }
}

export interface LedgerMigrateDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: LedgerLog;
  /** The network that rows without one speak of. */
  readonly network: Network;
}

/** Gives a ledger its id, once, by which processes know that they use the same one. */
async function identify(
  connection: LedgerConnection,
  { clock, random, network }: LedgerMigrateDependencies,
): Promise<void> {
  if ((await ledgerId(connection)) !== null) return;
  const id = Buffer.from(random.bytes(16)).toString("hex");
  const row = { id, network, made_at: clock.now() };
  await connection.insertRows("identity", { kind: "rows", rows: [row] }, `identity-${id}`);
}

/** The id that the ledger holds: the first, where two installations gave it one at once. Null before it has one. */
export async function ledgerId(connection: Pick<LedgerConnection, "query">): Promise<string | null> {
  const [row] = await connection.query<{ id: string }>("SELECT id FROM identity ORDER BY made_at, id LIMIT 1");
  return row?.id ?? null;
}

/** Records migrations as applied now. */
async function record(
  connection: LedgerConnection,
  applied: readonly LedgerMigration[],
  { clock, log }: LedgerMigrateDependencies,
): Promise<void> {
  const appliedAt = clock.now();
  for (const table of ["migrations", "expansions"] as const) {
    const ofTable = applied.filter((migration) => recordOf(migration) === table);
    if (ofTable.length === 0) continue;
    const rows = ofTable.map((migration) => {
      const { number, name } = migration;
      return { number, name, checksum: checksum(migration), applied_at: appliedAt };
    });
    await connection.insertRows(table, { kind: "rows", rows }, `migration-${ofTable.map(({ number }) => number)}`);
  }
  for (const { number, name } of applied) log.info({ number, name }, "ledger migration applied");
}

/**
 * Brings a ledger up to date. Each statement may be repeated and a migration is recorded after its last one, so that a
 * process killed half-way, or several starting together, do no harm. One server without tables gets them in their last
 * form, which takes half as long: 29 statements in place of 49, and 0.6 s of the embedded engine's CPU in place of 1.2.
 * Throws LedgerOpenError when the ledger is newer than this version or an applied migration was changed.
 */
export async function migrate(
  connection: LedgerConnection,
  form: Form,
  dependencies: LedgerMigrateDependencies,
  known: readonly LedgerMigration[] = migrations,
): Promise<void> {
  const [createDatabase, ...rest] = bookkeepingStatements(form);
  if (createDatabase !== undefined) await connection.command(createDatabase, { database: "default" });
  for (const statement of rest) await connection.command(statement);
  await identify(connection, dependencies);
  const applied = await connection.query<AppliedRow>(appliedMigrations);
  refuseUnknown(applied, known);
  const { database, cluster } = form;
  if (cluster === null && applied.length === 0 && (await hasNoTables(connection))) {
    const changes = known.flatMap((migration) => migration.changes);
    for (const statement of statementsOfAll(changes, { database, cluster })) await connection.command(statement);
    await record(connection, known, dependencies);
    return;
  }
  const done = new Set(applied.map((row) => row.number));
  for (const migration of known) {
    if (done.has(migration.number)) continue;
    for (const change of migration.changes) {
      for (const statement of statementsOf(change, form)) await connection.command(statement);
    }
    await record(connection, [migration], dependencies);
  }
}

/** Not even those of a process that died before it recorded a migration, which may be of an earlier form. */
async function hasNoTables(connection: LedgerConnection): Promise<boolean> {
  const [row] = await connection.query<{ tables: string }>(otherTables);
  return Number(row?.tables) === 0;
}
