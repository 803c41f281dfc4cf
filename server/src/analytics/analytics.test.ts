import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sqlViews } from "@sluice/contract/sql";
import { eventually } from "@sluice/lib/testing";
import { openSqlStand, type SqlStand, standCaller } from "./testing/sql-stand.ts";

let stand: SqlStand;
beforeAll(async () => {
  stand = await openSqlStand();
}, 60_000);
afterAll(async () => {
  await stand?.[Symbol.asyncDispose]();
});

const rows = async (query: string, more: Parameters<SqlStand["ask"]>[1] = {}): Promise<unknown[][]> => {
  const asked = await stand.ask(query, more);
  if (!asked.ok) throw new Error(`${asked.code} ${asked.message}`);
  return asked.rows;
};
const code = async (query: string, more: Parameters<SqlStand["ask"]>[1] = {}): Promise<string> => {
  const asked = await stand.ask(query, more);
  return asked.ok ? "answered" : asked.code;
};

/** Statements that run and are as the slow ones below. */
async function count(): Promise<number> {
  const marked = "query LIKE 'SELECT count() FROM (SELECT arrayJoin(%cityHash64(a, b)%'";
  const [row] = await stand.ledger.query<{ n: string }>(`SELECT count() AS n FROM system.processes WHERE ${marked}`);
  return Number(row?.n);
}

describe("the views", () => {
  test("have the columns and types that the contract tells", async () => {
    for (const { name, columns } of sqlViews) {
      const asked = await stand.ask(`SELECT * FROM ${name} LIMIT 1`);
      const told = columns.map((column) => ({ name: column.name, type: column.type }));
      expect({ name, columns: asked.ok ? asked.columns : asked.message }).toEqual({ name, columns: told });
    }
  });

  test("hold each block once, however often it was written, and none that left the chain", async () => {
    expect(await rows("SELECT slot, blockhash, finalized FROM blocks ORDER BY slot")).toEqual([
      ["1", "hash1", true],
      ["2", "hash2", true],
      ["3", "hash3", false],
      ["4", "hash4", false],
    ]);
    const found = [["4", "hash4"]];
    for (const view of ["transactions", "instructions"]) {
      expect(await rows(`SELECT count(), max(blockhash) FROM ${view}`)).toEqual(found);
    }
  });

  test("are of the network of the request", async () => {
    expect(await rows("SELECT DISTINCT network, blockhash FROM blocks", { caller: { network: "testnet" } })).toEqual([
      ["testnet", "other9"],
    ]);
    expect(await rows("SELECT count() FROM blocks", { caller: { network: "mainnet" } })).toEqual([["0"]]);
  });

  test("show an account its own requests, its own bundles whole, and of others those that landed", async () => {
    expect(await rows("SELECT count() FROM my_requests")).toEqual([["2"]]);
    expect(await rows("SELECT count() FROM my_requests", { caller: { accountId: "acct_two" } })).toEqual([["1"]]);
    expect(await rows("SELECT count() FROM my_requests", { caller: { accountId: "acct_three" } })).toEqual([["0"]]);
    const of = "SELECT bundle_id, own, state, tip, mev_type, endpoint, tip_seen FROM bundles ORDER BY bundle_id";
    expect(await rows(of)).toEqual([
      ["own-dropped", true, "dropped", "7", "arbitrage", "rest", "7"],
      ["own-landed", true, "finalized", "7", "arbitrage", "rest", "7"],
      ["their-landed", false, "finalized", null, "", "", "7"],
    ]);
  });

  test("give u64 exactly", async () => {
    expect(await rows("SELECT max(fee), toUInt128(max(fee)) + 1 FROM transactions")).toEqual([
      ["18446744073709551615", "18446744073709551616"],
    ]);
  });
});

