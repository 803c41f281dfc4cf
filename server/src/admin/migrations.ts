import type { Ledger } from "../ledger/index.ts";
import type { State } from "../state/index.ts";

interface StoreMigration {
  readonly number: number;
  readonly name: string;
  /** Unix milliseconds; null when it is still to be applied. */
  readonly appliedAt: number | null;
  /** Whether it waits until no version runs that does not know it. */
  readonly waits: boolean;
}

interface StoreMigrations {
  readonly store: string;
  readonly driver: string;
  readonly migrations: readonly StoreMigration[];
}

/**
 * The migrations of state and ledger, with the time of each. Both stores apply missing ones when they are opened, but
 * for those that wait for earlier versions to be gone.
 */
export async function listMigrations(state: State, ledger: Ledger): Promise<{ stores: StoreMigrations[] }> {
  const ofState = (await state.migrations()).map(({ number, name, appliedAt, contracts }) => ({
    number,
    name,
    appliedAt,
    waits: contracts && appliedAt === null,
  }));
  const ofLedger = (await ledger.migrations()).map((each) => ({ ...each, waits: false }));
  return {
    stores: [
      { store: "state", driver: state.driver, migrations: ofState },
      { store: "ledger", driver: ledger.driver, migrations: ofLedger },
    ],
  };
}
