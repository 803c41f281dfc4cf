import { type LedgerRetention, type LedgerTableName, ledgerTableNames } from "@sluice/contract/ledger";
import { showDuration } from "@sluice/lib";
import type { LedgerConnection } from "./connection.ts";
import { type Form, retentionStatement, storedName } from "./ddl.ts";
import type { LedgerLog } from "./endpoint.ts";
import { tables } from "./tables.ts";

/** How long each table keeps its rows, by its name. */
export type LedgerRetentions = Readonly<Record<LedgerTableName, LedgerRetention>>;

const unitMs: Readonly<Record<string, number>> = { Second: 1_000, Minute: 60_000, Hour: 3_600_000, Day: 86_400_000 };

/**
 * The retention in the definition of a table as the engine writes it (`engine_full` of system.tables); null for a rule
 * that is not of this room, such as one by which rows move to another disk.
 */
export function retentionIn(definition: string): LedgerRetention | null {
  const clause = /\sTTL (.+?)(?: SETTINGS |$)/s.exec(definition)?.[1];
  if (clause === undefined) return "forever";
  const rule = /^toDateTime\(\w+\) \+ toInterval(?<unit>Second|Minute|Hour|Day)\((?<count>\d+)\)$/.exec(clause.trim());
  const ms = unitMs[rule?.groups?.["unit"] ?? ""];
  return ms === undefined ? null : Number(rule?.groups?.["count"]) * ms;
}

/** The retention that each table has now; tables that are not there have no entry. */
export async function readRetentions(
  connection: Pick<LedgerConnection, "query">,
  form: Form,
): Promise<ReadonlyMap<LedgerTableName, LedgerRetention | null>> {
  const rows = await connection.query<{ name: string; engine_full: string }>(
    "SELECT name, engine_full FROM system.tables WHERE database = {database:String}",
    { database: form.database },
  );
  const definitions = new Map(rows.map((row) => [row.name, row.engine_full]));
  return new Map(
    ledgerTableNames.flatMap((name) => {
      const definition = definitions.get(storedName(form, name));
      return definition === undefined ? [] : [[name, retentionIn(definition)] as const];
    }),
  );
}

const shown = (kept: LedgerRetention): string => (kept === "forever" ? kept : showDuration(kept));

/**
 * Gives each table the retention that is wanted, where it has another one. The engine deletes in the background, so
 * nothing waits for it. A table whose retention cannot be set keeps the one that it has, which is no reason not to
 * start: it is said in the log, and tried again at the next start. Throws LedgerUnavailableError, LedgerQueryError
 * where the tables cannot be read.
 */
export async function applyRetentions(
  connection: Pick<LedgerConnection, "query" | "command">,
  wanted: LedgerRetentions,
  { form, log }: { readonly form: Form; readonly log: LedgerLog },
): Promise<void> {
  for (const [table, before] of await readRetentions(connection, form)) {
    const kept = wanted[table];
    const timeColumn = tables[table]?.timeColumn;
    if (kept === before || timeColumn === undefined) continue;
    if (before === null) {
      log.warn({ table }, "a table of the ledger has rules of its own for its rows, which are left as they are");
      continue;
    }
    try {
      await connection.command(retentionStatement({ table, timeColumn, kept }, form));
      log.info(
        { table, before: shown(before), kept: shown(kept) },
        "a table of the ledger keeps its rows for another time",
      );
    } catch (error) {
      log.warn({ table, before: shown(before), kept: shown(kept), error }, "the retention of a table could not be set");
    }
  }
}
