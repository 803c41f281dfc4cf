import { afterAll, beforeAll, describe, expect, spyOn, test } from "bun:test";
import { systemClock, systemRandom } from "@sluice/lib";
import { type Batch, BatchNumbers, BatchWriter, batchesOf, newBatch } from "./batches.ts";
import { BundleQueries } from "./bundle-queries.ts";
import { LedgerConnection } from "./connection.ts";
import { bookkeepingStatements, statementsOf } from "./ddl.ts";
import { LedgerUnavailableError } from "./errors.ts";
import { type LedgerMigration, ledgerId, migrate, migrations, readMigrations, readSchema } from "./migrations.ts";
import { RequestBlock } from "./request-block.ts";
import { findRequest } from "./request-search.ts";
import { ChildSupervisor } from "./supervisor.ts";
import { requestsTable, tables } from "./tables.ts";
import { fact, ledgerDirectory, recordingLog } from "./testing/ledger-directory.ts";

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

/** A ledger of its own in the one engine: a database. */
function ledgerIn(database: string): {
  connection: LedgerConnection;
  up: (known?: readonly LedgerMigration[]) => Promise<void>;
} {
  const connection = new LedgerConnection({ database }, { endpoint: supervisor, clock: systemClock });
  connections.push(connection);
  const form = { database, cluster: null };
  return { connection, up: (known) => migrate(connection, form, dependencies, known) };
}

const withRegion: LedgerMigration = {
  number: migrations.length + 1,
  name: "region",
  changes: [{ kind: "add-column", table: "requests", column: { name: "region", type: "String" }, after: "upstream" }],
};

