import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { systemClock, systemRandom } from "@sluice/lib";
import { type Batch, BatchNumbers, BatchWriter, batchesOf, newBatch } from "./batches.ts";
import { LedgerConnection } from "./connection.ts";
import { bookkeepingStatements, statementsOf } from "./ddl.ts";
import { LedgerUnavailableError } from "./errors.ts";
import { type LedgerMigration, migrate, migrations } from "./migrations.ts";
import { RequestBlock } from "./request-block.ts";
import { findRequest } from "./request-search.ts";
import { ChildSupervisor } from "./supervisor.ts";
import { requestsTable } from "./tables.ts";
import { fact, ledgerDirectory, recordingLog } from "./testing/ledger-directory.ts";

const directory = ledgerDirectory();
const dependencies = { clock: systemClock, random: systemRandom, log: recordingLog() };
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
    await up();
    await up();
    await up([...migrations, withRegion]);
    const rows = await connection.query("SELECT number, name FROM migrations ORDER BY number");
    expect(rows).toEqual([...migrations, withRegion].map(({ number, name }) => ({ number, name })));
    expect(await connection.query("SELECT region FROM requests")).toEqual([]);
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

  test("may be repeated where a process died before recording them", async () => {
    const { connection, up } = ledgerIn("b");
    await up([...migrations, withRegion]);
    await connection.command("TRUNCATE TABLE migrations");
    await up([...migrations, withRegion]);
    const [row] = await connection.query<{ n: string }>("SELECT count() AS n FROM migrations FINAL");
    expect(row?.n).toBe(String(withRegion.number));
  });

  test("of a newer version are refused by name, and so is one that was edited", async () => {
    const { up } = ledgerIn("c");
    await up([...migrations, withRegion]);
    await expect(up()).rejects.toThrow(`it has migration ${withRegion.number} (region)`);
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
