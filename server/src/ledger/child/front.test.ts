import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { gunzipSync, gzipSync } from "node:zlib";
import { systemClock, systemRandom } from "@sluice/lib";
import { eventually } from "@sluice/lib/testing";
import type { LedgerAddress } from "../endpoint.ts";
import { ChildSupervisor } from "../supervisor.ts";
import { ledgerDirectory, recordingLog } from "../testing/ledger-directory.ts";

const directory = ledgerDirectory();
let supervisor: ChildSupervisor;
let address: LedgerAddress;

beforeAll(async () => {
  const dependencies = { clock: systemClock, random: systemRandom, log: recordingLog() };
  supervisor = await ChildSupervisor.start({ directory: directory.path }, dependencies);
  address = await supervisor.current();
  await ask("CREATE TABLE default.t (a UInt64, s String) ENGINE = MergeTree ORDER BY a");
});
afterAll(async () => {
  await supervisor[Symbol.asyncDispose]();
  directory[Symbol.dispose]();
});

interface Asked {
  readonly query?: Record<string, string>;
  readonly headers?: Record<string, string>;
  readonly method?: string;
  readonly body?: BodyInit;
  readonly signal?: AbortSignal;
}

/** A request as any HTTP client would send it: the statement is the body, or in `query`. */
async function ask(sql: string | null, asked: Asked = {}): Promise<Response> {
  const url = new URL(address.url);
  for (const [name, value] of Object.entries(asked.query ?? {})) url.searchParams.set(name, value);
  const headers = { "X-ClickHouse-User": address.user, "X-ClickHouse-Key": address.password, ...asked.headers };
  const body = asked.body ?? sql;
  return await fetch(url, {
    method: asked.method ?? "POST",
    headers,
    ...(body === null ? {} : { body }),
    ...(asked.signal === undefined ? {} : { signal: asked.signal }),
    decompress: false,
  });
}

async function text(sql: string, asked: Asked = {}): Promise<string> {
  const answer = await ask(sql, asked);
  const body = await answer.text();
  if (answer.status !== 200) throw new Error(`${answer.status}: ${body}`);
  return body;
}

async function inserted(asked: Asked): Promise<string> {
  await text("TRUNCATE TABLE t");
  const answer = await ask(null, asked);
  expect([answer.status, await answer.text()]).toEqual([200, ""]);
  return (await text("SELECT count(), sum(a) FROM t")).trim();
}

describe("who may ask", () => {
  test("ping needs no password and says Ok", async () => {
    const answer = await fetch(`${address.url}/ping`);
    expect([answer.status, await answer.text()]).toEqual([200, "Ok.\n"]);
  });

  test("a wrong, empty or missing password is 403 with ClickHouse's code", async () => {
    for (const headers of [
      { "X-ClickHouse-Key": "wrong" },
      { "X-ClickHouse-Key": "" },
      { Authorization: "Basic eDp5" },
    ]) {
      const answer = await ask("SELECT 1", { headers });
      expect([answer.status, answer.headers.get("x-clickhouse-exception-code")]).toEqual([403, "516"]);
    }
  });

  test("Basic works as ClickHouse's own headers do", async () => {
    const Authorization = `Basic ${btoa(`${address.user}:${address.password}`)}`;
    expect(await text("SELECT 1", { headers: { Authorization } })).toBe("1\n");
  });

  test("the child listens on loopback only and its environment holds no secret", async () => {
    expect(new URL(address.url).hostname).toBe("127.0.0.1");
    const environment = await Bun.file(`/proc/${supervisor.pid()}/environ`).text();
    const names = environment.split("\0").map((entry) => entry.split("=")[0]);
    expect(names.filter((name) => name !== "").sort()).toEqual(["LC_ALL", "TZ", "UV_THREADPOOL_SIZE"]);
    const line = await Bun.file(`/proc/${supervisor.pid()}/cmdline`).text();
    expect(line).not.toContain(address.password);
  });
});

