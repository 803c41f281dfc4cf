import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sqlLimits, sqlViews } from "@sluice/contract/sql";
import type { PlatformTier } from "@sluice/contract/tiers";
import { systemClock, systemRandom } from "@sluice/lib";
import { eventually } from "@sluice/lib/testing";
import { accessOfTests, grantOfTests } from "../access/testing/grants.ts";
import type { RestrictionCode } from "../keys/index.ts";
import type { RequestFact } from "../ledger/index.ts";
import { openState, type State } from "../state/index.ts";
import { analyticsPath, createAnalyticsHttp } from "./http.ts";
import { SavedQueryShelf } from "./saved-queries.ts";
import { openSqlStand, type SqlStand } from "./testing/sql-stand.ts";

const caller = {
  accountId: "acct_one",
  tier: "business" as PlatformTier,
  permissions: grantOfTests.permissions,
  restriction: null as RestrictionCode | null,
  isLimited: false,
  creditsLeft: 1_000_000,
};

let stand: SqlStand;
let state: State;
let directory = "";
let app: ReturnType<typeof createAnalyticsHttp>;
let facts: RequestFact[];
let refused: string[];

beforeAll(async () => {
  stand = await openSqlStand({ creditsLeft: () => caller.creditsLeft });
  directory = mkdtempSync(join(tmpdir(), "sluice-sql-http-"));
  const log = { info: () => undefined, warn: () => undefined };
  state = await openState({ directory, databaseUrl: null }, { clock: systemClock, random: systemRandom, log });
}, 60_000);
afterAll(async () => {
  await stand?.[Symbol.asyncDispose]();
  await state?.[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
});

beforeEach(() => {
  Object.assign(caller, { accountId: "acct_one", tier: "business", permissions: ["read"], restriction: null });
  Object.assign(caller, { isLimited: false, creditsLeft: 1_000_000 });
  facts = [];
  refused = [];
  const access = accessOfTests({
    keys: {
      authenticate: (presented) =>
        presented === "good"
          ? { ...grantOfTests, accountId: caller.accountId, tier: caller.tier, permissions: caller.permissions }
          : { ok: false, code: "INVALID_API_KEY" },
      checkRestrictions: () => caller.restriction,
    },
    limits: {
      take: () => ({
        ...{ allowed: !caller.isLimited, limit: 50, burst: 100, remaining: 99, resetAt: 1, retryAfterSeconds: 2 },
      }),
    },
  });
  app = createAnalyticsHttp({
    networkDefault: "devnet",
    access,
    analytics: stand.analytics,
    saved: new SavedQueryShelf({ store: state.savedQueries }),
    clock: systemClock,
    log: { error: (_fields, message) => expect(message).toBe("") },
    requestId: () => "req_1",
    served: (fact) => facts.push(fact),
    refused: (code) => refused.push(code),
  });
});

interface Sent {
  readonly method?: string;
  /** Sent as JSON unless it is text. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

async function ask(path: string, { method = "GET", body, headers = {}, signal }: Sent = {}) {
  const init = {
    method,
    headers: { "x-api-key": "good", ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  };
  const response = await app.fetch(new Request(`http://gateway${analyticsPath}${path}`, init));
  const text = await response.text();
  const isJson = (response.headers.get("content-type") ?? "").includes("json");
  return { status: response.status, headers: response.headers, text, body: isJson ? JSON.parse(text) : null };
}
const run = (query: unknown, more: Sent = {}) => ask("", { method: "POST", body: query, ...more });
const keep = (body: unknown) => ask("/queries", { method: "POST", body });

/** Status and code of an answer, and the paths of its faults. */
const said = ({ status, body }: Awaited<ReturnType<typeof ask>>): unknown[] => [
  status,
  body?.code,
  ...(body?.errors ?? body?.details?.errors ?? []).map(({ path }: { path: string }) => path),
];

describe("a query", () => {
  test("is answered in each form, with what it cost, and its request is recorded when it was read", async () => {
    const { status, headers, body } = await run({ query: "SELECT slot FROM blocks ORDER BY slot LIMIT 2" });
    expect([status, body.rows, body.row_count, body.credits]).toEqual([200, [["1"], ["2"]], 2, 51]);
    expect(headers.get("x-credits-charged")).toBe("51");
    expect(headers.get("cache-control")).toBe("no-store");
    const csv = await run({ query: "SELECT slot FROM blocks ORDER BY slot LIMIT 1", format: "csv" });
    expect([csv.headers.get("content-type"), csv.text]).toEqual([
      "text/csv; charset=utf-8; header=present",
      '"slot"\n1\n',
    ]);
    await eventually("both are recorded", () => facts.length === 2);
    expect(facts[1]).toMatchObject({
      ...{ accountId: "acct_one", method: `POST ${analyticsPath}`, network: "devnet", status: 200, code: "" },
      ...{ credits: 51, bytesOut: csv.text.length },
    });
  });

  test("is of the network of the header, else of the query of the address, and of none that there is not", async () => {
    const query = "SELECT DISTINCT network FROM blocks";
    expect((await run({ query }, { headers: { "x-network": "Testnet" } })).body.rows).toEqual([["testnet"]]);
    expect((await ask("?network=testnet", { method: "POST", body: { query } })).body.rows).toEqual([["testnet"]]);
    expect(
      (await run({ query: "SELECT count() FROM blocks" }, { headers: { "x-network": "mainnet-beta" } })).body.rows,
    ).toEqual([["0"]]);
    expect(said(await run({ query }, { headers: { "x-network": "moon" } })).slice(0, 2)).toEqual([
      400,
      "INVALID_INPUT",
    ]);
  });

  test("needs a key, its permission and networks, a rate that is left, and a tier with SQL", async () => {
    const before = stand.taken();
    const question = { query: "SELECT 1" };
    expect(said(await run(question, { headers: { "x-api-key": "bad" } }))).toEqual([401, "INVALID_API_KEY"]);
    expect(refused).toEqual(["INVALID_API_KEY"]);
    caller.permissions = ["bundles:write"];
    expect(said(await run(question))).toEqual([403, "PERMISSION_DENIED"]);
    caller.permissions = ["read"];
    caller.restriction = "NETWORK_NOT_ALLOWED";
    expect(said(await run(question))).toEqual([403, "NETWORK_NOT_ALLOWED"]);
    caller.restriction = null;
    caller.isLimited = true;
    const limited = await run(question);
    expect([...said(limited), limited.headers.get("retry-after")]).toEqual([429, "RATE_LIMIT_EXCEEDED", "2"]);
    caller.isLimited = false;
    for (const tier of ["free", "developer"] as const) {
      caller.tier = tier;
      // Before the body is read: it is none of a question here.
      expect(said(await run("{"))).toEqual([403, "TIER_REQUIRED"]);
    }
    expect(stand.taken()).toBe(before);
    expect(facts.map(({ code, credits }) => [code, credits])).toEqual([
      ["PERMISSION_DENIED", 0],
      ["NETWORK_NOT_ALLOWED", 0],
      ["RATE_LIMIT_EXCEEDED", 0],
      ["TIER_REQUIRED", 0],
      ["TIER_REQUIRED", 0],
    ]);
  });

  test("that the account cannot pay is answered with 402 and runs not at all", async () => {
    caller.creditsLeft = 49;
    const answer = await run({ query: "SELECT 1" });
    expect(said(answer)).toEqual([402, "INSUFFICIENT_CREDITS"]);
    expect(answer.text).toContain('"remaining":49');
    expect(facts[0]).toMatchObject({ status: 402, code: "INSUFFICIENT_CREDITS", credits: 0 });
  });

  test("whose body is malformed, of another type, too large or with unknown members is refused and costs nothing", async () => {
    const before = stand.taken();
    const query = "SELECT 1";
    const tooLong = { query: `SELECT '${"x".repeat(sqlLimits.queryBytes)}'` };
    const tooMany = Object.fromEntries(Array.from({ length: sqlLimits.parameters + 1 }, (_, at) => [`p${at}`, 1]));
    const wrong: [unknown, Readonly<Record<string, string>>, unknown[]][] = [
      [{ query }, { "content-type": "text/plain" }, [415, "UNSUPPORTED_MEDIA_TYPE"]],
      [{ query }, { "content-type": "application/json", "content-encoding": "gzip" }, [415, "UNSUPPORTED_MEDIA_TYPE"]],
      [" ".repeat(256 * 1024 + 1), {}, [413, "BODY_TOO_LARGE"]],
      ["{", {}, [400, "PARSE_ERROR"]],
      ["[]", {}, [400, "INVALID_INPUT", ""]],
      [{}, {}, [400, "INVALID_INPUT", "query"]],
      [{ query: "" }, {}, [400, "INVALID_INPUT", "query"]],
      [{ query: "SELECT '\0'" }, {}, [400, "INVALID_INPUT", "query"]],
      [tooLong, {}, [400, "INVALID_INPUT", "query"]],
      [{ query, sql: 1 }, {}, [400, "INVALID_INPUT", "sql"]],
      [{ query, format: "xml" }, {}, [400, "INVALID_INPUT", "format"]],
      [{ query, max_rows: 0 }, {}, [400, "INVALID_INPUT", "max_rows"]],
      [{ query, max_rows: sqlLimits.resultRows + 1 }, {}, [400, "INVALID_INPUT", "max_rows"]],
      [{ query, parameters: tooMany }, {}, [400, "INVALID_INPUT", "parameters"]],
      [{ query: "SELECT sleep(1)" }, {}, [403, "SQL_NOT_ALLOWED"]],
      [{ query: "SELEC" }, {}, [400, "SQL_SYNTAX"]],
    ];
    const answers = [];
    for (const [body, headers] of wrong) answers.push(said(await run(body, { headers })));
    expect(answers).toEqual(wrong.map(([, , expected]) => expected));
    expect(stand.taken()).toBe(before);
    expect(facts.map(({ status, credits }) => [status, credits])).toEqual(
      wrong.map(([, , [status]]) => [status as number, 0]),
    );
  });

  test("whose caller leaves is stopped and is recorded as left", async () => {
    const leaving = new AbortController();
    const slow =
      "SELECT count() FROM (SELECT arrayJoin(range(100000)) AS a) AS x CROSS JOIN " +
      "(SELECT arrayJoin(range(100000)) AS b) AS y WHERE cityHash64(a, b) = 77";
    const runs = async (): Promise<number> => {
      const marked = "query LIKE 'SELECT count() FROM (SELECT arrayJoin(%cityHash64(a, b)%77%'";
      const [row] = await stand.ledger.query<{ n: string }>(
        `SELECT count() AS n FROM system.processes WHERE ${marked}`,
      );
      return Number(row?.n);
    };
    const asked = run({ query: slow }, { signal: leaving.signal });
    await eventually("the start", async () => (await runs()) > 0);
    leaving.abort();
    expect((await asked).status).toBe(499);
    await eventually("the end", async () => (await runs()) === 0);
    expect(facts).toMatchObject([{ status: 499 }]);
    // What it took is the account's to pay.
    expect(facts[0]?.credits).toBeGreaterThanOrEqual(50);
  }, 30_000);
});

describe("the paths", () => {
  test("answer OPTIONS without a key, and every answer may be read by any origin", async () => {
    const asked = { "x-api-key": "bad", origin: "https://app.example", "access-control-request-headers": "x-api-key" };
    const preflight = await ask("", { method: "OPTIONS", headers: asked });
    expect([preflight.status, preflight.headers.get("access-control-allow-origin")]).toEqual([204, "*"]);
    expect(preflight.headers.get("access-control-allow-methods")).toContain("POST");
    const patch = await ask("/queries/query_1", { method: "OPTIONS", headers: asked });
    for (const method of ["GET", "PATCH", "DELETE"]) {
      expect(patch.headers.get("access-control-allow-methods")).toContain(method);
    }
    for (const answer of [await run({ query: "SELECT 1" }), await run("{"), await ask("/nothing")]) {
      expect(answer.headers.get("access-control-allow-origin")).toBe("*");
      expect(answer.headers.get("x-request-id")).toBe("req_1");
    }
    expect(facts.every(({ accountId }) => accountId === "acct_one")).toBe(true);
  });

  test("are found by their methods alone", async () => {
    const wrong = await ask("");
    expect([...said(wrong), wrong.headers.get("allow")]).toEqual([405, "METHOD_NOT_ALLOWED", "POST"]);
    expect(said(await ask("/tables"))).toEqual([404, "NOT_FOUND"]);
  });

  test("tell the schema to every key, as the contract has it", async () => {
    caller.tier = "free";
    const { status, body } = await ask("/schema");
    expect([status, body.views.map(({ name }: { name: string }) => name)]).toEqual([
      200,
      sqlViews.map(({ name }) => name),
    ]);
    expect(body.functions).toContain("count");
    expect(body.limits.result_rows).toBe(sqlLimits.resultRows);
    expect(said(await ask("/schema", { headers: { "x-api-key": "bad" } }))).toEqual([401, "INVALID_API_KEY"]);
  });
});

describe("saved queries", () => {
  const content = {
    name: "Busy slots",
    query: "SELECT slot FROM blocks",
    parameters: { since: "18446744073709551615" },
  };

  test("are kept, listed, read, changed and deleted, by their own account alone", async () => {
    const own = (await state.accounts.create({ name: "Own" })).id;
    caller.accountId = own;
    const created = await keep(content);
    expect([created.status, created.body]).toMatchObject([201, content]);
    const path = `/queries/${created.body.id}`;
    expect((await ask(path)).body).toEqual(created.body);
    expect((await ask("/queries")).body).toEqual({ items: [created.body], next_cursor: null });
    const changed = await ask(path, { method: "PATCH", body: { name: "  Busy  " } });
    expect([changed.status, changed.body]).toMatchObject([200, { ...content, name: "Busy" }]);

    caller.accountId = (await state.accounts.create({ name: "Other" })).id;
    expect((await ask("/queries")).body.items).toEqual([]);
    expect(said(await ask(path))).toEqual([404, "NOT_FOUND"]);
    expect(said(await ask(path, { method: "PATCH", body: { name: "x" } }))).toEqual([404, "NOT_FOUND"]);
    expect(said(await ask(path, { method: "DELETE" }))).toEqual([404, "NOT_FOUND"]);

    caller.accountId = own;
    // An account that came down to a tier without SQL reads and deletes what it has.
    caller.tier = "free";
    expect(said(await ask(path, { method: "PATCH", body: { name: "x" } }))).toEqual([403, "TIER_REQUIRED"]);
    expect(said(await keep(content))).toEqual([403, "TIER_REQUIRED"]);
    expect((await ask(path)).body.name).toBe("Busy");
    const deleted = await ask(path, { method: "DELETE" });
    expect([deleted.status, deleted.text]).toEqual([204, ""]);
    expect(said(await ask(path, { method: "DELETE" }))).toEqual([404, "NOT_FOUND"]);
    expect(facts.at(-1)?.method).toBe(`DELETE ${analyticsPath}/queries/:id`);
  });

  test("have a name of their own within the account, and bounds", async () => {
    caller.accountId = (await state.accounts.create({ name: "Bounds" })).id;
    expect((await keep(content)).status).toBe(201);
    expect(said(await keep(content))).toEqual([409, "CONFLICT"]);
    const second = await keep({ ...content, name: "second" });
    const path = `/queries/${second.body.id}`;
    expect(said(await ask(path, { method: "PATCH", body: { name: content.name } }))).toEqual([409, "CONFLICT"]);
    for (const [body, member] of [
      [{ ...content, name: " " }, "name"],
      [{ ...content, name: "n".repeat(sqlLimits.savedNameLength + 1) }, "name"],
      [{ ...content, query: "x".repeat(sqlLimits.queryBytes + 1) }, "query"],
      [{ ...content, owner: "me" }, "owner"],
    ] as const) {
      expect(said(await keep(body))).toEqual([400, "INVALID_INPUT", member]);
    }
    expect(said(await ask(path, { method: "PATCH", body: {} })).slice(0, 2)).toEqual([400, "INVALID_INPUT"]);
    for (let at = 2; at < sqlLimits.savedQueries; at++) {
      expect((await keep({ ...content, name: `query ${at}` })).status).toBe(201);
    }
    expect(said(await keep({ ...content, name: "one too many" }))).toEqual([409, "CONFLICT"]);
    expect((await ask("/queries")).body.items).toHaveLength(sqlLimits.savedQueries);
  });
});
