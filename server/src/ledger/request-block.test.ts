import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { systemClock, systemRandom } from "@sluice/lib";
import fc from "fast-check";
import { LedgerConnection } from "./connection.ts";
import { migrate } from "./migrations.ts";
import { RequestBlock } from "./request-block.ts";
import type { RequestFact } from "./request-fact.ts";
import { ChildSupervisor } from "./supervisor.ts";
import { batchColumn, requestsTable } from "./tables.ts";
import { fact, ledgerDirectory, recordingLog } from "./testing/ledger-directory.ts";

const directory = ledgerDirectory();
const dependencies = { clock: systemClock, random: systemRandom, log: recordingLog(), network: "devnet" } as const;
let supervisor: ChildSupervisor;
const connections: LedgerConnection[] = [];
const monthMs = Date.UTC(2026, 10, 1);
const hostile = [
  "",
  "\n\nDROP TABLE requests",
  "\0\0",
  "\\N",
  "'\"`;--",
  "\ufeffbyte order mark",
  "ünïcödé ☃ 🚰 \u2028",
  "\ud800lone",
  "lone\udc00",
  `${"x".repeat(127)}🚰`,
  "é".repeat(127),
  "é".repeat(128),
  "☃".repeat(500),
  "x".repeat(127),
  "x".repeat(128),
  "x".repeat(129),
  "x".repeat(100_000),
];

beforeAll(async () => {
  supervisor = await ChildSupervisor.start({ directory: directory.path }, dependencies);
});
afterAll(async () => {
  for (const connection of connections) await connection[Symbol.asyncDispose]();
  await supervisor[Symbol.asyncDispose]();
  directory[Symbol.dispose]();
});

/** A ledger of its own in the one engine: a database. */
async function ledgerIn(database: string): Promise<LedgerConnection> {
  const connection = new LedgerConnection({ database }, { endpoint: supervisor, clock: systemClock });
  connections.push(connection);
  await migrate(connection, { database, cluster: null }, dependencies);
  return connection;
}

async function writeBlock(connection: LedgerConnection, facts: readonly RequestFact[], batch = 1n): Promise<void> {
  const block = new RequestBlock(monthMs, 0);
  for (const one of facts) block.append(one, Math.trunc(one.at));
  await connection.insertRows("requests", { kind: "native", ...block.encode(batch) }, `block-${batch}`);
}

/** What the table must hold of a fact, written out column by column and without the encoder. */
function expectedRow(one: RequestFact): Record<string, unknown> {
  const text = (value: string): string => value.slice(0, 128).toWellFormed();
  const count = (value: number): string =>
    value > 0 ? BigInt(Math.min(Math.trunc(value), Number.MAX_SAFE_INTEGER)).toString() : "0";
  const within = (value: number, least: number, most: number): number =>
    Number.isNaN(value) ? 0 : Math.trunc(Math.min(Math.max(value, least), most)) + 0;
  return {
    at: Math.trunc(one.at),
    request_id: text(one.requestId),
    account_id: text(one.accountId),
    key_id: text(one.keyId),
    network: text(one.network),
    door: text(one.door),
    method: text(one.method),
    status: within(one.status, 0, 65_535),
    rpc_code: one.rpcCode === null ? null : within(one.rpcCode, -2_147_483_648, 2_147_483_647),
    latency_ms: Number.isFinite(one.latencyMs) ? one.latencyMs : 0,
    bytes_in: count(one.bytesIn),
    bytes_out: count(one.bytesOut),
    credits: count(one.credits),
    code: text(one.code),
    cache: text(one.cache),
    upstream: text(one.upstream),
    batch: "1",
  };
}

const anyText = fc.oneof(fc.constantFrom(...hostile), fc.string({ unit: "binary", maxLength: 200 }), fc.string());
const anyNumber = fc.oneof(
  fc.constantFrom(
    0,
    1,
    -1,
    255,
    65_535,
    65_536,
    2 ** 31,
    2 ** 32 - 1,
    2 ** 32,
    2 ** 53 - 1,
    2 ** 53,
    2 ** 64,
    -(2 ** 31) - 1,
  ),
  fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY, 1e300, 0.9),
  fc.integer({ min: 0, max: 2 ** 40 }),
  fc.double(),
);
const anyFact: fc.Arbitrary<RequestFact> = fc.record({
  at: fc.double({ min: monthMs, max: Date.UTC(2026, 11, 1) - 1, noNaN: true }),
  requestId: anyText,
  accountId: anyText,
  keyId: anyText,
  network: anyText,
  door: fc.constantFrom("rpc", "rest", "ws", "pubsub"),
  method: anyText,
  status: anyNumber,
  rpcCode: fc.option(anyNumber),
  latencyMs: fc.oneof(anyNumber, fc.double()),
  bytesIn: anyNumber,
  bytesOut: anyNumber,
  credits: anyNumber,
  code: anyText,
  cache: fc.constantFrom("HIT", "MISS", ""),
  upstream: anyText,
});

