import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { eventually } from "@sluice/lib/testing";
import { connectionLimits } from "../connection.ts";
import { LedgerAbortedError, LedgerQueryError } from "../errors.ts";
import type { Ledger } from "../ledger.ts";
import type { FoundRequests, RequestPlace, RequestSearch } from "../request-search.ts";
import { assetIndex } from "./assets.ts";
import { bundleFacts } from "./bundle-facts.ts";
import { fact, residentMiB } from "./ledger-directory.ts";
import { poolSamples } from "./pool-samples.ts";
import { webhookAttempts } from "./webhook-attempts.ts";

const largest = 18446744073709551615n;

async function queryError(running: Promise<unknown>): Promise<LedgerQueryError> {
  const error: unknown = await running.then(
    () => null,
    (thrown: unknown) => thrown,
  );
  if (error instanceof LedgerQueryError) return error;
  throw new Error(`expected a LedgerQueryError, got ${String(error)}`);
}

/** Statements that run now and contain `mark`, other than the one that asks. */
async function running(ledger: Ledger, mark: string): Promise<number> {
  const sql = "SELECT count() AS n FROM system.processes WHERE position(query, {mark:String}) > 0";
  const [row] = await ledger.query<{ n: string }>(`${sql} AND query NOT LIKE '%system.processes%'`, { mark });
  return Number(row?.n ?? 0);
}

function values(ledger: () => Ledger): void {
  test("u64 arrives exactly, as result, as parameter and as inserted bigint", async () => {
    const sql = "SELECT toUInt64(18446744073709551615) AS x, {y:UInt64} AS y, [9007199254740993::UInt64] AS z";
    const [row] = await ledger().query(sql, { y: largest });
    expect(row).toEqual({ x: "18446744073709551615", y: "18446744073709551615", z: ["9007199254740993"] });
    const at = Date.UTC(2020, 1, 1);
    await ledger().insert("requests", [{ at, request_id: "u64", account_id: "exact", credits: largest }]);
    const [stored] = await ledger().query("SELECT credits FROM requests WHERE account_id = 'exact'");
    expect(stored).toEqual({ credits: "18446744073709551615" });
  });

  test("parameters carry hostile text unchanged and never become SQL", async () => {
    const hostile = [
      "tab\there",
      "line\nbreak\r\n",
      "back\\slash \\t \\n \\\\",
      "quote ' double \" back ` '); DROP TABLE requests; --",
      "\\'",
      "ünïcödé ☃ 🚰 \u2028",
      "\\N",
      "",
      "{x:String} ? :name $1",
      "trailing\\",
    ];
    for (const text of hostile) {
      const [row] = await ledger().query<{ v: string; n: string }>("SELECT {v:String} AS v, length({v:String}) AS n", {
        v: text,
      });
      expect(row).toEqual({ v: text, n: String(Buffer.byteLength(text)) });
    }
    const [list] = await ledger().query("SELECT {list:Array(String)} AS list", { list: hostile });
    expect(list).toEqual({ list: hostile });
  });

  test("null, long lists and identifiers are parameters too", async () => {
    const long = Array.from({ length: 5_000 }, (_, index) => `signature-${index}`);
    const sql =
      "SELECT {none:Nullable(String)} AS none, length({long:Array(String)}) AS n FROM {d:Identifier}.{t:Identifier} LIMIT 1";
    const [row] = await ledger().query(sql, { none: null, long, d: "system", t: "one" });
    expect(row).toEqual({ none: null, n: "5000" });
  });

  test("settings of a call reach the statement and do not stay for the next", async () => {
    const sql = "SELECT getSetting('max_block_size') AS v";
    const [set] = await ledger().query<{ v: string }>(sql, {}, { max_block_size: 1234 });
    const [unset] = await ledger().query<{ v: string }>(sql);
    expect(Number(set?.v)).toBe(1234);
    expect(Number(unset?.v)).not.toBe(1234);
  });
}