describe("migrations", () => {
  test("are numbered from 1 without gaps", () => {
    expect(migrations.map((migration) => migration.number)).toEqual(migrations.map((_, index) => index + 1));
  });

  test("run once, are recorded, and later ones are added to what is there", async () => {
    const { connection, up } = ledgerIn("a");
    await up(migrations.slice(0, -1));
    const known = migrations.length;
    expect(await readSchema(connection)).toEqual({ known, stored: known - 1, missing: 1 });
    await up();
    await up();
    expect(await readSchema(connection)).toEqual({ known, stored: known, missing: 0 });
    await up([...migrations, withRegion]);
    expect(await readSchema(connection)).toEqual({ known, stored: known + 1, missing: 0 });
    const rows = await readMigrations(connection);
    expect(rows.map(({ number, name }) => ({ number, name }))).toEqual(
      [...migrations, withRegion].map(({ number, name }) => ({ number, name })),
    );
    expect(await connection.query("SELECT region FROM requests")).toEqual([]);
  });

  test("of an empty ledger make at once the tables that they make one after the other", async () => {
    const atOnce = ledgerIn("at_once");
    const commands = spyOn(atOnce.connection, "command");
    await atOnce.up();
    const oneByOne = ledgerIn("one_by_one");
    for (const { number } of migrations) await oneByOne.up(migrations.slice(0, number));
    const tablesOf = async (connection: LedgerConnection): Promise<unknown> => {
      const rows = await connection.query<{ name: string; sql: string }>(
        "SELECT name, create_table_query AS sql FROM system.tables WHERE database = currentDatabase() ORDER BY name",
      );
      return rows.map(({ name, sql }) => [name, sql.replace(/(CREATE TABLE )\w+\./, "$1")]);
    };
    const expected = await tablesOf(oneByOne.connection);
    expect(expected).toHaveLength(commands.mock.calls.length - 1);
    expect(await tablesOf(atOnce.connection)).toEqual(expected);
    expect(await readSchema(atOnce.connection)).toEqual(await readSchema(oneByOne.connection));
  });

  test("give records that were written before them what those after them have: they are found by their id", async () => {
    const { connection, up } = ledgerIn("older");
    await up(migrations.slice(0, 3));
    const row = { at: Date.UTC(2026, 10, 5), request_id: "req_old", account_id: "a" };
    await connection.insertRows("requests", { kind: "rows", rows: [row] }, "before");
    await up();
    await connection.insertRows("requests", { kind: "rows", rows: [{ ...row, request_id: "req_new" }] }, "after");
    for (const id of ["req_old", "req_new"]) expect(await findRequest(connection, id, null)).toHaveLength(1);
    const [index] = await connection.query(
      "SELECT name, type FROM system.data_skipping_indices WHERE database = 'older' AND table = 'requests'",
    );
    expect(index).toEqual({ name: "request_id_filter", type: "bloom_filter" });
  });

  test("keep the prices that were written before them: a row for each second and each minute, whoever wrote how many", async () => {
    const { connection, up } = ledgerIn("prices");
    await up(migrations.slice(0, 4));
    const minute = Math.floor(Date.now() / 60_000) * 60_000 - 3_600_000;
    const common = { symbol: "BTC", volume_24h: "5", confidence: "90", sources: ["kraken"] };
    const candle = (at: number, from: number, to: number, prices: readonly [string, string, string, string]) => {
      const [open, high, low, close] = prices;
      return { at, ...common, first_at: at + from, last_at: at + to, open, high, low, close };
    };
    const round = (at: number, price: string) => ({ at, ...common, price, band: "1" });
    const insert = (table: string, rows: readonly object[], token: string) =>
      connection.insertRows(table, { kind: "rows", rows }, token);
    // Two processes wrote the first minute, one after the other; both wrote the second.
    await insert(
      "oracle_candles",
      [
        candle(minute, 0, 20_000, ["10", "12", "10", "11"]),
        candle(minute, 30_000, 59_000, ["9", "10", "8", "10"]),
        candle(minute + 60_000, 0, 59_500, ["10", "10", "10", "10"]),
      ],
      "one",
    );
    await insert("oracle_candles", [candle(minute + 60_000, 100, 59_400, ["11", "11", "11", "11"])], "two");
    await insert(
      "oracle_rounds",
      [round(minute, "10"), round(minute + 400, "11"), round(minute + 1_000, "12")],
      "three",
    );
    await up();
    for (const record of ["migrations", "expansions"]) await connection.command(`TRUNCATE TABLE ${record}`);
    await up();
    const candles =
      "SELECT open, high, low, close, first_at, last_at, volume_24h FROM oracle_candles_by_minute FINAL ORDER BY at";
    expect(await connection.query(candles)).toEqual([
      {
        ...{ open: 10, high: 12, low: 8, close: 10, volume_24h: 5 },
        ...{ first_at: String(minute), last_at: String(minute + 59_000) },
      },
      {
        ...{ open: 10, high: 11, low: 10, close: 10, volume_24h: 5 },
        ...{ first_at: String(minute + 60_000), last_at: String(minute + 119_500) },
      },
    ]);
    const rounds =
      "SELECT toUnixTimestamp64Milli(at) AS at_ms, made_at, price FROM oracle_rounds_by_second FINAL ORDER BY at";
    expect(await connection.query(rounds)).toEqual([
      { at_ms: String(minute), made_at: String(minute + 400), price: 11 },
      { at_ms: String(minute + 1_000), made_at: String(minute + 1_000), price: 12 },
    ]);
    // What was a share of 24 hours is no volume of a minute.
    expect(await connection.query("SELECT * FROM oracle_volumes_by_minute")).toEqual([]);
    expect(await connection.query("SELECT count() AS n FROM oracle_candles")).toEqual([{ n: "4" }]);
  });

  test("may be repeated where a process died before recording them", async () => {
    const { connection, up } = ledgerIn("b");
    await up([...migrations, withRegion]);
    for (const table of ["migrations", "expansions"]) await connection.command(`TRUNCATE TABLE ${table}`);
    await up([...migrations, withRegion]);
    expect(await readMigrations(connection)).toHaveLength(withRegion.number);
  });

  test("give outcomes that were written before them the default network, and those of the version beside it", async () => {
    const { connection, up } = ledgerIn("outcomes");
    await up(migrations.slice(0, 5));
    const at = Date.UTC(2026, 10, 5);
    const row = { at, state: "finalized", tip: "1", tip_seen: "5", accepted_at: at };
    const insert = (rows: readonly object[], token: string) =>
      connection.insertRows("bundle_outcomes", { kind: "rows", rows }, token);
    await insert([{ ...row, id: "before" }], "one");
    await up();
    // As a process of the version before writes it, and as this one does.
    await insert([{ ...row, id: "beside" }], "two");
    const labelled = (network: string) => ({ ...row, id: "same", network, chain: "genesis" });
    await insert([labelled("devnet"), labelled("testnet")], "three");
    const queries = new BundleQueries(connection);
    const all = { fromMs: at, untilMs: at + 1, searcherId: null, mevType: null };
    expect(await queries.figures({ ...all, network: "devnet" })).toMatchObject({ ended: 3, tips: 15n });
    expect(await queries.figures({ ...all, network: "testnet" })).toMatchObject({ ended: 1, tips: 5n });
    expect(await queries.figures({ ...all, network: "mainnet" })).toMatchObject({ ended: 0 });
  });

  test("of a newer version that add leave a ledger usable, and give it no other id", async () => {
    const { connection, up } = ledgerIn("newer");
    await up([...migrations, withRegion]);
    const id = await ledgerId(connection);
    expect(id).toMatch(/^[0-9a-f]{32}$/);
    await up();
    expect(await ledgerId(connection)).toBe(id);
    const other = ledgerIn("other");
    await other.up();
    expect(await ledgerId(other.connection)).not.toBe(id);
  });

  test("that a version does not know are refused by name, and so is one that was edited", async () => {
    const { connection, up } = ledgerIn("c");
    await up([...migrations, withRegion]);
    const row = { number: withRegion.number, name: "changed", checksum: "x", applied_at: Date.now() };
    await connection.insertRows("migrations", { kind: "rows", rows: [row] }, "newer");
    await expect(up()).rejects.toThrow(`it has migration ${withRegion.number} (changed)`);
    await connection.command("TRUNCATE TABLE migrations");
    const edited = { ...withRegion, changes: [] };
    await expect(up([...migrations, edited])).rejects.toThrow(
      `Migration ${withRegion.number} (region) of the ledger differs`,
    );
  });

  test("of a cluster are statements that the engine can parse", async () => {
    const { connection, up } = ledgerIn("e");
    await up();
    const form = { database: "e", cluster: "main" };
    const changes = migrations.flatMap((migration) => migration.changes.flatMap((each) => statementsOf(each, form)));
    for (const sql of [...bookkeepingStatements(form), ...changes]) {
      expect((await connection.query(`EXPLAIN AST ${sql}`)).length).toBeGreaterThan(0);
    }
    await expect(connection.query("EXPLAIN AST CREATE TABLE a ON CLUSTER (")).rejects.toThrow("Syntax error");
  });

  test("tables are on disk before an INSERT is answered", async () => {
    const { connection, up } = ledgerIn("d");
    await up();
    const [row] = await connection.query<{ sql: string }>(
      "SELECT create_table_query AS sql FROM system.tables WHERE database = 'd' AND name = 'requests'",
    );
    expect(row?.sql).toContain("fsync_after_insert = 1");
    expect(row?.sql).toContain("fsync_part_directory = 1");
  });
});

