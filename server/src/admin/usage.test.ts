import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { Usage, UsageQuestion } from "../ledger/index.ts";
import { noon, openStand, type Stand } from "./testing/stand.ts";

const figures = {
  requests: 3,
  errors: 1,
  credits: 18446744073709551615n,
  bytesIn: 10n,
  bytesOut: 20n,
  cacheHits: 1,
  cacheMisses: 2,
  latencyMs: { p50: 1.23, p95: 4.56, p99: 7.89 },
};
const hourMs = 3_600_000;

let stand: Stand;
let questions: UsageQuestion[];
let usage: Usage;
let own: { id: string; key: string };
/** Requests by month: served, and recorded; and what was asked for. */
let served: Record<string, bigint>;
let recorded: Record<string, bigint>;
let ranges: object[];
let counted: string[];
let onFlush: () => void;
let accountId: string;

beforeEach(async () => {
  questions = [];
  usage = { rows: [], more: false, total: figures };
  served = {};
  recorded = {};
  ranges = [];
  counted = [];
  onFlush = () => undefined;
  stand = await openStand(({ clock }) => ({
    readUsage: async (question) => {
      questions.push(question);
      return usage;
    },
    flushUsage: async () => onFlush(),
    servedRequests: async (_accountId, month) => {
      counted.push(month);
      return served[month] ?? 0n;
    },
    recordedRequests: async (range) => {
      ranges.push(range);
      return new Map(Object.entries(recorded));
    },
    creditsUsed: async () => ({ month: new Date(clock.now()).toISOString().slice(0, 7), used: 1_000n }),
    sentBy: async (keyId, most, after) =>
      ["a", "b", "c"]
        .filter((signature) => after === null || (after.sentAtMs === noon && signature > after.signature))
        .slice(0, most)
        .map((signature) => ({
          signature,
          network: "devnet" as const,
          keyId,
          sentAtMs: noon,
          state: "confirmed" as const,
          slot: 7n,
          resends: 0,
        })),
  }));
  accountId = await stand.account("owner");
  own = await stand.key(accountId, ["read"]);
});
afterEach(async () => await stand[Symbol.asyncDispose]());

