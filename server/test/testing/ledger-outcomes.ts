/** What the ledger of a server that has ended says became of its bundles. */
import { join } from "node:path";
import { systemClock } from "@sluice/lib";
import { openLedger } from "../../src/ledger/index.ts";

export interface LedgerOutcome {
  readonly id: string;
  readonly state: string;
  readonly reason: string;
  readonly endpoint: string;
  /** Null where it is in no block. */
  readonly slot: number | null;
}

const silent = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

interface Row {
  readonly id: string;
  readonly state: string;
  readonly reason: string;
  readonly door: string;
  readonly landed_slot: string | null;
}

/** Every row of the directory's ledger, each bundle once; the server must have ended. */
export async function ledgerOutcomes(directory: string): Promise<readonly LedgerOutcome[]> {
  const options = { directory: join(directory, "ledger"), clickhouseUrl: null, cluster: null };
  await using ledger = await openLedger(options, { clock: systemClock, log: silent });
  const outcomes: LedgerOutcome[] = [];
  const statement = "SELECT id, state, reason, door, landed_slot FROM bundle_outcomes FINAL";
  for await (const rows of ledger.stream<Row>(statement)) {
    for (const { door, landed_slot, ...row } of rows) {
      outcomes.push({ ...row, endpoint: door, slot: landed_slot === null ? null : Number(landed_slot) });
    }
  }
  return outcomes;
}
