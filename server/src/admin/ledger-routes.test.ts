import { expect, test } from "bun:test";
import { ledgerOfTests } from "./testing/console-stand.ts";
import { openStand } from "./testing/stand.ts";

const path = "/api/v1/admin/ledger/tables";

test("GET /api/v1/admin/ledger/tables: 200 to an operator, 403 to another key, 401 without one", async () => {
  await using stand = await openStand(() => ({ ledgerTables: async () => ledgerOfTests }));
  const accountId = await stand.account("a");
  const operator = (await stand.key(accountId, ["admin"])).key;
  const { status, body } = await stand.ask("GET", path, operator);
  expect(status).toBe(200);
  expect(body.items[0]).toEqual({
    name: "requests",
    holds: "a row for each request that was served",
    rows: 5,
    bytes: 1_000,
    oldest_at: "2026-10-01T00:00:00.000Z",
    kept: "62d",
    least: "62d",
  });
  expect(body.items[1]).toMatchObject({ name: "oracle_ticks", oldest_at: null, kept: null });
  expect((await stand.ask("GET", path, (await stand.key(accountId, ["read"])).key)).status).toBe(403);
  expect((await stand.ask("GET", path, null)).status).toBe(401);
});

test("a list that begins before what is kept says from when on, and one that begins later does not", async () => {
  let keptSince: number | null = Date.UTC(2026, 8, 19, 12);
  const served: string[] = [];
  await using stand = await openStand(() => ({
    requestsKeptSince: () => keptSince,
    requests: {
      flush: async () => undefined,
      find: async () => [],
      search: async () => ({ facts: [], next: null }),
    },
    readUsage: async () => ({
      rows: [],
      more: false,
      total: {
        ...{ requests: 0, errors: 0, credits: 0n, bytesIn: 0n, bytesOut: 0n },
        ...{ cacheHits: 0, cacheMisses: 0, latencyMs: null },
      },
    }),
    servedRequests: async (_account, month) => {
      served.push(month);
      return 5n;
    },
    creditsUsed: async () => ({ month: "2026-11", used: 0n }),
  }));
  const key = (await stand.key(await stand.account("a"), ["read"])).key;
  const since = async (query: string): Promise<string | null> => {
    const { status, headers } = await stand.ask("GET", `/api/v1/${query}`, key);
    expect([query, status]).toEqual([query, 200]);
    return headers.get("x-data-since");
  };
  const moment = "2026-09-19T12:00:00.000Z";
  expect(await since("requests?since=2026-09-19T11:00:00Z")).toBe(moment);
  expect(await since("requests?since=2026-09-19T13:00:00Z")).toBeNull();
  expect(await since("requests")).toBeNull();
  expect(await since("usage?from=2026-09-19&to=2026-11-20")).toBe(moment);
  expect(await since("usage?from=2026-09-20&to=2026-11-20")).toBeNull();
  // Records that were deleted for their age are not missing.
  const missing = async () => (await stand.ask("GET", "/api/v1/usage?from=2026-09-20&to=2026-11-20", key)).body.missing;
  expect(await missing()).toEqual([
    { month: "2026-10", requests: 5 },
    { month: "2026-11", requests: 5 },
  ]);
  keptSince = null;
  expect(await since("usage?from=2026-09-19&to=2026-11-20")).toBeNull();
  expect(await missing()).toHaveLength(3);
});