describe("GET /api/v1/usage", () => {
  test("200 with the month so far by default: days, figures exact, what is final, the allowance and its reset", async () => {
    usage = { ...usage, rows: ["2026-11-19", "2026-11-20"].map((group) => ({ group, ...figures })) };
    const { status, body, headers } = await stand.ask("GET", "/api/v1/usage", own.key);
    expect([status, headers.get("cache-control"), headers.get("x-ratelimit-limit")]).toEqual([200, "no-store", "200"]);
    expect(questions).toEqual([
      {
        accountId,
        fromMs: Date.UTC(2026, 10, 1),
        untilMs: Date.UTC(2026, 10, 21),
        network: null,
        groupBy: "day",
        after: null,
        limit: 50,
      },
    ]);
    expect(body.items[0]).toEqual({
      group: "2026-11-19",
      requests: 3,
      errors: 1,
      credits: "18446744073709551615",
      bytes_in: "10",
      bytes_out: "20",
      cache_hits: 1,
      cache_misses: 2,
      latency_ms: { p50: 1.2, p95: 4.6, p99: 7.9 },
      final: true,
    });
    expect(body.items[1].final).toBe(false);
    expect([body.from, body.to, body.next_cursor]).toEqual(["2026-11-01", "2026-11-20", null]);
    expect(body.month).toEqual({
      month: "2026-11",
      used: "1000",
      allowance: "30000000",
      remaining: "29999000",
      resets_at: "2026-12-01T00:00:00.000Z",
    });
  });

  test("200 with the requests of each month of the range that were served and have no record", async () => {
    served = { "2026-09": 10n, "2026-10": 400n, "2026-11": 7n };
    recorded = { "2026-09": 10n, "2026-10": 200n, "2026-11": 9n };
    const { body } = await stand.ask("GET", "/api/v1/usage?from=2026-09-15&to=2026-11-10", own.key);
    // More records than were counted are no loss: the count began later than the records.
    expect(body.missing).toEqual([{ month: "2026-10", requests: 200 }]);
    expect(ranges).toEqual([{ accountId, fromMs: Date.UTC(2026, 8, 1), untilMs: Date.UTC(2026, 11, 1) }]);
    expect(counted).toEqual(["2026-09", "2026-10", "2026-11"]);
    const overNewYear = await stand.ask("GET", "/api/v1/usage?from=2025-12-31&to=2026-01-01", own.key);
    expect([overNewYear.body.missing, counted.slice(3)]).toEqual([[], ["2025-12", "2026-01"]]);
  });

  test("200: what is served while the report is made is not told to be missing", async () => {
    served = { "2026-11": 5n };
    recorded = { "2026-11": 5n };
    onFlush = () => {
      served = { "2026-11": 6n };
      recorded = { "2026-11": 6n };
    };
    const { body } = await stand.ask("GET", "/api/v1/usage", own.key);
    expect(body.missing).toEqual([]);
  });

  test("200: a day is final a quarter of an hour after its end in UTC, and not a millisecond before", async () => {
    usage = { ...usage, rows: [{ group: "2026-11-20", ...figures }] };
    const final = async () => (await stand.ask("GET", "/api/v1/usage", own.key)).body.items[0].final;
    stand.clock.advance(12 * hourMs + 15 * 60_000 - 1);
    expect(await final()).toBe(false);
    stand.clock.advance(1);
    expect(await final()).toBe(true);
  });

  test("200: the month rolls over at midnight UTC, over the end of a year too", async () => {
    const month = async () => {
      const { body } = await stand.ask("GET", "/api/v1/usage", own.key);
      return [body.from, body.to, body.month.month, body.month.resets_at.slice(0, 10)];
    };
    stand.clock.advance(Date.UTC(2026, 11, 31, 23, 59, 59, 999) - noon);
    expect(await month()).toEqual(["2026-12-01", "2026-12-31", "2026-12", "2027-01-01"]);
    stand.clock.advance(1);
    expect(await month()).toEqual(["2027-01-01", "2027-01-01", "2027-01", "2027-02-01"]);
  });

  test("200: pages go on after the last group; a cursor of another grouping is 400", async () => {
    usage = { ...usage, rows: [{ group: "getSlot", ...figures }], more: true };
    const first = await stand.ask("GET", "/api/v1/usage?group_by=method&network=devnet&limit=1", own.key);
    const next = `cursor=${first.body.next_cursor}`;
    await stand.ask("GET", `/api/v1/usage?group_by=method&limit=1&${next}`, own.key);
    expect(questions.map(({ after, network, limit }) => [after, network, limit])).toEqual([
      [null, "devnet", 1],
      ["getSlot", null, 1],
    ]);
    const other = await stand.ask("GET", `/api/v1/usage?group_by=key&${next}`, own.key);
    expect([other.status, other.body.code, other.body.errors[0].path]).toEqual([400, "INVALID_INPUT", "cursor"]);
  });

  test("200: an account without an allowance has none left to report", async () => {
    const key = await stand.key(await stand.account("big", { platform: "enterprise" }), ["read"]);
    const { body } = await stand.ask("GET", "/api/v1/usage", key.key);
    expect([body.month.allowance, body.month.remaining]).toEqual([null, null]);
  });

  test("400 for what is no day, no grouping, no network, a turned or an endless range, a cursor of nothing", async () => {
    const faults = [
      "from=yesterday",
      "from=2026-02-30",
      "group_by=account",
      "network=elsewhere",
      "from=2026-11-20&to=2026-11-19",
      "from=2020-01-01",
      "limit=0",
      "limit=1001",
      "cursor=!!",
      `cursor=${Buffer.from('["day",1]').toString("base64url")}`,
      `cursor=${Buffer.from('["day","a\\u0000"]').toString("base64url")}`,
    ];
    for (const query of faults) {
      const { status, body } = await stand.ask("GET", `/api/v1/usage?${query}`, own.key);
      expect([query, status, body.code, body.errors.length]).toEqual([query, 400, "INVALID_INPUT", 1]);
    }
    expect(questions).toEqual([]);
  });

  test("401 without a key, with a wrong one, with a disabled one; never by cookie", async () => {
    const disabled = await stand.key(accountId, ["read"], { status: "disabled" });
    for (const [key, code] of [
      [null, "INVALID_API_KEY"],
      ["nonsense", "INVALID_API_KEY"],
      [disabled.key, "KEY_INACTIVE"],
    ] as const) {
      const { status, body, headers } = await stand.ask("GET", "/api/v1/usage", key, undefined, {
        cookie: "sluice_session=ss_anything",
      });
      expect([status, body.code, headers.get("x-request-id")]).toEqual([401, code, "req-1"]);
    }
  });

  test("403 for a key without read, from a wrong address, and for another account; an operator sees any", async () => {
    const blind = await stand.key(accountId, ["webhooks:write"]);
    const elsewhere = await stand.key(accountId, ["read"], {
      restrictions: { networks: [], domains: [], ipRanges: ["203.0.113.0/24"] },
    });
    const other = await stand.account("other");
    const operator = await stand.key(accountId, ["admin"]);
    const asked = async (key: string, query = "") => {
      const { status, body } = await stand.ask("GET", `/api/v1/usage${query}`, key);
      return [status, body.code ?? body.account_id];
    };
    expect(await asked(blind.key)).toEqual([403, "PERMISSION_DENIED"]);
    expect(await asked(elsewhere.key)).toEqual([403, "IP_NOT_ALLOWED"]);
    expect(await asked(own.key, `?account_id=${other}`)).toEqual([403, "PERMISSION_DENIED"]);
    expect(await asked(operator.key, `?account_id=${other}`)).toEqual([200, other]);
    expect(await asked(operator.key, "?account_id=nobody")).toEqual([404, "NOT_FOUND"]);
  });

  test("405 with Allow for every other method, OPTIONS included, and no CORS header on any answer", async () => {
    for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
      const { status, headers } = await stand.ask(method, "/api/v1/usage", own.key, undefined, {
        origin: "https://evil.example",
      });
      expect([method, status, headers.get("allow")]).toEqual([method, 405, "GET, HEAD"]);
      expect(headers.get("access-control-allow-origin")).toBeNull();
    }
  });

  test("429 with Retry-After when the key's own rate is used up, though the account's is not", async () => {
    const slow = await stand.key(accountId, ["read"], { requestsPerSecond: 1 });
    const statuses = [];
    for (let asked = 0; asked < 3; asked += 1) {
      const { status, headers } = await stand.ask("GET", "/api/v1/usage", slow.key);
      statuses.push([status, headers.get("retry-after")]);
    }
    expect(statuses).toEqual([
      [200, null],
      [200, null],
      [429, "1"],
    ]);
    expect((await stand.ask("GET", "/api/v1/usage", own.key)).status).toBe(200);
  });
});

