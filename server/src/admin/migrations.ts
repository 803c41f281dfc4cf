import type { Ledger } from "../ledger/index.ts";
import type { MigrationStatus, State } from "../state/index.ts";

interface StoreMigrations {
  readonly store: string;
  readonly driver: string;
  readonly migrations: readonly MigrationStatus[];
}

interface LedgerRow {
  readonly number: number;
  readonly name: string;
  readonly applied: string;
}

/** The migrations of state and ledger, with the time of each. Both stores apply missing ones when they are opened. */
export async function listMigrations(state: State, ledger: Ledger): Promise<{ stores: StoreMigrations[] }> {
  const rows = await ledger.query<LedgerRow>(
    "SELECT number, name, toUnixTimestamp64Milli(applied_at) AS applied FROM migrations FINAL ORDER BY number",
  );
  const applied = rows.map(({ number, name, applied }) => ({
    number: Number(number),
    name,
    appliedAt: Number(applied),
  }));
  return {
    stores: [
      { store: "state", driver: state.driver, migrations: await state.migrations() },
      { store: "ledger", driver: ledger.driver, migrations: applied },
    ],
  };
}
