import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { FoundRequests, RequestFact, RequestSearch } from "../ledger/index.ts";
import { noon, openStand, type Stand } from "./testing/stand.ts";

const dayMs = 24 * 3_600_000;
const fact: RequestFact = {
  at: noon - 1_000,
  requestId: "req_1",
  accountId: "acct_1",
  keyId: "key_1",
  network: "devnet",
  door: "rpc",
  method: "getSlot",
  status: 429,
  rpcCode: -33429,
  latencyMs: 1.23456,
  bytesIn: 10,
  bytesOut: 20,
  credits: 0,
  code: "",
  cache: "",
  upstream: "node-1",
};

let stand: Stand;
let accountId: string;
let customer: string;
let operator: string;
let asked: [string, string | null][];
let searches: RequestSearch[];
let found: FoundRequests;

beforeEach(async () => {
  asked = [];
  searches = [];
  found = { facts: [fact], next: null };
  stand = await openStand(() => ({
    requests: {
      flush: async () => {
        throw new Error("the ledger is away for writing");
      },
      find: async (id, account) => {
        asked.push([id, account]);
        return id === "req_1" ? [fact] : [];
      },
      search: async (search) => {
        searches.push(search);
        return found;
      },
    },
  }));
  accountId = await stand.account("owner");
  customer = (await stand.key(accountId, ["read"])).key;
  operator = (await stand.key(await stand.account("operator"), ["admin"])).key;
});
afterEach(async () => await stand[Symbol.asyncDispose]());

describe("GET /api/v1/requests/{id}", () => {
  test("200 with all that is known; an account is answered for itself, and does not learn the nodes' names", async () => {
    const { status, body } = await stand.ask("GET", "/api/v1/requests/req_1", customer);
    expect([status, asked]).toEqual([200, [["req_1", accountId]]]);
    expect(body).toEqual({
      request_id: "req_1",
      items: [
        {
          request_id: "req_1",
          at: "2026-11-20T11:59:59.000Z",
          account_id: "acct_1",
          key_id: "key_1",
          network: "devnet",
          endpoint: "rpc",
          method: "getSlot",
          status: 429,
          code: -33429,
          error: "RATE_LIMIT_EXCEEDED",
          latency_ms: 1.235,
          bytes_in: 10,
          bytes_out: 20,
          credits: 0,
          cache: null,
          upstream: null,
        },
      ],
    });
  });

  test("200 to an operator whoever made the request, with its node", async () => {
    const { body } = await stand.ask("GET", "/api/v1/requests/req_1", operator);
    expect([asked, body.items[0].upstream]).toEqual([[["req_1", null]], "node-1"]);
  });

  test("404 says which requests have no record; 401 without a key; 403 without the permission to read", async () => {
    const missing = await stand.ask("GET", "/api/v1/requests/req_2", customer);
    expect([missing.status, missing.body.code]).toEqual([404, "NOT_FOUND"]);
    expect(missing.body.detail).toContain("without a valid key");
    expect((await stand.ask("GET", "/api/v1/requests/req_1", null)).status).toBe(401);
    const writer = (await stand.key(accountId, ["bundles:write"])).key;
    expect((await stand.ask("GET", "/api/v1/requests/req_1", writer)).status).toBe(403);
  });
});

describe("GET /api/v1/requests", () => {
  const list = (query: string, key = customer) => stand.ask("GET", `/api/v1/requests?${query}`, key);

  test("200: the last day of the account's own by default, an operator's of all accounts", async () => {
    const { status, body } = await list("");
    expect([status, body.items.length, body.next_cursor]).toEqual([200, 1, null]);
    await list("", operator);
    const own = { accountId, keyId: null, network: null, method: null, status: null, code: null, rpcCode: null };
    const range = { sinceMs: noon + 1 - dayMs, untilMs: noon + 1, after: null, limit: 50 };
    expect(searches).toEqual([
      { ...own, ...range },
      { ...own, ...range, accountId: null },
    ]);
  });

  test("200: every filter reaches the ledger; a code is its number or its name", async () => {
    const filters = "key=k&network=mainnet&method=getSlot&status=402&code=INSUFFICIENT_CREDITS&limit=7";
    await list(`${filters}&since=2026-11-01T00:00:00Z&until=2026-11-02T00:00:00%2B01:00`);
    await list("code=-32602");
    expect(searches[0]).toEqual({
      accountId,
      keyId: "k",
      network: "mainnet",
      method: "getSlot",
      status: 402,
      code: "INSUFFICIENT_CREDITS",
      rpcCode: -33402,
      sinceMs: Date.UTC(2026, 10, 1),
      untilMs: Date.UTC(2026, 10, 1, 23),
      after: null,
      limit: 7,
    });
    expect(searches[1]).toMatchObject({ code: null, rpcCode: -32602 });
    // Codes of other endpoints, and reasons of bundles, have no number.
    for (const code of ["INVALID_SYMBOL", "QUOTA_EXCEEDED", "BUNDLE_NOT_FOUND", "tip_not_paid"]) {
      expect((await list(`code=${code}`)).status).toBe(200);
      expect(searches.at(-1)).toMatchObject({ code, rpcCode: null });
    }
    expect((await list("code=NO_SUCH_CODE")).body.errors[0].path).toBe("code");
  });

  test("200: a cursor goes on where the page ended, in the same range however late it is sent", async () => {
    found = { facts: [fact], next: { atMs: noon - 1_000, requestId: "req_1", skip: 3 } };
    const { body } = await list("limit=1");
    stand.clock.advance(3_600_000);
    await list(`limit=1&cursor=${body.next_cursor}`);
    expect(searches[1]).toMatchObject({
      sinceMs: noon + 1 - dayMs,
      after: { atMs: noon - 1_000, requestId: "req_1", skip: 3 },
    });
  });

  test("403 for the requests of another account, which an operator may list", async () => {
    expect((await list("account_id=acct_other")).status).toBe(403);
    expect((await list(`account_id=${accountId}`)).status).toBe(200);
    expect((await list("account_id=acct_other", operator)).status).toBe(200);
    expect(searches.map(({ accountId: of }) => of)).toEqual([accountId, "acct_other"]);
  });

  test("400 names the part that is wrong: the codes, the times, their order and span, the cursor", async () => {
    const notACursor = Buffer.from("[1,2]").toString("base64url");
    const cases = [
      ["code=NOT_A_CODE", "code"],
      ["code=1.5", "code"],
      ["code=toString", "code"],
      ["status=99", "status"],
      ["since=yesterday", "since"],
      ["since=2026-11-02T00:00:00Z&until=2026-11-02T00:00:00Z", "since"],
      ["since=2025-01-01T00:00:00Z", "since"],
      [`cursor=${notACursor}`, "cursor"],
      ["cursor=x", "cursor"],
      ["limit=0", "limit"],
    ];
    for (const [query = "", path] of cases) {
      const { status, body } = await list(query);
      expect([query, status, body.errors?.[0]?.path]).toEqual([query, 400, path]);
    }
    expect(searches).toEqual([]);
  });
});
