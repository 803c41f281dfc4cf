import { type Clock, sleep } from "@sluice/lib";
import { sql } from "kysely";
import { newStateError, toSluiceError } from "./errors.ts";
import type { Db } from "./tables.ts";

const askEveryMs = 250;
const waitMsMax = 600_000;

/**
 * Runs `work` under an advisory lock of the schema, in a transaction, so that it holds behind a pooler as well. Who
 * waits asks again and again and holds no connection.
 *
 * @throws {SluiceError} OVERLOADED when the turn does not come within ten minutes
 */
export async function runInTurn(
  db: Db,
  { name, work }: { readonly name: string; readonly work: () => Promise<void> },
  { clock }: { readonly clock: Clock },
): Promise<void> {
  const until = clock.monotonic() + waitMsMax;
  while (!(await tryTurn(db, name, work))) {
    if (clock.monotonic() >= until) throw toSluiceError(newStateError("OVERLOADED"));
    await sleep(clock, askEveryMs);
  }
}

async function tryTurn(db: Db, name: string, work: () => Promise<void>): Promise<boolean> {
  return db.transaction().execute(async (tx) => {
    // The transaction does nothing while the work goes on.
    await sql`select set_config('idle_in_transaction_session_timeout', '0', true)`.execute(tx);
    const lock = `sluice ${name} `;
    const { rows } = await sql<{ taken: boolean }>`
      select pg_try_advisory_xact_lock(hashtextextended(${lock} || current_schema(), 0)) as taken`.execute(tx);
    if (rows[0]?.taken !== true) return false;
    await work();
    return true;
  });
}
