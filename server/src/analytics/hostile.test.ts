import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { heavyStatements } from "./testing/heavy-statements.ts";
import { hostileStatements } from "./testing/hostile-statements.ts";
import { openSqlStand, type SqlStand } from "./testing/sql-stand.ts";

let stand: SqlStand;
let before: unknown;

/** What a statement could have changed: tables, views, users and roles, rows, and the process itself. */
async function state(): Promise<unknown> {
  const { ledger } = stand;
  return {
    pid: ledger.childPid(),
    tables: await ledger.query(
      "SELECT database, name, create_table_query FROM system.tables WHERE database LIKE 'sluice%' ORDER BY database, name",
    ),
    access: await ledger.query("SELECT name FROM system.users UNION ALL SELECT name FROM system.roles ORDER BY name"),
    functions: await ledger.query("SELECT name FROM system.functions WHERE origin != 'System'"),
    databases: await ledger.query("SELECT name FROM system.databases ORDER BY name"),
    rows: await ledger.query("SELECT count(), sum(credits) FROM requests"),
  };
}

beforeAll(async () => {
  // A statement that must not run long is stopped sooner than customers' are.
  stand = await openSqlStand({ executionMs: 300 });
  expect((await stand.ask("SELECT count() FROM blocks")).ok).toBe(true);
  before = await state();
});
afterAll(async () => {
  await stand?.[Symbol.asyncDispose]();
});

const refusals = ["SQL_NOT_ALLOWED", "SQL_SYNTAX", "SQL_INVALID"];
const bounds = ["SQL_TIMEOUT", "SQL_READ_LIMIT", "SQL_MEMORY_LIMIT", "SQL_ROWS_LIMIT", "SQL_RESULT_LIMIT", "SQL_BUSY"];
/** Of tables, settings, users, files and the engine's own affairs. */
const internal = /sluice[._]|log_comment|splitByChar|\/tmp|\/usr|DB::|Stack trace|version 2\d\./;
const sources = join(import.meta.dir, "../../..");

test("at least 300 hostile statements are refused, cost nothing and tell nothing of the inside", async () => {
  expect(new Set(hostileStatements).size).toBeGreaterThanOrEqual(300);
  const wrong: string[] = [];
  for (const sql of hostileStatements) {
    const asked = await stand.ask(sql, { parameters: { t: "requests" } });
    const shown = sql.slice(0, 100);
    if (asked.ok) wrong.push(`answered: ${shown}`);
    else if (!refusals.includes(asked.code)) wrong.push(`${asked.code} ${asked.message}: ${shown}`);
    else if (internal.test(asked.message) && !internal.test(sql.replaceAll(/[`"]/g, ""))) {
      wrong.push(`${asked.message}: ${shown}`);
    } else if (asked.message.includes(sources)) wrong.push(`${asked.message}: ${shown}`);
    if (stand.bill.credits !== 0) wrong.push(`${stand.bill.credits} credits: ${shown}`);
  }
  expect(wrong).toEqual([]);
  expect(existsSync("/tmp/hostile")).toBe(false);
  expect(await state()).toEqual(before);
}, 60_000);

test("statements that would take much are answered or stopped at a bound, and the ledger goes on", async () => {
  const wrong: string[] = [];
  for (const sql of heavyStatements) {
    const asked = await stand.ask(sql);
    if (asked.ok || refusals.includes(asked.code) || bounds.includes(asked.code)) continue;
    wrong.push(`${asked.code} ${asked.message}: ${sql}`);
  }
  expect(wrong).toEqual([]);
  expect(await state()).toEqual(before);
}, 120_000);
