/**
 * SQL from customers that is made to do harm: the hostile and heavy statements of the tests, and statements that a
 * seeded grammar makes of allowed and forbidden parts. None may change the ledger, read another account's rows, reach
 * a file or a table of the ledger, or keep the engine longer than its bounds.
 */
import { type Random, seededRandom } from "@sluice/lib";
import { heavyStatements, slowStatements } from "./testing/heavy-statements.ts";
import { hostileStatements } from "./testing/hostile-statements.ts";
import { openSqlStand, type SqlStand } from "./testing/sql-stand.ts";
import { randomStatement } from "./testing/statement-grammar.ts";

const executionMs = 200;
const refusals = ["SQL_NOT_ALLOWED", "SQL_SYNTAX", "SQL_INVALID"];
const bounds = ["SQL_TIMEOUT", "SQL_READ_LIMIT", "SQL_MEMORY_LIMIT", "SQL_ROWS_LIMIT", "SQL_RESULT_LIMIT", "SQL_BUSY"];
/** Above what single steps of a statement take beyond its time, and below that at which the engine is taken down. */
const overrunMsMax = 15_000;
/** What rows of other accounts and tables of the ledger hold, and views do not. */
const secrets = /acct_two|their-dropped|other9|dead3|root:x:|sluice-statement/;

interface Tally {
  readonly faults: string[];
  readonly outcomes: Map<string, number>;
  longestMs: number;
}

const shown = (sql: string): string => JSON.stringify(sql.slice(0, 300));

async function judge(stand: SqlStand, sql: string, tally: Tally): Promise<void> {
  const startedMs = performance.now();
  const asked = await stand.ask(sql, { parameters: { t: "requests" } });
  const tookMs = performance.now() - startedMs;
  tally.longestMs = Math.max(tally.longestMs, tookMs);
  const outcome = asked.ok ? "answered" : asked.code;
  tally.outcomes.set(outcome, (tally.outcomes.get(outcome) ?? 0) + 1);
  if (!asked.ok && ![...refusals, ...bounds].includes(asked.code)) tally.faults.push(`${outcome}: ${shown(sql)}`);
  if (tookMs > executionMs + overrunMsMax) tally.faults.push(`took ${Math.round(tookMs)} ms: ${shown(sql)}`);
  const text = asked.ok ? JSON.stringify([asked.rows, asked.columns]) : asked.message;
  const found = secrets.exec(text)?.[0];
  if (found !== undefined && !sql.includes(found)) tally.faults.push(`shows ${found}: ${shown(sql)}`);
}

async function state({ ledger }: SqlStand): Promise<string> {
  const tables =
    "SELECT database, name, create_table_query FROM system.tables WHERE database LIKE 'sluice%' ORDER BY 1, 2";
  return JSON.stringify([
    ledger.childPid(),
    await ledger.query(tables),
    await ledger.query("SELECT name FROM system.databases ORDER BY name"),
    await ledger.query("SELECT name FROM system.functions WHERE origin != 'System' ORDER BY name"),
    await ledger.query("SELECT count(), sum(credits) FROM requests"),
  ]);
}

export async function run({ n, seed }: { n: number; seed: number }) {
  await using stand = await openSqlStand({ executionMs });
  const random: Random = seededRandom(seed);
  const tally: Tally = { faults: [], outcomes: new Map(), longestMs: 0 };
  await stand.ask("SELECT count() FROM blocks");
  const before = await state(stand);
  for (const sql of [...hostileStatements, ...heavyStatements, ...slowStatements]) await judge(stand, sql, tally);
  for (let made = 0; made < n; made++) await judge(stand, randomStatement(random), tally);
  if ((await state(stand)) !== before) tally.faults.push("the ledger is not as it was");
  const outcomes = [...tally.outcomes].toSorted().map(([code, times]) => `${times} ${code}`);
  const summary = [
    `${n} statements of the grammar beside ${hostileStatements.length} hostile and heavy ones: ${outcomes.join(", ")}`,
    `longest ${Math.round(tally.longestMs)} ms at a limit of ${executionMs} ms`,
    ...tally.faults.slice(0, 20),
  ].join("\n");
  return { passed: tally.faults.length === 0, summary };
}