function failures(ledger: () => Ledger): void {
  test("errors carry ClickHouse's code and name, and the next statement works", async () => {
    const cases: readonly (readonly [string, number])[] = [
      ["SELEC 1", 62],
      ["SELECT * FROM nowhere", 60],
      ["SELECT nothing", 47],
      ["SELECT throwIf(1, 'it''s (WRONG)')", 395],
      ["SELECT {p:String}", 456],
      ["SELECT 1; SELECT 2", 62],
    ];
    for (const [sql, code] of cases) expect((await queryError(ledger().query(sql))).engineCode).toBe(code);
    expect(await ledger().query<{ a: number }>("SELECT 1 AS a")).toEqual([{ a: 1 }]);
  });

  test("an unknown setting is refused by its code", async () => {
    expect((await queryError(ledger().query("SELECT 1", {}, { no_such_setting: 1 }))).engineCode).toBe(115);
  });

  test("a failure after the first rows is an error, not a short result", async () => {
    const sql = "SELECT throwIf(number = 2000000) AS x FROM numbers(3000000) SETTINGS max_threads = 1";
    const read = async (): Promise<number> => {
      let rows = 0;
      for await (const group of ledger().stream(sql)) rows += group.length;
      return rows;
    };
    expect((await queryError(read())).engineCode).toBe(395);
  });

  test("max_execution_time ends a statement", async () => {
    const sql = "SELECT count() FROM numbers(1e13) WHERE sipHash64(number) = 1";
    const startedAt = performance.now();
    const error = await queryError(ledger().query(sql, {}, { max_execution_time: 0.5 }));
    expect(error.engineCode).toBe(159);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
  });

  test("limits on memory and rows read have their own codes", async () => {
    const memory = ledger().query("SELECT groupArray(number) FROM numbers(1e8)", {}, { max_memory_usage: 20_000_000 });
    expect((await queryError(memory)).engineCode).toBe(241);
    const rows = ledger().query(
      "SELECT count() FROM numbers(1e7) WHERE number % 3 = 1",
      {},
      { max_rows_to_read: 1000 },
    );
    expect((await queryError(rows)).engineCode).toBe(158);
  });
}

function cancelling(ledger: () => Ledger): void {
  test("a statement whose caller aborts is stopped in the engine", async () => {
    const abort = new AbortController();
    const sql = "SELECT count() FROM numbers(1e13) WHERE sipHash64(number) = 20261120";
    const asked = ledger().query(sql, {}, {}, { signal: abort.signal });
    const outcome = asked.then(
      () => null,
      (error: unknown) => error,
    );
    await eventually("the statement's start", async () => (await running(ledger(), "20261120")) === 1);
    abort.abort();
    expect(await outcome).toBeInstanceOf(LedgerAbortedError);
    await eventually("the statement's end", async () => (await running(ledger(), "20261120")) === 0);
  });

  test("an endless stream that its reader leaves is stopped in the engine", async () => {
    let rows = 0;
    for await (const group of ledger().stream("SELECT number + 777001 AS n FROM system.numbers")) {
      rows += group.length;
      if (rows > 300_000) break;
    }
    await eventually("the stream's end", async () => (await running(ledger(), "777001")) === 0);
    expect(rows).toBeGreaterThan(300_000);
  });
}

function volume(ledger: () => Ledger): void {
  test("a million rows stream through in order while the engine's memory stays bounded", async () => {
    const pid = ledger().childPid();
    const before = pid === null ? 0 : residentMiB(pid);
    let peak = before;
    let next = 0;
    for await (const group of ledger().stream<{ n: string }>("SELECT number AS n FROM numbers(1000000)")) {
      for (const row of group) if (row.n !== String(next++)) throw new Error(`row ${next} is ${row.n}`);
      if (pid !== null) peak = Math.max(peak, residentMiB(pid));
    }
    expect(next).toBe(1_000_000);
    expect(peak - before).toBeLessThan(250);
  });

  test("100,000 rows are inserted whole", async () => {
    const at = Date.UTC(2021, 5, 15);
    const rows = Array.from({ length: 100_000 }, (_, index) => ({
      at: at + index,
      request_id: `r${index}`,
      account_id: "many",
      method: "getSlot",
      credits: index,
    }));
    await ledger().insert("requests", rows);
    const sql =
      "SELECT count() AS n, sum(credits) AS sum, uniqExact(request_id) AS ids FROM requests WHERE account_id = 'many'";
    expect(await ledger().query(sql)).toEqual([{ n: "100000", sum: "4999950000", ids: "100000" }]);
  });

  test("rows of several months and none at all are taken", async () => {
    await ledger().insert("requests", []);
    const rows = [0, 1, 2, 3].map((month) => ({ at: Date.UTC(2022, month, 1), account_id: "months" }));
    await ledger().insert("requests", rows);
    const sql = "SELECT count() AS n, uniqExact(toMonth(at)) AS months FROM requests WHERE account_id = 'months'";
    expect(await ledger().query(sql)).toEqual([{ n: "4", months: "4" }]);
  });

  test("more concurrent calls than places all get their own answer", async () => {
    const calls = Array.from({ length: connectionLimits.concurrentMax * 6 }, async (_, index) => {
      const [row] = await ledger().query<{ i: number }>("SELECT {i:UInt32} AS i, sleep(0.01)", { i: index });
      return row?.i;
    });
    expect(await Promise.all(calls)).toEqual(calls.map((_, index) => index));
  });
}

