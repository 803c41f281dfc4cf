import { createHash } from "node:crypto";
import type { Clock } from "@sluice/lib";
import { bundleOutcomesTable } from "./bundle-tables.ts";
import type { LedgerConnection } from "./connection.ts";
import { bookkeepingStatements, type Change, type Form, statementsOf } from "./ddl.ts";
import type { LedgerLog } from "./endpoint.ts";
import { LedgerOpenError } from "./errors.ts";
import { oracleCopies, oracleKeyedTables, oracleTables } from "./oracle-tables.ts";
import { requestIdIndex, requestsTable } from "./tables.ts";

/** One numbered change of the schema; it never changes once released. */
export interface LedgerMigration {
  readonly number: number;
  readonly name: string;
  readonly changes: readonly Change[];
}

/** Append-only and numbered from 1 without gaps. An entry that has been released is never edited. */
export const migrations: readonly LedgerMigration[] = [
  { number: 1, name: "requests", changes: [{ kind: "create-table", table: requestsTable }] },
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
];

/** Of the definition, not of the generated text: both forms of a ledger record the same. */
function checksum(migration: LedgerMigration): string {
  return createHash("sha256").update(JSON.stringify(migration)).digest("hex");
}

interface AppliedRow {
  readonly number: number;
  readonly name: string;
  readonly checksum: string;
}

function refuseUnknown(applied: readonly AppliedRow[], known: readonly LedgerMigration[]): void {
  const newest = Math.max(0, ...known.map((migration) => migration.number));
  for (const row of applied) {
    if (row.number > newest) {
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

/**
 * Brings a ledger up to date. Each statement may be repeated and a migration is recorded after its last one, so that a
 * process killed half-way, or several starting together, do no harm. Throws LedgerOpenError when the ledger is newer
 * than this version or an applied migration was changed.
 */
export async function migrate(
  connection: LedgerConnection,
  form: Form,
  dependencies: { readonly clock: Clock; readonly log: LedgerLog },
  known: readonly LedgerMigration[] = migrations,
): Promise<void> {
  const [createDatabase, ...rest] = bookkeepingStatements(form);
  if (createDatabase !== undefined) await connection.command(createDatabase, { database: "default" });
  for (const statement of rest) await connection.command(statement);
  const applied = await connection.query<AppliedRow>("SELECT number, name, checksum FROM migrations FINAL");
  refuseUnknown(applied, known);
  const done = new Set(applied.map((row) => row.number));
  for (const migration of known) {
    if (done.has(migration.number)) continue;
    for (const change of migration.changes) {
      for (const statement of statementsOf(change, form)) await connection.command(statement);
    }
    const { number, name } = migration;
    const row = { number, name, checksum: checksum(migration), applied_at: dependencies.clock.now() };
    await connection.insertRows("migrations", { kind: "rows", rows: [row] }, `migration-${number}`);
    dependencies.log.info({ number, name }, "ledger migration applied");
  }
}
