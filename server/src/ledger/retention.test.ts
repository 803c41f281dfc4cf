import { afterAll, beforeAll, expect, test } from "bun:test";
import { type LedgerRetention, type LedgerTableName, ledgerTableNames, ledgerTables } from "@sluice/contract/ledger";
import { ManualClock, systemClock, systemRandom } from "@sluice/lib";
import { eventually } from "@sluice/lib/testing";
import { loadConfig } from "../config/index.ts";
import { createLog, createMetrics } from "../observe/index.ts";
import { LedgerConnection } from "./connection.ts";
import { retentionStatement } from "./ddl.ts";
import { LedgerQueryError } from "./errors.ts";
import { createLedgerEvents } from "./events.ts";
import { openLedger } from "./ledger.ts";
import { migrate } from "./migrations.ts";
import { applyRetentions, type LedgerRetentions, readRetentions, retentionIn } from "./retention.ts";
import { ChildSupervisor } from "./supervisor.ts";
import { partsStatement, TableStates } from "./table-states.ts";
import { tables } from "./tables.ts";
import { ledgerDirectory, recordingLog } from "./testing/ledger-directory.ts";

const dayMs = 86_400_000;
const directory = ledgerDirectory();
const dependencies = { clock: systemClock, random: systemRandom, log: recordingLog(), network: "devnet" } as const;
let supervisor: ChildSupervisor;
const connections: LedgerConnection[] = [];

beforeAll(async () => {
  supervisor = await ChildSupervisor.start({ directory: directory.path }, dependencies);
});
afterAll(async () => {
  for (const connection of connections) await connection[Symbol.asyncDispose]();
  await supervisor[Symbol.asyncDispose]();
  directory[Symbol.dispose]();
});

async function ledgerIn(database: string) {
  const connection = new LedgerConnection({ database }, { endpoint: supervisor, clock: systemClock });
  connections.push(connection);
  const form = { database, cluster: null };
  await migrate(connection, form, dependencies);
  const log = recordingLog();
  return {
    connection,
    log,
    read: async () => Object.fromEntries(await readRetentions(connection, form)),
    apply: (changes: Partial<LedgerRetentions>) =>
      applyRetentions(connection, { ...defaults, ...changes }, { form, log }),
  };
}

/** As a configuration that names none has them. */
function configured(env: Record<string, string> = {}): LedgerRetentions {
  const outcome = loadConfig({ mode: "dev", env });
  if (!outcome.ok) throw new Error(JSON.stringify(outcome.faults));
  return outcome.config.stores.ledgerRetentions;
}
const defaults = configured();

test("every table of the ledger has its place in the contract, and what it keeps is its default there", () => {
  expect([...ledgerTableNames].sort()).toEqual(Object.keys(tables).sort() as LedgerTableName[]);
  for (const name of ledgerTableNames) {
    const days = tables[name]?.keptDays;
    const kept: LedgerRetention = days === undefined ? "forever" : days * dayMs;
    expect([name, ledgerTables[name].kept as LedgerRetention]).toEqual([name, kept]);
    expect([name, defaults[name]]).toEqual([name, kept]);
  }
});

test("a new ledger has the defaults, so that a start with none set changes nothing", async () => {
  const { read, apply, log } = await ledgerIn("defaults");
  expect(await read()).toEqual(defaults);
  await apply({});
  expect(log.entries).toEqual([]);
});

test("tables take what is set, the one that comes last decides, and forever takes the rule away", async () => {
  const { read, apply, log } = await ledgerIn("changed");
  const first = { requests: 62 * dayMs, oracle_ticks: "forever", bundle_outcomes: 36 * 3_600_000 } as const;
  await apply(first);
  expect(await read()).toEqual({ ...defaults, ...first });
  expect(log.entries.map(({ fields }) => fields)).toEqual([
    { table: "requests", before: "forever", kept: "62d" },
    { table: "bundle_outcomes", before: "forever", kept: "36h" },
    { table: "oracle_ticks", before: "30d", kept: "forever" },
  ]);
  await apply(first);
  expect(log.entries).toHaveLength(3);
  const second = { requests: 100 * dayMs, bundle_outcomes: 90_000 };
  await apply(second);
  expect(await read()).toEqual({ ...defaults, ...second });
});