describe("a block of facts", () => {
  test("has every column of the table, in its order", () => {
    const block = new RequestBlock(monthMs, 0);
    block.append(fact({ at: monthMs }), monthMs);
    const names = [...requestsTable.columns, batchColumn].map((column) => column.name);
    expect([...block.encode(1n).columns]).toEqual(names);
  });

  test("arrives as the same facts do in JSONEachRow, for any strings and numbers", async () => {
    const facts = fc.sample(anyFact, { numRuns: 3_000, seed: 20261120 });
    const [ours, json] = [await ledgerIn("ours"), await ledgerIn("json")];
    await writeBlock(ours, facts);
    await json.insertRows("requests", { kind: "rows", rows: facts.map(expectedRow) }, "json");
    // Reading decimals the engine may err in the last digit; latency is compared with the numbers themselves below.
    const sql = "SELECT * EXCEPT (latency_ms) FROM requests ORDER BY ALL";
    expect(await ours.query(sql)).toEqual(await json.query(sql));
    const [count] = await ours.query<{ n: string }>("SELECT count() AS n FROM requests");
    expect(count?.n).toBe("3000");
  });

  test("keeps each fact's columns together and its numbers exact", async () => {
    const facts = fc
      .sample(anyFact, { numRuns: 1_000, seed: 7 })
      .map((one, index) => ({ ...one, at: monthMs + index, requestId: `r${index}` }));
    const connection = await ledgerIn("together");
    await writeBlock(connection, facts);
    const rows = await connection.query<Record<string, unknown>>(
      "SELECT * REPLACE (toInt64(toUnixTimestamp64Milli(at)) AS at) FROM requests ORDER BY at",
    );
    const expected = facts.map(expectedRow).map((row) => ({ ...row, at: String(row["at"]) }));
    expect(rows.map((row) => ({ ...row, latency_ms: Number(row["latency_ms"]) + 0 }))).toEqual(
      expected.map((row) => ({ ...row, latency_ms: Number(Reflect.get(row, "latency_ms")) + 0 })),
    );
  });

  test("takes 50,000 facts of as many accounts and methods, in one part", async () => {
    const connection = await ledgerIn("many");
    const facts = Array.from({ length: 50_000 }, (_, index) =>
      fact({ at: monthMs + index, requestId: `r${index}`, accountId: `a${index}`, method: `m${index}` }),
    );
    await writeBlock(connection, facts, 18_446_744_073_709_551_615n);
    const sql =
      "SELECT count() AS n, uniqExact(method) AS methods, countIf(substring(account_id, 2) = substring(method, 2)) AS right";
    expect(await connection.query(`${sql}, uniqExact(_part) AS parts, any(batch) AS batch FROM requests`)).toEqual([
      { n: "50000", methods: "50000", right: "50000", parts: "1", batch: "18446744073709551615" },
    ]);
  });

  test("grows from any expected number of rows", () => {
    const sizes = [0, 255.5, 256, 300.75, 1_001].map((expected) => {
      const block = new RequestBlock(monthMs, expected);
      for (let index = 0; index < 3_000; index++) block.append(fact({ at: monthMs, requestId: `${index}` }), monthMs);
      return Buffer.from(block.encode(1n).bytes).toString("base64");
    });
    expect(new Set(sizes).size).toBe(1);
  });

  test("keeps no long string alive", () => {
    const block = new RequestBlock(monthMs, 0);
    for (let index = 0; index < 1_000; index++) {
      const long = `${index}${"y".repeat(100_000)}`;
      block.append(fact({ at: monthMs, method: long, upstream: long, requestId: long }), monthMs);
    }
    expect(block.rows).toBe(1_000);
    expect(block.bytes).toBeLessThan(1_000 * 800);
    expect(block.encode(1n).bytes.byteLength).toBeLessThan(1_000 * 800);
  });
});
