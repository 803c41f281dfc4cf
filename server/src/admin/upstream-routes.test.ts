import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { UpstreamBody } from "@sluice/contract/schemas";
import type { ReloadResult } from "../config/index.ts";
import type { PreparedNode } from "../upstreams/index.ts";
import { openStand, type Stand } from "./testing/stand.ts";

const path = "/api/v1/admin/upstreams";
const node = (changes: Partial<UpstreamBody> = {}): UpstreamBody => ({
  network: "devnet",
  label: "a",
  url: "https://node.example/…",
  ws: "wss://node.example/…",
  grpc: null,
  groups: ["read"],
  weight: 1,
  requests_per_second: null,
  headers: ["x-token"],
  origin: "configuration",
  order: "open",
  serving: true,
  out: null,
  rests_until: null,
  refuses: [],
  slot: 7,
  slot_lag: 0,
  latency_ms: 1.5,
  error_rate: 0,
  in_flight: 0,
  ...changes,
});

let stand: Stand;
let operator: string;
let reader: string;
let nodes: UpstreamBody[];
let outcome: ReloadResult;
let closing: AbortController;

beforeEach(async () => {
  nodes = [node()];
  outcome = { kind: "reloaded", applied: ["LOG_LEVEL"], needsRestart: ["BIND"] };
  closing = new AbortController();
  stand = await openStand(({ state }) => ({
    reload: async () => outcome,
    closing: closing.signal,
    liveEveryMs: 5,
    upstreams: {
      list: () => nodes,
      prepare: ({ network, label, url }): PreparedNode => {
        if (nodes.some((each) => each.network === network && each.label === label)) {
          return { ok: false, reason: "taken" };
        }
        if (!url.startsWith("http")) return { ok: false, reason: "invalid", expected: "label=http://…" };
        return { ok: true, node: { network, label, options: Uint8Array.of(1) }, shown: { weight: 1 } };
      },
      remove: async (network, label) => {
        nodes = nodes.filter((each) => each.network !== network || each.label !== label);
      },
      follow: async () => {
        for (const { network, label } of await state.upstreamNodes.list()) {
          if (!nodes.some((each) => each.network === network && each.label === label)) {
            nodes = [...nodes, node({ network, label, origin: "run time" })];
          }
        }
        const orders = await state.upstreamOrders.list();
        nodes = nodes.map((each) => ({
          ...each,
          order: orders.find(({ network, label }) => network === each.network && label === each.label)?.order ?? "open",
        }));
      },
    },
  }));
  const accountId = await stand.account("operators");
  operator = (await stand.key(accountId, ["admin"])).key;
  reader = (await stand.key(accountId, ["read", "keys:write"])).key;
});
afterEach(async () => await stand[Symbol.asyncDispose]());

const actions = async () =>
  (await stand.state.audit.list({})).items.map(({ action, subject }) => `${action} ${subject}`);