describe("a batch whose answer was lost", () => {
  /** A connection whose first inserts do what `fate` says before, after or instead of the real one. */
  function unlucky(connection: LedgerConnection, fates: readonly ("lost answer" | "token only")[]): LedgerConnection {
    let call = 0;
    const insertRows = connection.insertRows.bind(connection);
    connection.insertRows = async (table, rows, token) => {
      const fate = fates[call++];
      if (fate === "token only") {
        // What a kill between token and rows leaves: the token is known, the rows are not there. Dropping the partition
        // would make the table forget the token as well.
        await insertRows(table, rows, token);
        await connection.command(`ALTER TABLE ${table} DELETE WHERE true SETTINGS mutations_sync = 2`);
        await insertRows(table, rows, token);
        expect(await connection.query(`SELECT count() AS n FROM ${table}`)).toEqual([{ n: "0" }]);
        throw new LedgerUnavailableError("test");
      }
      await insertRows(table, rows, token);
      if (fate === "lost answer") throw new LedgerUnavailableError("test");
    };
    return connection;
  }

  const rows = Array.from({ length: 500 }, (_, index) => ({
    at: Date.UTC(2026, 10, 5) + index,
    request_id: `r${index}`,
  }));

  function oneBatch(): Batch {
    const [batch] = batchesOf(requestsTable, rows, new BatchNumbers({ clock: systemClock, random: systemRandom }));
    if (batch === undefined) throw new Error("no batch");
    return batch;
  }

  /** The same rows as the request log writes them. */
  function encodedBatch(): Batch {
    const first = Date.UTC(2026, 10, 5);
    const block = new RequestBlock(first, 0);
    for (let index = 0; index < 500; index++) block.append(fact({ requestId: `r${index}` }), first + index);
    const number = new BatchNumbers({ clock: systemClock, random: systemRandom }).next();
    const held = { rows: block.rows, ...block.span };
    return newBatch(requestsTable, number, { kind: "native", ...block.encode(number) }, held);
  }

  const stored = async (connection: LedgerConnection): Promise<unknown> =>
    await connection.query("SELECT count() AS n, uniqExact(request_id) AS unique FROM requests");

  for (const [index, fates] of (
    [
      ["lost answer"],
      ["lost answer", "lost answer", "lost answer"],
      ["token only"],
      ["token only", "lost answer"],
    ] as const
  ).entries()) {
    for (const kind of ["rows", "facts"] as const) {
      test(`of ${kind} is there once after: ${fates.join(", ")}`, async () => {
        const { connection, up } = ledgerIn(`lost_${kind}_${index}`);
        await up();
        const writer = new BatchWriter(
          { replicated: false },
          { connection: unlucky(connection, fates), clock: systemClock },
        );
        await writer.write(kind === "rows" ? oneBatch() : encodedBatch());
        expect(await stored(connection)).toEqual([{ n: "500", unique: "500" }]);
      });
    }
  }

  test("is there once also when the retries run out and the same batch is written again later", async () => {
    const { connection, up } = ledgerIn("lost_later");
    await up();
    const writer = new BatchWriter(
      { replicated: false },
      { connection: unlucky(connection, ["lost answer"]), clock: systemClock },
    );
    const batch = oneBatch();
    await expect(writer.write(batch, 0)).rejects.toBeInstanceOf(LedgerUnavailableError);
    await writer.write(batch);
    expect(await stored(connection)).toEqual([{ n: "500", unique: "500" }]);
  });

  test("of a table whose rows are versions is there once as well, also when a merge took rows of it meanwhile", async () => {
    const { connection, up } = ledgerIn("lost_versions");
    await up();
    const table = tables["oracle_rounds_by_second"];
    if (table === undefined) throw new Error("no table");
    const at = Math.floor(Date.now() / 1_000) * 1_000;
    const numbers = new BatchNumbers({ clock: systemClock, random: systemRandom });
    const batch = (version: number, seconds: readonly number[]): Batch => {
      const made = { symbol: "BTC", made_at: version, price: String(version) };
      const [first] = batchesOf(
        table,
        seconds.map((second) => ({ at: at + second * 1_000, ...made })),
        numbers,
      );
      if (first === undefined) throw new Error("no batch");
      return first;
    };
    const writer = (fates: readonly "lost answer"[]) =>
      new BatchWriter({ replicated: false }, { connection: unlucky(connection, fates), clock: systemClock });
    const lost = batch(1, [0, 1, 2]);
    await expect(writer(["lost answer"]).write(lost, 0)).rejects.toBeInstanceOf(LedgerUnavailableError);
    // Another process writes newer rows of two of the seconds, and the engine merges both.
    await writer([]).write(batch(2, [0, 1]));
    await connection.command("OPTIMIZE TABLE oracle_rounds_by_second FINAL");
    await writer([]).write(lost);
    expect(await connection.query("SELECT price FROM oracle_rounds_by_second FINAL ORDER BY at")).toEqual([
      { price: 2 },
      { price: 2 },
      { price: 1 },
    ]);
  });

  test("rows are split by month and by size, none lost", () => {
    const numbers = new BatchNumbers({ clock: systemClock, random: systemRandom });
    const many = Array.from({ length: 120_000 }, (_, index) => ({ at: Date.UTC(2026, index % 2, 1), n: index }));
    const batches = batchesOf(requestsTable, many, numbers);
    expect(batches.map((batch) => batch.rows)).toEqual([50_000, 10_000, 50_000, 10_000]);
    expect(new Set(batches.map((batch) => batch.number)).size).toBe(4);
    const long = Array.from({ length: 30 }, () => ({ at: 0, text: "x".repeat(1024 * 1024) }));
    expect(batchesOf(requestsTable, long, numbers).length).toBe(3);
    expect(() => batchesOf(requestsTable, [{ at: "yesterday" }], numbers)).toThrow(TypeError);
  });
});
