import { ledgerTables } from "@sluice/contract/ledger";
import type { LedgerTableBody } from "@sluice/contract/schemas";
import { showDuration } from "@sluice/lib";
import type { Hono } from "hono";
import type { RestEnvironment } from "../http/index.ts";
import type { LedgerTableState } from "../ledger/index.ts";
import type { Admission } from "./admin-access.ts";
import { isoTime } from "./records.ts";

export interface LedgerRouteDependencies {
  readonly adminAccess: Admission;
  readonly ledgerTables: () => Promise<readonly LedgerTableState[]>;
}

/** The tables of the ledger, for operators: what each holds, how large it is, and how long it keeps its rows. */
export function addLedgerRoutes(app: Hono<RestEnvironment>, dependencies: LedgerRouteDependencies): void {
  app.get("/api/v1/admin/ledger/tables", async (context) => {
    await dependencies.adminAccess.admit(context, "admin");
    return context.json({ items: (await dependencies.ledgerTables()).map(ledgerTableBody) });
  });
}

/** A table as operators are shown it. */
export function ledgerTableBody({ name, rows, bytes, oldestMs, kept }: LedgerTableState): LedgerTableBody {
  const { holds, least } = ledgerTables[name];
  return {
    name,
    holds,
    rows,
    bytes,
    oldest_at: oldestMs === null ? null : isoTime(oldestMs),
    kept: typeof kept === "number" ? showDuration(kept) : kept,
    least: showDuration(least),
  };
}