describe("nodes at run time", () => {
  test("200: cordon, drain and uncordon are kept in state, followed and recorded in the trail", async () => {
    const orders = [];
    for (const action of ["cordon", "drain", "uncordon", "uncordon"]) {
      const { status, body } = await stand.ask("POST", `${path}/devnet/a/${action}`, operator);
      orders.push([status, body.order, (await stand.state.upstreamOrders.list()).length]);
    }
    expect(orders).toEqual([
      [200, "cordoned", 1],
      [200, "drained", 1],
      [200, "open", 0],
      [200, "open", 0],
    ]);
    expect((await actions()).toReversed().slice(0, 2)).toEqual(["upstream.cordon devnet/a", "upstream.drain devnet/a"]);
  });

  test("409: a node is not removed before it is drained, nor while calls are under way; force does it", async () => {
    const remove = async (query = "") => (await stand.ask("DELETE", `${path}/devnet/a${query}`, operator)).status;
    expect(await remove()).toBe(409);
    await stand.ask("POST", `${path}/devnet/a/drain`, operator);
    nodes = nodes.map((each) => ({ ...each, in_flight: 2 }));
    expect([await remove(), await remove("?force=false"), await remove("?force=yes"), nodes.length]).toEqual([
      409, 409, 400, 1,
    ]);
    expect([await remove("?force=true"), nodes.length, await remove()]).toEqual([204, 0, 404]);
    // A restart brings the configured node back, and others have it still: nowhere does it get calls.
    expect(await stand.state.upstreamOrders.list()).toMatchObject([{ label: "a", order: "drained" }]);
  });

  test("201, 409, 400: a node is added under a label of its own, and what is no node is refused", async () => {
    const wish = {
      network: "testnet",
      label: "b",
      url: "https://user:secret@node.example/token",
      headers: { "x-key": "v" },
    };
    const created = await stand.ask("POST", path, operator, wish);
    expect([created.status, created.body.origin]).toEqual([201, "run time"]);
    expect((await stand.ask("POST", path, operator, wish)).status).toBe(409);
    expect((await stand.ask("POST", path, operator, { ...wish, label: "c", url: "ftp://x" })).body.code).toBe(
      "INVALID_INPUT",
    );
    for (const bad of [
      { ...wish, network: "other" },
      { ...wish, extra: 1 },
      { ...wish, headers: { "a b": "v" } },
      {},
    ]) {
      expect((await stand.ask("POST", path, operator, bad)).status).toBe(400);
    }
    const trail = JSON.stringify((await stand.state.audit.list({})).items);
    expect(trail).toContain("upstream.add");
    expect(trail).not.toContain("secret");
    await stand.ask("POST", `${path}/testnet/b/drain`, operator);
    expect((await stand.ask("DELETE", `${path}/testnet/b`, operator)).status).toBe(204);
    expect(await stand.state.upstreamOrders.list()).toEqual([]);
    expect(await stand.state.upstreamNodes.list()).toEqual([]);
  });

  test("409: a label that another process has just taken, and nothing is written to the trail", async () => {
    await stand.state.upstreamNodes.add({ network: "testnet", label: "b", options: Uint8Array.of(2) });
    const wish = { network: "testnet", label: "b", url: "https://node.example" };
    expect((await stand.ask("POST", path, operator, wish)).status).toBe(409);
    expect(await actions()).toEqual([]);
  });

  test("204: a configured node that is removed by force is drained for all who are configured with it", async () => {
    expect((await stand.ask("DELETE", `${path}/devnet/a?force=true`, operator)).status).toBe(204);
    expect(await stand.state.upstreamOrders.list()).toMatchObject([{ label: "a", order: "drained" }]);
  });

  test("401, 403, 404, 405: who may not, what is not there, what is not done", async () => {
    const status = async (...args: Parameters<Stand["ask"]>) => (await stand.ask(...args)).status;
    expect(await status("GET", path, null)).toBe(401);
    for (const [method, at] of [
      ["GET", path],
      ["GET", `${path}/live`],
      ["POST", path],
      ["POST", `${path}/devnet/a/drain`],
      ["DELETE", `${path}/devnet/a`],
      ["POST", "/api/v1/admin/reload"],
    ] as const) {
      expect([method, at, await status(method, at, reader)]).toEqual([method, at, 403]);
    }
    expect(await status("POST", `${path}/devnet/nobody/drain`, operator)).toBe(404);
    expect(await status("POST", `${path}/elsewhere/a/drain`, operator)).toBe(404);
    expect(await status("POST", `${path}/devnet/a/explode`, operator)).toBe(404);
    expect(await status("PUT", path, operator)).toBe(405);
    expect(nodes[0]?.order).toBe("open");
  });

  test("200: the live view sends the present state repeatedly, and ends when the key does or the server drains", async () => {
    const asked = await stand.app.fetch(
      new Request(`http://127.0.0.1:8899${path}/live`, { headers: { "x-api-key": operator } }),
      { requestId: "r", socketAddress: "127.0.0.1" },
    );
    expect(asked.headers.get("content-type")).toBe("text/event-stream");
    const reading = asked.body?.getReader();
    const next = async () => new TextDecoder().decode((await reading?.read())?.value);
    expect(JSON.parse((await next()).replace("data: ", "")).items[0].label).toBe("a");
    nodes = [node({ out: "failing", serving: false })];
    let seen = "";
    while (!seen.includes('"out":"failing"')) {
      stand.clock.advance(5);
      seen = await next();
    }
    closing.abort();
    let done = false;
    while (!done) done = (await reading?.read())?.done ?? true;
    expect(done).toBe(true);
  });
});

describe("POST /api/v1/admin/reload", () => {
  test("200 with what holds now and what needs a restart, and an entry in the trail", async () => {
    const { status, body } = await stand.ask("POST", "/api/v1/admin/reload", operator);
    expect([status, body]).toEqual([200, { applied: ["LOG_LEVEL"], needs_restart: ["BIND"] }]);
    expect(await actions()).toEqual(["configuration.reload configuration"]);
  });

  test("409 with every fault when the configuration is not valid, or cannot be read", async () => {
    outcome = { kind: "invalid", faults: ["LOG_LEVEL: loud", "BIND: nowhere"] };
    const { status, body } = await stand.ask("POST", "/api/v1/admin/reload", operator);
    expect([status, body.code, body.errors.map(({ message }: { message: string }) => message)]).toEqual([
      409,
      "CONFLICT",
      ["LOG_LEVEL: loud", "BIND: nowhere"],
    ]);
    outcome = { kind: "unavailable" };
    expect((await stand.ask("POST", "/api/v1/admin/reload", operator)).status).toBe(409);
    expect(await actions()).toEqual([]);
  });
});