test("rows that are there already go when they are older than a shorter retention, and newer ones stay", async () => {
  const { connection, apply } = await ledgerIn("deleted");
  const now = systemClock.now();
  const row = (daysAgo: number) => ({ at: now - daysAgo * dayMs, request_id: `r${daysAgo}`, account_id: "a" });
  const insert = (days: readonly number[]) =>
    connection.insertRows("requests", { kind: "rows", rows: days.map(row) }, `of ${days.join()}`);
  await insert([400]);
  await insert([63, 61]);
  await insert([1]);
  await apply({ requests: 62 * dayMs });
  const left = async () =>
    (await connection.query<{ request_id: string }>("SELECT request_id FROM requests ORDER BY at")).map(
      ({ request_id }) => request_id,
    );
  await eventually("the engine deleted what is too old", async () => (await left()).join() === "r61,r1", 20_000);
});

test("a rule that somebody else gave a table is left, and a table that refuses does not end the start", async () => {
  const { connection, read, apply, log } = await ledgerIn("own_rules");
  const rule = "ALTER TABLE requests MODIFY TTL toDateTime(at) + INTERVAL 90 DAY WHERE status < 500";
  await connection.command(rule);
  expect((await read())["requests"]).toBeNull();
  const command = connection.command.bind(connection);
  connection.command = async (sql, options) => {
    if (sql.includes("oracle_ticks")) throw new LedgerQueryError(497, "no such right");
    await command(sql, options);
  };
  await apply({ requests: 62 * dayMs, oracle_ticks: dayMs, bundle_outcomes: dayMs });
  expect(await read()).toEqual({ ...defaults, requests: null, bundle_outcomes: dayMs });
  expect(log.entries.map(({ message }) => message)).toEqual([
    "a table of the ledger has rules of its own for its rows, which are left as they are",
    "a table of the ledger keeps its rows for another time",
    "the retention of a table could not be set",
  ]);
});

test("a ledger that is opened without any keeps what it has, and takes what is set from the environment", async () => {
  using own = ledgerDirectory();
  const options = { directory: own.path, clickhouseUrl: null, cluster: null };
  const opened = async (retentions?: LedgerRetentions): Promise<LedgerRetention | null> => {
    await using ledger = await openLedger(
      { ...options, ...(retentions === undefined ? {} : { retentions }) },
      { clock: systemClock, log: recordingLog() },
    );
    const sql = "SELECT engine_full FROM system.tables WHERE database = 'sluice' AND name = 'requests'";
    const [row] = await ledger.query<{ engine_full: string }>(sql);
    return retentionIn(row?.engine_full ?? "");
  };
  expect(await opened(configured({ LEDGER_RETENTION_REQUESTS: "90d" }))).toBe(90 * dayMs);
  expect(await opened()).toBe(90 * dayMs);
  expect(await opened(configured())).toBe("forever");
}, 20_000);