const anyRequest = {
  accountId: null,
  keyId: null,
  network: null,
  method: null,
  status: null,
  code: null,
  rpcCode: null,
};

function requestSearch(ledger: () => Ledger): void {
  const at = Date.now() - 10_000;
  const accountId = `search-${at}`;
  const all = { ...anyRequest, accountId, sinceMs: at - 1_000, untilMs: at + 1_000, after: null, limit: 100 };
  const idOf = (name: string): string => `req_${at}-${name}`;
  const made = (name: string, offsetMs: number, changes: object) =>
    fact({ accountId, requestId: idOf(name), at: at + offsetMs, ...changes });
  const facts = [
    made("a", 0, { method: "getSlot" }),
    made("b", 1, { method: "getBlock", status: 429, rpcCode: -33429, keyId: "key-2" }),
    ...Array.from({ length: 5 }, (_, index) => made("batch", 2, { method: `m${index}`, bytesOut: index })),
    made("c", 3, { network: "mainnet", rpcCode: -32602, code: "INVALID_PARAMS" }),
    made("socket", 4, { status: 101, door: "pubsub", method: "pubsub" }),
    made("socket", 5, { status: 1000, door: "pubsub", method: "pubsub" }),
    fact({ accountId: `${accountId}-other`, requestId: idOf("other"), at }),
  ];

  beforeAll(async () => {
    for (const one of facts) ledger().requests.append(one);
    await ledger().requests.flush();
  });

  test("a request is found by its id with all that is known of it, by its account and by operators alone", async () => {
    const { requests } = ledger();
    expect(await requests.find(idOf("b"), accountId)).toEqual(facts.filter(({ requestId }) => requestId === idOf("b")));
    expect((await requests.find(idOf("batch"), null)).map(({ method }) => method)).toEqual([
      "m0",
      "m1",
      "m2",
      "m3",
      "m4",
    ]);
    expect((await requests.find(idOf("socket"), accountId)).map(({ status }) => status)).toEqual([101, 1000]);
    expect(await requests.find(idOf("other"), accountId)).toEqual([]);
    expect(await requests.find(idOf("other"), null)).toHaveLength(1);
    expect(await requests.find("' OR 1=1 --", null)).toEqual([]);
  });

  test("each filter of a search takes what it names and nothing else", async () => {
    const idsBy = async (filter: Partial<RequestSearch>): Promise<string[]> => {
      const { facts: found } = await ledger().requests.search({ ...all, ...filter });
      return found.map(({ requestId }) => requestId.slice(idOf("").length));
    };
    expect(await idsBy({})).toEqual(["socket", "c", "batch", "batch", "batch", "batch", "batch", "b", "a"]);
    expect(await idsBy({ keyId: "key-2" })).toEqual(["b"]);
    expect(await idsBy({ method: "getSlot", network: "devnet" })).toEqual(["a"]);
    expect(await idsBy({ network: "mainnet" })).toEqual(["c"]);
    expect(await idsBy({ status: 429 })).toEqual(["b"]);
    expect(await idsBy({ status: 101 })).toEqual(["socket"]);
    expect(await idsBy({ rpcCode: -32602 })).toEqual(["c"]);
    expect(await idsBy({ code: "INVALID_PARAMS", rpcCode: null })).toEqual(["c"]);
    // A record without a code, as earlier versions wrote them, is found by the number that the name has.
    expect(await idsBy({ code: "RATE_LIMIT_EXCEEDED", rpcCode: -33429 })).toEqual(["b"]);
    expect(await idsBy({ code: "RATE_LIMIT_EXCEEDED", rpcCode: null })).toEqual([]);
    expect(await idsBy({ code: "QUOTA_EXCEEDED", rpcCode: -32602 })).toEqual([]);
    expect(await idsBy({ sinceMs: at + 3, untilMs: at + 4 })).toEqual(["c"]);
    expect(await idsBy({ accountId: "nobody" })).toEqual([]);
    expect(await idsBy({ accountId: null, sinceMs: at, untilMs: at + 1 })).toEqual(["other", "a"]);
  });

  test("a page has at least one fact and at most as many as one answer may hold", async () => {
    for (const limit of [0, -1, 1.9]) expect((await ledger().requests.search({ ...all, limit })).facts).toHaveLength(1);
    expect((await ledger().requests.search({ ...all, limit: Number.MAX_SAFE_INTEGER })).facts).toHaveLength(9);
  });

  test("pages of any size join without a gap or a repetition, also inside a batch", async () => {
    for (const limit of [1, 2, 3, 4, 7, 9]) {
      const read: string[] = [];
      let after: RequestPlace | null = null;
      for (let page = 0; page < 20; page++) {
        const found: FoundRequests = await ledger().requests.search({ ...all, limit, after });
        read.push(...found.facts.map(({ requestId, method }) => `${requestId.slice(idOf("").length)} ${method}`));
        expect(found.facts.length).toBeLessThanOrEqual(limit);
        after = found.next;
        if (after === null) break;
      }
      const batch = [0, 1, 2, 3, 4].map((index) => `batch m${index}`);
      expect(read).toEqual(["socket pubsub", "c getSlot", ...batch, "b getBlock", "a getSlot"]);
    }
  });
}