describe("GET /api/v1/sent-transactions", () => {
  test("200 with what the key sent, newest first, in pages", async () => {
    const first = await stand.ask("GET", "/api/v1/sent-transactions?limit=2", own.key);
    expect(first.body.items.map(({ signature }: { signature: string }) => signature)).toEqual(["a", "b"]);
    expect(first.body.items[0]).toEqual({
      signature: "a",
      network: "devnet",
      key_id: own.id,
      sent_at: "2026-11-20T12:00:00.000Z",
      state: "confirmed",
      slot: 7,
      resends: 0,
    });
    const rest = await stand.ask("GET", `/api/v1/sent-transactions?cursor=${first.body.next_cursor}`, own.key);
    expect([rest.body.items.length, rest.body.items[0].signature, rest.body.next_cursor]).toEqual([1, "c", null]);
    const wrong = await stand.ask("GET", "/api/v1/sent-transactions?cursor=forgotten", own.key);
    expect([wrong.status, wrong.body.errors[0].path]).toEqual([400, "cursor"]);
  });

  test("200 for another key of the account, 404 for one of another account; an operator sees any", async () => {
    const sibling = await stand.key(accountId, []);
    const stranger = await stand.key(await stand.account("other"), ["read"]);
    const operator = await stand.key(accountId, ["admin"]);
    const asked = async (keyId: string, key: string) =>
      (await stand.ask("GET", `/api/v1/sent-transactions?key_id=${keyId}`, key)).status;
    expect(await asked(sibling.id, own.key)).toBe(200);
    expect(await asked(stranger.id, own.key)).toBe(404);
    expect(await asked("nobody", own.key)).toBe(404);
    expect(await asked(stranger.id, operator.key)).toBe(200);
    expect((await stand.ask("GET", "/api/v1/sent-transactions", sibling.key)).status).toBe(403);
  });
});