test("tables tell their rows, their bytes, their oldest row and what they keep, and from when on all is there", async () => {
  const { connection } = await ledgerIn("states");
  const clock = new ManualClock(Date.UTC(2026, 10, 20));
  const form = { database: "states", cluster: null };
  const states = new TableStates({ connection, form, clock });
  expect([states.last(), states.keptSince("oracle_ticks")]).toEqual([[], null]);
  const at = Date.UTC(2026, 9, 5, 1, 2, 3, 4);
  const rows = [at + dayMs, at, at + 50 * dayMs].map((each, index) => ({ at: each, request_id: `r${index}` }));
  for (const row of rows) await connection.insertRows("requests", { kind: "rows", rows: [row] }, row.request_id);
  const read = await states.read();
  expect(read.map(({ name }) => name)).toEqual([...ledgerTableNames]);
  expect(read[0]).toEqual({ name: "requests", rows: 3, bytes: expect.any(Number), oldestMs: at, kept: "forever" });
  expect(read[0]?.bytes).toBeGreaterThan(300);
  expect(read.find(({ name }) => name === "oracle_ticks")).toEqual({
    ...{ name: "oracle_ticks", rows: 0, bytes: 0, oldestMs: null, kept: 30 * dayMs },
  });
  expect(states.last()).toBe(read);
  // Partitioned by slot: the first slot of each network, also where the table has no order of slots.
  const rowsOf = (network: string, slot: number, each: number) => ({ network, slot, blockhash: "x", at: each });
  for (const table of ["blocks", "transactions_by_address"]) {
    for (const [network, slot, each] of [
      ["devnet", 7, at + 2],
      ["devnet", 3_000_000, at + dayMs],
      ["mainnet", 9, at + 1],
    ] as const) {
      await connection.insertRows(table, { kind: "rows", rows: [rowsOf(network, slot, each)] }, `${network}-${slot}`);
    }
  }
  for (const table of await states.read()) {
    const isFilled = table.name === "blocks" || table.name === "transactions_by_address";
    if (isFilled) expect(table).toMatchObject({ rows: 3, oldestMs: at + 1, kept: "forever" });
  }
  expect([states.keptSince("requests"), states.keptSince("oracle_ticks")]).toEqual([null, clock.now() - 30 * dayMs]);
  const cluster = partsStatement({ database: "states", cluster: "main" });
  expect(cluster).toContain("FROM clusterAllReplicas('main', system.parts) WHERE active");
  expect((await connection.query(`EXPLAIN AST ${cluster}`, { database: "states" })).length).toBeGreaterThan(0);
});

test("the figures of the tables are in the metrics from the start on", async () => {
  using own = ledgerDirectory();
  const metrics = createMetrics({}, { clock: systemClock });
  const events = createLedgerEvents({ log: createLog({ level: "silent" }), metrics });
  const options = { directory: own.path, clickhouseUrl: null, cluster: null, measureEveryMs: 60_000 };
  await using _ledger = await openLedger(options, { clock: systemClock, log: recordingLog(), events });
  const named = /^sluice_ledger_table_(bytes|rows)\{table="oracle_ticks"\} \d/gm;
  await eventually("the tables are measured", async () => (await metrics.render()).match(named)?.length === 2);
});

test("a retention below the least is refused with the reason, before any store is opened", () => {
  const env = { LEDGER_RETENTION_REQUESTS: "61d", LEDGER_RETENTION_ORACLE_CANDLES_BY_MINUTE: "30d" };
  const outcome = loadConfig({ mode: "serve", env: { ...env, MASTER_KEY: "0123456789abcdef".repeat(4) } });
  expect(outcome.ok ? [] : outcome.faults.map(({ key, given, expected }) => ({ key, given, expected }))).toEqual([
    {
      key: "LEDGER_RETENTION_REQUESTS",
      given: "61d",
      expected: expect.stringContaining("at least 62d, since the use of this month and the last is computed from it"),
    },
    {
      key: "LEDGER_RETENTION_ORACLE_CANDLES_BY_MINUTE",
      given: "30d",
      expected: expect.stringContaining("at least 731d, since tiers of the oracle include histories of two years"),
    },
  ]);
});

test("golden: a retention is changed in the table that holds the rows, on every server of a cluster", () => {
  const of = (kept: LedgerRetention, cluster: string | null) =>
    retentionStatement({ table: "requests", timeColumn: "at", kept }, { database: "sluice", cluster });
  expect(of(62 * dayMs, null)).toBe("ALTER TABLE sluice.requests\nMODIFY TTL toDateTime(at) + INTERVAL 62 DAY");
  expect(of(36 * 3_600_000, "main")).toBe(
    "ALTER TABLE sluice.requests_local ON CLUSTER 'main'\nMODIFY TTL toDateTime(at) + INTERVAL 36 HOUR",
  );
  expect(of("forever", "main")).toBe("ALTER TABLE sluice.requests_local ON CLUSTER 'main'\nREMOVE TTL");
});