describe("statements", () => {
  test("the text may be in the URL, in the body, or begin in one and end in the other", async () => {
    expect(await text("SELECT 1")).toBe("1\n");
    expect(await (await ask(null, { method: "GET", query: { query: "SELECT 2" } })).text()).toBe("2\n");
    expect(await text("+ 2", { query: { query: "SELECT 1" } })).toBe("3\n");
  });

  test("headers name query, format and figures", async () => {
    const answer = await ask("SELECT 1 AS x FORMAT JSONEachRow", { query: { query_id: "mine" } });
    expect(answer.headers.get("x-clickhouse-query-id")).toBe("mine");
    expect(answer.headers.get("x-clickhouse-format")).toBe("JSONEachRow");
    expect(answer.headers.get("content-type")).toBe("application/x-ndjson; charset=UTF-8");
    expect(answer.headers.get("x-clickhouse-timezone")).toBe("UTC");
    expect(JSON.parse(answer.headers.get("x-clickhouse-summary") ?? "{}")).toMatchObject({ written_rows: "0" });
  });

  test("default_format counts when the statement names none, and FORMAT wins", async () => {
    expect(await text("SELECT 1 AS x", { query: { default_format: "JSONEachRow" } })).toBe('{"x":1}\n');
    expect(await text("SELECT 1 AS x FORMAT CSV", { query: { default_format: "JSONEachRow" } })).toBe("1\n");
    expect((await ask("SELECT 1", { query: { default_format: "Nonsense" } })).status).toBe(404);
  });

  test("database chooses where unqualified names live, and an unknown one is 404", async () => {
    expect(await text("SELECT dummy FROM one", { query: { database: "system" } })).toBe("0\n");
    const answer = await ask("SELECT 1", { query: { database: "no`where" } });
    expect([answer.status, answer.headers.get("x-clickhouse-exception-code")]).toEqual([404, "81"]);
  });

  test("parameters arrive as ClickHouse unescapes them", async () => {
    const query = { param_v: "a\\tb\\nc\\\\d'e", param_n: "\\N", param_l: "['x','y\\'z']" };
    const sql = "SELECT {v:String} AS v, {n:Nullable(String)} AS n, {l:Array(String)} AS l FORMAT JSONCompactEachRow";
    expect(JSON.parse(await text(sql, { query }))).toEqual(["a\tb\nc\\d'e", null, ["x", "y'z"]]);
  });

  test("errors have ClickHouse's status, header and text", async () => {
    const cases: readonly (readonly [string, number, string, RegExp])[] = [
      ["SELEC", 400, "62", /^Code: 62\. DB::Exception: Syntax error.*\(SYNTAX_ERROR\) \(version [\d.]+\)\n$/s],
      ["SELECT * FROM nope", 404, "60", /^Code: 60\. DB::Exception: .*\(UNKNOWN_TABLE\) \(version/s],
      ["SELECT 1; SELECT 2", 400, "62", /Multi-statements are not allowed/],
      ["SELECT 1 INTO OUTFILE '/tmp/never'", 500, "358", /INTO OUTFILE is not allowed/],
      ["SELECT throwIf(1)", 500, "395", /^Code: 395\./],
    ];
    for (const [sql, status, code, body] of cases) {
      const answer = await ask(sql);
      expect([answer.status, answer.headers.get("x-clickhouse-exception-code")]).toEqual([status, code]);
      expect(await answer.text()).toMatch(body);
    }
  });

  test("a time limit is always set, and never above the ceiling", async () => {
    const seconds = "SELECT getSetting('max_execution_time')";
    expect(await text(seconds)).toBe("30\n");
    expect(await text(seconds, { query: { max_execution_time: "0" } })).toBe("30\n");
    expect(await text(seconds, { query: { max_execution_time: "100000" } })).toBe("240\n");
    const answer = await ask("SELECT count() FROM numbers(1e13) WHERE sipHash64(number) = 1", {
      query: { max_execution_time: "0.3" },
    });
    expect([answer.status, answer.headers.get("x-clickhouse-exception-code")]).toEqual([408, "159"]);
  });

  test("GET changes nothing", async () => {
    const answer = await ask(null, { method: "GET", query: { query: "CREATE TABLE x (a Int8) ENGINE = Memory" } });
    expect(answer.headers.get("x-clickhouse-exception-code")).toBe("164");
  });

  test("sessions and native compression are refused by name", async () => {
    for (const name of ["session_id", "compress", "decompress"]) {
      expect((await ask("SELECT 1", { query: { [name]: "1" } })).status).toBe(501);
    }
  });

  test("a gzip answer is given to whom asks for it", async () => {
    const asked = { query: { enable_http_compression: "1" }, headers: { "Accept-Encoding": "gzip" } };
    const answer = await ask("SELECT 42", asked);
    expect(answer.headers.get("content-encoding")).toBe("gzip");
    expect(gunzipSync(await answer.arrayBuffer()).toString()).toBe("42\n");
    const long = await ask("SELECT number FROM numbers(2000000)", asked);
    const rows = gunzipSync(await long.arrayBuffer())
      .toString()
      .split("\n");
    expect([rows.length, rows[1_999_999]]).toEqual([2_000_001, "1999999"]);
  });

  test("formats with a header are whole, and one that cannot be streamed is refused when too large", async () => {
    const csv = await text("SELECT number AS n FROM numbers(300000) FORMAT CSVWithNames");
    expect(csv.split("\n").filter((line) => line === '"n"')).toHaveLength(1);
    const answer = await ask("SELECT repeat(toString(number), 200) FROM numbers(200000) FORMAT JSON");
    expect(answer.headers.get("x-clickhouse-exception-code")).toBe("396");
  });

  test("result_overflow_mode = break gives what fits", async () => {
    const query = { max_result_rows: "10", result_overflow_mode: "break", max_block_size: "10" };
    const rows = (await text("SELECT number FROM numbers(1000)", { query })).trim().split("\n");
    expect(rows.length).toBeLessThan(1000);
  });

  test("more statements than places are refused, and the places come back", async () => {
    const asked = Array.from({ length: 20 }, () => ask("SELECT sleep(0.2)"));
    const codes = (await Promise.all(asked)).map((answer) => answer.headers.get("x-clickhouse-exception-code"));
    expect(codes.filter((code) => code === null).length).toBe(12);
    expect(codes.filter((code) => code === "202").length).toBe(8);
    expect(await text("SELECT 1")).toBe("1\n");
  });

  test("a caller who goes away ends the statement, before and during its result", async () => {
    const before = new AbortController();
    const slow = ask("SELECT count(), 'gone-1' FROM numbers(1e13) WHERE sipHash64(number) = 1", {
      signal: before.signal,
    });
    const runs = async (mark: string): Promise<string> =>
      await text(`SELECT count() FROM system.processes WHERE query LIKE '%${mark}%' AND query NOT LIKE '%system.p%'`);
    await eventually("the start", async () => (await runs("gone-1")) === "1\n");
    before.abort();
    await slow.catch(() => undefined);
    await eventually("the end", async () => (await runs("gone-1")) === "0\n");
    const during = new AbortController();
    const endless = await ask("SELECT number, 'gone-2' FROM system.numbers", { signal: during.signal });
    await endless.body?.getReader().read();
    during.abort();
    await eventually("the end", async () => (await runs("gone-2")) === "0\n");
  });
});

describe("inserts", () => {
  const lines = Array.from({ length: 1000 }, (_, index) => `{"a":"${index}","s":"x"}`).join("\n");
  const query = { query: "INSERT INTO t FORMAT JSONEachRow" };

  test("data in the body, statement in the URL", async () => {
    expect(await inserted({ query, body: lines })).toBe("1000\t499500");
  });

  test("gzip and deflate bodies, and chunked ones", async () => {
    expect(await inserted({ query, headers: { "Content-Encoding": "gzip" }, body: gzipSync(lines) })).toBe(
      "1000\t499500",
    );
    const chunked = new ReadableStream({
      async start(controller) {
        for (const line of lines.split("\n")) controller.enqueue(Buffer.from(`${line}\n`));
        controller.close();
      },
    });
    expect(await inserted({ query, body: chunked })).toBe("1000\t499500");
  });

  test("statement and data both in the body, VALUES and FORMAT", async () => {
    expect(await inserted({ body: "INSERT INTO t VALUES (1, 'a;b'), (2, '')" })).toBe("2\t3");
    expect(await inserted({ body: `INSERT INTO t FORMAT JSONEachRow\n${lines}` })).toBe("1000\t499500");
    expect(await inserted({ query: { query: "INSERT INTO `default`.`t` (`s`, a) VALUES" }, body: "('x', 7)" })).toBe(
      "1\t7",
    );
  });

  test("binary formats", async () => {
    await inserted({ query, body: lines });
    const native = await (await ask("SELECT * FROM t FORMAT Native")).arrayBuffer();
    expect(await inserted({ query: { query: "INSERT INTO t FORMAT Native" }, body: native })).toBe("1000\t499500");
    const parquet = await (await ask("SELECT * FROM t FORMAT Parquet")).arrayBuffer();
    expect(await inserted({ query: { query: "INSERT INTO t FORMAT Parquet" }, body: parquet })).toBe("1000\t499500");
  });

  test("data beyond the memory bound goes through a file that is gone afterwards", async () => {
    const row = `{"a":1,"s":"${"y".repeat(1000)}"}\n`;
    const body = row.repeat(20_000);
    expect(
      await inserted({ query: { query: "INSERT INTO t SETTINGS max_insert_threads = 1 FORMAT JSONEachRow" }, body }),
    ).toBe("20000\t20000");
    expect(await Array.fromAsync(new Bun.Glob("*").scan(`${directory.path}/spool`))).toEqual([]);
  });

  test("no data is no rows", async () => {
    expect(await inserted({ query })).toBe("0\t0");
  });

  test("data is never run as a statement, whatever stands behind an empty line or a semicolon", async () => {
    const evil = "CREATE TABLE default.evil (x UInt8) ENGINE = Memory";
    const attempts: readonly (readonly [string, string])[] = [
      ["INSERT INTO t FORMAT JSONEachRow", `{"a":1}\n\n${evil}`],
      ["INSERT INTO t FORMAT CSV", `1,"x"\n\n${evil}`],
      ["INSERT INTO t FORMAT TSV", `1\tx\n\n${evil}`],
      ["INSERT INTO t VALUES", `(1,'x'); ${evil}`],
      ["INSERT INTO t FORMAT Values", `(1,'x')\n\n${evil}`],
    ];
    for (const [query, body] of attempts) {
      await (await ask(null, { query: { query }, body })).text();
      await (await ask(`${query} ${body}`)).text();
    }
    expect((await text("SELECT count() FROM system.tables WHERE name = 'evil'")).trim()).toBe("0");
  });

  test("rows apart by an empty line, SETTINGS before VALUES, and binary data with line ends are taken", async () => {
    const apart = { query: { query: "INSERT INTO t FORMAT JSONEachRow" }, body: '{"a":1,"s":"x"}\n\n{"a":2,"s":"y"}' };
    expect(await inserted(apart)).toBe("2\t3");
    const settings = {
      query: { query: "INSERT INTO t SETTINGS insert_null_as_default = 1 VALUES" },
      body: "(4,'x'),(5,'y')",
    };
    expect(await inserted(settings)).toBe("2\t9");
    const binary = new Uint8Array(40 * 9).map((_, index) =>
      index % 9 === 8 ? 0 : index % 9 > 0 && index % 9 < 3 ? 10 : 0,
    );
    expect((await inserted({ query: { query: "INSERT INTO t FORMAT RowBinary" }, body: binary })).split("\t")[0]).toBe(
      "40",
    );
  });

  test("the summary reports how many rows were written", async () => {
    const answer = await ask(null, { query, body: lines });
    expect(JSON.parse(answer.headers.get("x-clickhouse-summary") ?? "{}")).toMatchObject({ written_rows: "1000" });
  });

  test("a bad row refuses the whole INSERT with its code", async () => {
    await text("TRUNCATE TABLE t");
    const answer = await ask(null, { query, body: `${lines}\n{"a":"none"}` });
    expect([answer.status, answer.headers.get("x-clickhouse-exception-code")]).toEqual([400, "27"]);
    expect(await text("SELECT count() FROM t")).toBe("0\n");
  });

  test("a corrupt or unknown encoding is an error, never a short insert", async () => {
    const half = gzipSync(lines.repeat(50)).subarray(0, 800);
    const cut = await ask(null, { query, headers: { "Content-Encoding": "gzip" }, body: half });
    expect(cut.status).toBe(500);
    const unknown = await ask(null, { query, headers: { "Content-Encoding": "snappy" }, body: lines });
    expect(unknown.headers.get("x-clickhouse-exception-code")).toBe("89");
  });

  test("a caller who goes away before the end of the data inserts nothing", async () => {
    await text("TRUNCATE TABLE t");
    const abort = new AbortController();
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(Buffer.from(`${lines}\n`));
      },
    });
    const asked = ask(null, { query, body, signal: abort.signal }).catch(() => null);
    await Bun.sleep(50);
    abort.abort();
    await asked;
    await Bun.sleep(50);
    expect(await text("SELECT count() FROM t")).toBe("0\n");
  });
});