function requestFacts(ledger: () => Ledger): void {
  test("appended facts are read back as they were, newest first, and summed for the last hour", async () => {
    const now = Date.now();
    const accountId = `usage-${now}`;
    const facts = [
      fact({ accountId, at: now - 3_000, requestId: "a", method: "getSlot", credits: 1 }),
      fact({ accountId, at: now - 2_000, requestId: "b", method: "getBlock", credits: 5, rpcCode: -32602 }),
      fact({ accountId, at: now - 1_000, requestId: "c", method: "getBlock", credits: 5, status: 429, cache: "HIT" }),
    ];
    for (const one of facts) ledger().requests.append(one);
    await ledger().requests.flush();
    const all = { sinceMs: now - 60_000, untilMs: now + 60_000, after: null, limit: 10 };
    expect(await ledger().requests.search({ ...anyRequest, ...all, accountId })).toEqual({
      facts: [...facts].reverse(),
      next: null,
    });
    const hour = await ledger().requests.lastHour(accountId);
    expect([hour.requests, hour.errors, hour.credits]).toEqual([3, 2, 11]);
    expect(hour.byMethod).toEqual([
      { method: "getBlock", requests: 2, errors: 2, credits: 10 },
      { method: "getSlot", requests: 1, errors: 0, credits: 1 },
    ]);
    expect(hour.byMinute).toHaveLength(60);
    expect(hour.byMinute.reduce((sum, minute) => sum + minute.requests, 0)).toBe(3);
    expect((await ledger().requests.lastHour(null)).requests).toBeGreaterThanOrEqual(3);
    expect((await ledger().requests.lastHour("nobody")).requests).toBe(0);
  });

  test("usage is counted by UTC day, method and key, of the account and network that are asked for alone", async () => {
    const accountId = `usage-by-group-${Date.now()}`;
    const [first, second, third] = [Date.UTC(2026, 9, 31), Date.UTC(2026, 10, 1), Date.UTC(2026, 10, 2)];
    const facts = [
      fact({ accountId, at: first - 1, requestId: "before" }),
      fact({ accountId, at: first, requestId: "a", method: "getSlot", credits: 1, cache: "HIT", latencyMs: 1 }),
      fact({ accountId, at: second - 1, requestId: "b", method: "getBlock", credits: 5, keyId: "key-2", latencyMs: 9 }),
      fact({ accountId, at: second, requestId: "c", method: "getBlock", credits: 5, status: 429, cache: "" }),
      fact({ accountId, at: second, requestId: "d", method: "getBlock", network: "mainnet", credits: 7 }),
      fact({ accountId, at: third, requestId: "after" }),
      fact({ accountId: `${accountId}-other`, at: second, requestId: "other" }),
    ];
    for (const one of facts) ledger().requests.append(one);
    await ledger().requests.flush();
    const range = { accountId, fromMs: first, untilMs: third, network: null, after: null, limit: 10 } as const;
    const byDay = await ledger().requests.usage({ ...range, groupBy: "day" });
    expect(byDay.rows.map(({ group, requests, errors, credits }) => [group, requests, errors, credits])).toEqual([
      ["2026-10-31", 2, 0, 6n],
      ["2026-11-01", 2, 1, 12n],
    ]);
    expect(byDay.rows[0]).toMatchObject({ bytesIn: 200n, bytesOut: 400n, cacheHits: 1, cacheMisses: 1 });
    expect(byDay.rows[0]?.latencyMs?.p50).toBeGreaterThanOrEqual(1);
    expect(byDay.rows[0]?.latencyMs?.p99).toBeLessThanOrEqual(9);
    expect(byDay.total).toMatchObject({ requests: 4, errors: 1, credits: 18n, cacheHits: 1, cacheMisses: 2 });
    const byMethod = await ledger().requests.usage({ ...range, groupBy: "method", network: "devnet", limit: 1 });
    expect(byMethod.rows.map(({ group, requests, credits }) => [group, requests, credits])).toEqual([
      ["getBlock", 2, 10n],
    ]);
    expect([byMethod.more, byMethod.total.requests]).toEqual([true, 3]);
    const rest = await ledger().requests.usage({ ...range, groupBy: "method", network: "devnet", after: "getBlock" });
    expect([rest.rows.map(({ group }) => group), rest.more]).toEqual([["getSlot"], false]);
    const byKey = await ledger().requests.usage({ ...range, groupBy: "key" });
    expect(byKey.rows.map(({ group, requests }) => [group, requests])).toEqual([
      ["key-1", 3],
      ["key-2", 1],
    ]);
    const months = { accountId, fromMs: Date.UTC(2026, 9, 1), untilMs: Date.UTC(2026, 11, 1) };
    const counts = await ledger().requests.recorded(months);
    expect([...counts].sort()).toEqual([
      ["2026-10", 3n],
      ["2026-11", 3n],
    ]);
    const none = await ledger().requests.usage({ ...range, groupBy: "day", accountId: "' OR 1=1 --" });
    expect([none.rows, none.total.requests, none.total.latencyMs]).toEqual([[], 0, null]);
  });
}