describe("a query", () => {
  test("has typed parameters, lists and 64-bit integers among them", async () => {
    const query = "SELECT {a:UInt64}, {l:Array(String)}, {m:Array(UInt64)}, {n:Nullable(String)}, {b:Bool}";
    const parameters = {
      a: "18446744073709551615",
      l: ["x", "y'"],
      m: ["1", "18446744073709551615"],
      n: null,
      b: true,
    };
    expect(await rows(query, { parameters })).toEqual([
      ["18446744073709551615", ["x", "y'"], ["1", "18446744073709551615"], null, true],
    ]);
    const hostile = "' OR 1=1; DROP TABLE sluice.requests -- \n \\ \t";
    expect(await rows("SELECT {s:String}", { parameters: { s: hostile } })).toEqual([[hostile]]);
    expect(await rows("SELECT count() FROM {v:Identifier}", { parameters: { v: "blocks" } })).toEqual([["4"]]);
  });

  test("may join, nest, name tables of its own and ask for windows", async () => {
    const query = `
      WITH t AS (SELECT slot, blockhash FROM blocks WHERE slot IN (SELECT slot FROM transactions))
      SELECT t.slot, count() OVER (ORDER BY t.slot), tx.signature
      FROM t INNER JOIN transactions AS tx ON tx.slot = t.slot -- a comment
      WHERE has(tx.accounts, 'payee') ORDER BY t.slot LIMIT 2`;
    expect(await rows(query)).toEqual([
      ["1", "1", "signature-hash1"],
      ["2", "2", "signature-hash2"],
    ]);
    expect(await rows("SELECT arrayJoin([3, 1, 2]) AS x ORDER BY x")).toEqual([[1], [2], [3]]);
  });

  test("is answered as CSV and as an Arrow stream too, with its figures beside it", async () => {
    const signal = new AbortController().signal;
    const ask = async (format: "csv" | "arrow") => {
      const bill = { credits: 0 };
      const question = {
        query: "SELECT slot, blockhash FROM blocks ORDER BY slot",
        parameters: {},
        max_rows: 10,
        format,
      };
      const answer = await stand.analytics.run(standCaller, question, { signal, bill });
      const bytes = await new Response(answer.body).bytes();
      expect({ bytes: await answer.end, credits: bill.credits }).toEqual({ bytes: bytes.length, credits: 51 });
      expect(answer.bytesRead > 0n && answer.rowsRead >= 4n).toBe(true);
      return bytes;
    };
    const csv = new TextDecoder().decode(await ask("csv"));
    expect(csv.split("\n").slice(0, 2)).toEqual(['"slot","blockhash"', '1,"hash1"']);
    const arrow = Buffer.from(await ask("arrow"));
    expect(arrow.readUInt32LE(0)).toBe(0xffffffff);
    expect(arrow.includes("hash4")).toBe(true);
  });

  test("costs 50 credits and what it reads, and nothing where it is refused", async () => {
    const before = stand.taken();
    expect(await rows("SELECT count() FROM blocks")).toEqual([["4"]]);
    expect(stand.taken() - before).toBe(51);
    for (const refused of ["SELEC", "SELECT sleep(1)", "SELECT nope FROM blocks"]) await stand.ask(refused);
    expect(stand.taken() - before).toBe(51);
  });

  test("that fails on a value, which the error tells, is paid for as one that answers", async () => {
    const before = stand.taken();
    const failed = await stand.ask("SELECT CAST(concat('v=', any(blockhash)) AS UInt64) FROM blocks");
    expect(failed).toMatchObject({ code: "SQL_INVALID", message: expect.stringContaining("v=") });
    expect(stand.taken() - before).toBeGreaterThanOrEqual(50);
  });

  test("takes no whole number that JSON has rounded", async () => {
    for (const [query, value] of [
      ["SELECT {a:UInt64}", 2 ** 64],
      ["SELECT {a:Array(Int64)}", [1, 2 ** 60]],
    ] as const) {
      const asked = await stand.ask(query, { parameters: { a: typeof value === "number" ? value : [...value] } });
      expect(asked).toMatchObject({ code: "INVALID_INPUT", message: expect.stringContaining("parameters.a") });
    }
    expect(await rows("SELECT {a:Float64}", { parameters: { a: 2 ** 60 } })).toEqual([[2 ** 60]]);
  });

  test("goes through no list that it makes itself for each row", async () => {
    for (const list of ["range(9)", "x", "accounts", "t.accounts"]) {
      const query = `WITH [1] AS x SELECT has(${list}, 1) FROM (SELECT range(9) AS accounts) AS t`;
      expect([list, await code(query)]).toEqual([list, "SQL_NOT_ALLOWED"]);
    }
    expect(await code("SELECT arrayMap(accounts -> has(accounts, 1), [[1]])")).toBe("SQL_NOT_ALLOWED");
    expect(await code("SELECT mapFromArrays([1], [2])[1]")).toBe("SQL_NOT_ALLOWED");
    expect(await code("SELECT CAST(([1], [2]) AS Map(UInt8, UInt8))[1]")).toBe("SQL_NOT_ALLOWED");
    expect(await rows("SELECT has(['a', 'b'], 'a'), countIf(has(t.accounts, 'payee')) FROM transactions AS t")).toEqual(
      [[1, expect.any(String)]],
    );
  });

  test("is told the place of a fault in its own text, and the bound that it met", async () => {
    expect(await stand.ask("SELECT slot FROM blocks WHERE slot >> 1 x")).toMatchObject({
      code: "SQL_SYNTAX",
      message: expect.stringMatching(/^Syntax error at byte \d+, near/),
    });
    expect(await stand.ask("SELECT nope FROM blocks")).toMatchObject({
      code: "SQL_INVALID",
      message: expect.stringContaining("Unknown expression identifier `nope`"),
    });
    expect(await code("SELECT arrayJoin(range(11))", { max_rows: 10 })).toBe("SQL_ROWS_LIMIT");
    expect(await code("SELECT repeat('x', 1000) FROM (SELECT arrayJoin(range(80000)))")).toBe("SQL_RESULT_LIMIT");
    const wide = "SELECT length(groupArray(repeat(toString(a), 100000))) FROM (SELECT arrayJoin(range(1000000)) AS a)";
    expect(await code(wide)).toBe("SQL_MEMORY_LIMIT");
  });

  test("of a tier without SQL is refused before it is read", async () => {
    for (const tier of ["free", "developer"] as const)
      expect(await code("SELEC", { caller: { tier } })).toBe("TIER_REQUIRED");
  });

  test("whose caller leaves is stopped, and leaves its place", async () => {
    const leaving = new AbortController();
    const slow =
      "SELECT count() FROM (SELECT arrayJoin(range(100000)) AS a) AS x CROSS JOIN " +
      "(SELECT arrayJoin(range(100000)) AS b) AS y WHERE cityHash64(a, b) = 1";
    const question = { query: slow, parameters: {}, max_rows: 10, format: "json" as const };
    const running = stand.analytics.run(standCaller, question, { signal: leaving.signal, bill: { credits: 0 } });
    const outcome = running.then(
      () => "answered",
      (error: Error) => error.name,
    );
    await eventually("the start", async () => (await count()) > 0);
    leaving.abort();
    expect(await outcome).toBe("LedgerAbortedError");
    await eventually("the end", async () => (await count()) === 0);
    expect(await code("SELECT 1")).toBe("answered");
    const before = stand.taken();
    const gone = { signal: AbortSignal.abort(), bill: { credits: 0 } };
    expect(await stand.analytics.run(standCaller, question, gone).catch((error: Error) => error.name)).toBe(
      "LedgerAbortedError",
    );
    expect(stand.taken()).toBe(before);
  }, 30_000);

  test("whose caller leaves keeps the account's place until the engine has stopped it", async () => {
    const leaving = new AbortController();
    // One step, in the middle of which the engine does not stop.
    const query = "SELECT arrayMap(x -> arrayMap(y -> cityHash64(x, y), range(10000)), range(10000))";
    const own = async (): Promise<string | undefined> => {
      const ofAccount = "position(Settings['log_comment'], ' acct_leaves ') > 0";
      const sql = `SELECT count() AS n FROM system.processes WHERE ${ofAccount} AND position(query, 'arrayMap') > 0`;
      return (await stand.ledger.query<{ n: string }>(sql))[0]?.n;
    };
    const caller = { ...standCaller, accountId: "acct_leaves" };
    const question = { query, parameters: {}, max_rows: 10, format: "json" as const };
    const running = stand.analytics.run(caller, question, { signal: leaving.signal, bill: { credits: 0 } });
    const left = running.then(
      () => "answered",
      (error: Error) => error.name,
    );
    await eventually("the start", async () => (await own()) !== "0");
    leaving.abort();
    const next = stand.ask("SELECT 1", { caller });
    // The other place is for others.
    expect(await code("SELECT 1")).toBe("answered");
    expect(await left).toBe("LedgerAbortedError");
    expect(await own()).toBe("0");
    expect((await next).ok).toBe(true);
  }, 60_000);

  test("that kills the ledger's engine is told so, and costs nothing that was acknowledged", async () => {
    const before = await stand.ledger.query("SELECT count() AS n, sum(credits) AS c FROM requests");
    const slow =
      "SELECT count() FROM (SELECT arrayJoin(range(100000)) AS a) AS x, (SELECT arrayJoin(range(100000)) AS b) AS y";
    const asked = stand.ask(`${slow} WHERE cityHash64(a, b) = 1`);
    await eventually("the start", async () => (await count()) > 0);
    process.kill(stand.ledger.childPid() ?? 0, "SIGKILL");
    expect(await asked).toMatchObject({ ok: false, code: "STORE_UNAVAILABLE" });
    await stand.ledger.reach();
    expect(await stand.ledger.query("SELECT count() AS n, sum(credits) AS c FROM requests")).toEqual(before);
    expect(await rows("SELECT count() FROM blocks")).toEqual([["4"]]);
  }, 60_000);
});
