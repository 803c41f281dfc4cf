import { expect, test } from "bun:test";
import { administrationMethods } from "./count-requests.ts";
import { openStand } from "./testing/stand.ts";

test("each route has a name in metrics, and each name a route", async () => {
  await using stand = await openStand();
  const routes = stand.app.routes
    .filter(({ method }) => method !== "ALL")
    .map(({ method, path }) => `${method} ${path}`);
  expect(routes.toSorted()).toEqual([...administrationMethods].toSorted());
});

test("an answered call is counted under its pattern with what it took in and gave; one without a caller is a refusal", async () => {
  const reported: unknown[] = [];
  await using stand = await openStand(({ clock }) => ({
    events: {
      requestServed: (fact) => void reported.push(fact),
      requestRefused: (code) => void reported.push(code),
    },
    reload: async () => {
      clock.advance(7);
      return { kind: "reloaded", applied: [], needsRestart: [] };
    },
  }));
  const account = await stand.account("one");
  const { key } = await stand.key(account, ["admin"]);
  const { key: reader } = await stand.key(account, ["read"]);
  const bytesOf = ({ body }: { body: unknown }): number => Buffer.byteLength(JSON.stringify(body));
  const reloaded = await stand.ask("POST", "/api/v1/admin/reload", key, undefined, { "content-length": "0" });
  const read = await stand.ask("GET", `/api/v1/admin/accounts/${account}`, key);
  const denied = await stand.ask("POST", "/api/v1/admin/reload", reader);
  const missing = await stand.ask("GET", "/api/v1/admin/nothing", key);
  expect((await stand.ask("GET", "/api/v1/usage", null)).status).toBe(401);
  const fact = { network: "", rpcCode: null, latencyMs: 0, bytesIn: 0, credits: 0 };
  expect(reported).toEqual([
    { ...fact, method: "POST /api/v1/admin/reload", status: 200, latencyMs: 7, bytesOut: bytesOf(reloaded) },
    { ...fact, method: "GET /api/v1/admin/accounts/:id", status: 200, bytesOut: bytesOf(read) },
    { ...fact, method: "POST /api/v1/admin/reload", status: 403, bytesOut: bytesOf(denied) },
    { ...fact, method: expect.not.stringContaining("nothing"), status: 404, bytesOut: bytesOf(missing) },
    "INVALID_API_KEY",
  ]);
});

test("a live view is counted when it begins and not waited for", async () => {
  const reported: { method: string; bytesOut: number }[] = [];
  const closing = new AbortController();
  await using stand = await openStand(() => ({
    closing: closing.signal,
    events: { requestServed: (fact) => void reported.push(fact), requestRefused: () => undefined },
  }));
  const { key } = await stand.key(await stand.account("one"), ["admin"]);
  const request = new Request("http://127.0.0.1/api/v1/admin/upstreams/live", { headers: { "x-api-key": key } });
  const answer = await stand.app.fetch(request, { requestId: "req-1", socketAddress: "127.0.0.1" });
  expect(reported).toMatchObject([{ method: "GET /api/v1/admin/upstreams/live", bytesOut: 0 }]);
  closing.abort();
  await answer.text();
});