function connectionFacts(ledger: () => Ledger): void {
  test("a connection counts once, when it ends, with all that its facts reported; its length is no latency, and its end no error unless it failed", async () => {
    const at = Date.now() - 5_000;
    const accountId = `connections-${at}`;
    const of = (requestId: string, changes: object) =>
      fact({ accountId, at, requestId, door: "pubsub", method: "pubsub", cache: "", latencyMs: 60_000, ...changes });
    const facts = [
      of("a", { status: 101, credits: 3 }),
      of("a", { status: 101, credits: 2, at: at + 1 }),
      of("a", { status: 1000, credits: 1, at: at + 2 }),
      of("b", { status: 1006, credits: 0 }),
      of("c", { status: 4402, credits: 4 }),
      fact({ accountId, at, requestId: "d", credits: 1, latencyMs: 5 }),
    ];
    for (const one of facts) ledger().requests.append(one);
    await ledger().requests.flush();
    const range = { accountId, fromMs: at - 1, untilMs: at + 10, network: null, after: null, limit: 10 } as const;
    const { rows, total } = await ledger().requests.usage({ ...range, groupBy: "method" });
    const connections = rows.find(({ group }) => group === "pubsub");
    expect(connections).toMatchObject({ requests: 3, errors: 1, credits: 10n, bytesOut: 1_000n, latencyMs: null });
    expect([total.requests, total.credits, total.latencyMs?.p99]).toEqual([4, 11n, 5]);
    const hour = await ledger().requests.lastHour(accountId);
    expect([hour.requests, hour.errors, hour.credits]).toEqual([4, 1, 11]);
  });
}

/** What every ledger must do, whichever engine runs it. `open` is called once; its ledger is closed at the end. */
export function ledgerConformance(name: string, open: () => Promise<Ledger>): void {
  describe(`ledger conformance on ${name}`, () => {
    let opened: Ledger | null = null;
    const ledger = (): Ledger => {
      if (opened === null) throw new Error("the ledger did not open");
      return opened;
    };
    beforeAll(async () => {
      opened = await open();
    });
    afterAll(async () => await opened?.[Symbol.asyncDispose]());
    values(ledger);
    failures(ledger);
    cancelling(ledger);
    volume(ledger);
    requestFacts(ledger);
    describe("requests by id", () => requestSearch(ledger));
    connectionFacts(ledger);
    bundleFacts(ledger);
    webhookAttempts(ledger);
    poolSamples(ledger);
    describe("digital assets", () => assetIndex(ledger));
  });
}
