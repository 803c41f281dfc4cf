import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import type { EngineFigures } from "@sluice/contract/schemas";
import { SecretVault, seededRandom } from "@sluice/lib";
import { createManagement } from "./management.ts";
import { openStand, type Stand } from "./testing/stand.ts";

const engine = "/api/v1/admin/engine";
const searchers = "/api/v1/admin/searchers";
const pubkey = "So11111111111111111111111111111111111111112";
const figures: EngineFigures = {
  status: "ok",
  slot: 7,
  bundles_live: 2,
  validators: [{ identity: pubkey, next_slots: [8, 9] }],
  tip_floor: { floor: "1000", average_24h: "1000", utilization: 0.5, bundle_share: 0.25 },
};

let stand: Stand;
let accountId: string;
let operator: { id: string; key: string };
let reader: string;
let running: EngineFigures | null;
/** What the switches were each time the engine was instructed to follow them. */
let followed: string[];
let forgotten: string[];
let standsBy = false;

beforeEach(async () => {
  running = figures;
  standsBy = false;
  followed = [];
  forgotten = [];
  stand = await openStand(({ state }) => ({
    invalidateAccount: (id) => void forgotten.push(id),
    engine: {
      figures: () => running,
      standsBy: () => standsBy,
      refreshSwitches: async () => {
        const all = await state.engine.switches.all();
        followed.push(all.flatMap(({ name, isOn }) => (isOn ? [name] : [])).join(" "));
      },
    },
  }));
  accountId = await stand.account("searchers");
  operator = await stand.key(accountId, ["admin"]);
  reader = (await stand.key(accountId, ["read", "bundles:write"])).key;
});
afterEach(async () => await stand[Symbol.asyncDispose]());

const trail = async () => (await stand.state.audit.list({})).items.toReversed();

describe("the engine's switches", () => {
  test("200: what is switched, and what the engine of this process does, or null without one", async () => {
    const off = { on: false, set_at: null };
    const present = await stand.ask("GET", engine, operator.key);
    expect([present.status, present.body]).toEqual([
      200,
      { switches: { maintenance: off, halted: off }, engine: figures, standby: false },
    ]);
    running = null;
    expect((await stand.ask("GET", engine, operator.key)).body).toMatchObject({ engine: null, standby: false });
    standsBy = true;
    expect((await stand.ask("GET", engine, operator.key)).body).toMatchObject({ engine: null, standby: true });
  });

  test("200: a switch is on disk, in the trail and followed here before it is answered", async () => {
    const answer = await stand.ask("PUT", `${engine}/halted`, operator.key, { on: true });
    expect([answer.status, answer.body.switches.halted.on, answer.body.switches.maintenance.on]).toEqual([
      200,
      true,
      false,
    ]);
    await stand.ask("PUT", `${engine}/maintenance`, operator.key, { on: true });
    await stand.ask("PUT", `${engine}/halted`, operator.key, { on: false });
    expect(followed).toEqual(["halted", "maintenance halted", "maintenance"]);
    expect(await trail()).toMatchObject([
      { actor: operator.id, action: "engine.halted", detail: { before: { on: false }, after: { on: true } } },
      { action: "engine.maintenance", subject: "engine" },
      { action: "engine.halted", detail: { before: { on: true }, after: { on: false } } },
    ]);
  });

  test("400, 401, 403, 404, 405: what is no switch and who may not, and nothing is switched", async () => {
    const status = async (...args: Parameters<Stand["ask"]>) => (await stand.ask(...args)).status;
    for (const body of [{}, { on: "yes" }, { on: true, why: "x" }, "on"]) {
      expect(await status("PUT", `${engine}/halted`, operator.key, body)).toBe(400);
    }
    for (const [method, at, body] of [
      ["GET", engine, undefined],
      ["PUT", `${engine}/halted`, { on: true }],
      ["GET", searchers, undefined],
      ["POST", searchers, { pubkey, account_id: accountId }],
      ["DELETE", `${searchers}/${pubkey}`, undefined],
      ["GET", `${searchers}/limits`, undefined],
      ["PUT", `${searchers}/limits/${accountId}`, { bundles_per_second: 1, burst: 1 }],
      ["DELETE", `${searchers}/limits/${accountId}`, undefined],
    ] as const) {
      expect([method, at, await status(method, at, null, body)]).toEqual([method, at, 401]);
      expect([method, at, await status(method, at, reader, body)]).toEqual([method, at, 403]);
    }
    expect(await status("PUT", `${engine}/other`, operator.key, { on: true })).toBe(404);
    expect(await status("POST", `${engine}/halted`, operator.key, { on: true })).toBe(405);
    expect((await stand.state.engine.switches.all()).some(({ isOn }) => isOn)).toBe(false);
    expect([await trail(), followed]).toEqual([[], []]);
  });
});

describe("searchers", () => {
  test("201, 204: a key is linked and unlinked, recorded in the trail, and open streams ask again", async () => {
    const wish = { pubkey, account_id: accountId };
    const created = await stand.ask("POST", searchers, operator.key, wish);
    expect([created.status, created.body.account_id]).toEqual([201, accountId]);
    expect((await stand.ask("POST", searchers, operator.key, wish)).status).toBe(201);
    expect((await stand.ask("GET", `${searchers}?account_id=${accountId}`, operator.key)).body.items).toEqual([
      created.body,
    ]);
    expect((await stand.ask("GET", `${searchers}?account_id=nobody`, operator.key)).body.items).toEqual([]);
    const gone = [];
    for (let times = 0; times < 2; times += 1) {
      gone.push((await stand.ask("DELETE", `${searchers}/${pubkey}`, operator.key)).status);
    }
    expect(gone).toEqual([204, 404]);
    expect(forgotten).toEqual([accountId, accountId, accountId]);
    expect((await trail()).map(({ action, subject }) => [action, subject])).toEqual([
      ["searcher.link", pubkey],
      ["searcher.link", pubkey],
      ["searcher.unlink", pubkey],
    ]);
  });

  test("400, 404, 409: what is no key, no account, or another's", async () => {
    const link = async (body: object) => (await stand.ask("POST", searchers, operator.key, body)).status;
    expect(await link({ pubkey: "z".repeat(44), account_id: accountId })).toBe(400);
    expect(await link({ pubkey: "0OIl", account_id: accountId })).toBe(400);
    expect(await link({ pubkey, account_id: accountId, tier: "gold" })).toBe(400);
    expect(await link({ pubkey, account_id: "nobody" })).toBe(404);
    expect(await link({ pubkey, account_id: accountId })).toBe(201);
    expect(await link({ pubkey, account_id: await stand.account("others") })).toBe(409);
    expect((await stand.state.engine.searchers.find(pubkey))?.accountId).toBe(accountId);
    expect((await trail()).length).toBe(1);
  });

  test("200, 204: a limit is set, set again and cleared, for an account and for a key alone", async () => {
    const limit = { bundles_per_second: 50, burst: 75 };
    for (const id of [accountId, `pubkey:${pubkey}`]) {
      const at = `${searchers}/limits/${encodeURIComponent(id)}`;
      const set = await stand.ask("PUT", at, operator.key, limit);
      expect([set.status, set.body]).toMatchObject([200, { searcher_id: id, ...limit }]);
      expect(await stand.state.engine.searchers.limitOf(id)).toMatchObject({ bundlesPerSecond: 50, burst: 75 });
      expect((await stand.ask("PUT", at, operator.key, { ...limit, burst: 60 })).body.burst).toBe(60);
      expect((await stand.ask("GET", `${searchers}/limits`, operator.key)).body.items.length).toBe(1);
      expect((await stand.ask("DELETE", at, operator.key)).status).toBe(204);
      expect((await stand.ask("DELETE", at, operator.key)).status).toBe(404);
    }
    expect((await trail()).slice(0, 3).map(({ detail }) => detail)).toEqual([
      { before: null, after: limit },
      { before: limit, after: { ...limit, burst: 60 } },
      { before: { ...limit, burst: 60 }, after: null },
    ]);
  });

  test("400, 404: a limit of nothing, or for an unknown searcher", async () => {
    const set = async (id: string, body: object) =>
      (await stand.ask("PUT", `${searchers}/limits/${encodeURIComponent(id)}`, operator.key, body)).status;
    const limit = { bundles_per_second: 5, burst: 5 };
    expect(await set(accountId, { ...limit, burst: 0 })).toBe(400);
    expect(await set(accountId, { bundles_per_second: 5 })).toBe(400);
    expect(await set(accountId, { ...limit, bundles_per_second: 1.5 })).toBe(400);
    expect(await set("nobody", limit)).toBe(404);
    expect(await set("pubkey:nobody", limit)).toBe(400);
    expect(await trail()).toEqual([]);
  });
});

test("the management socket does the same, in the name of the operator", async () => {
  const unused = async () => {
    throw new Error("was not expected to be asked");
  };
  const app = createManagement(
    { actor: "operator" },
    {
      state: stand.state,
      clock: stand.clock,
      random: seededRandom(3),
      vault: new SecretVault(null, seededRandom(4)),
      processId: "ab".repeat(12),
      backups: { start: () => undefined, progress: () => ({ status: "none" }) },
      requestId: () => "req-1",
      log: { error: () => undefined },
      invalidateKey: () => undefined,
      invalidateAccount: (id) => void forgotten.push(id),
      engine: { figures: () => running, standsBy: () => false, refreshSwitches: async () => void followed.push("now") },
      developmentKeys: "refuse",
      creditsUsed: unused,
      creditsHeld: unused,
      flushUsage: unused,
      readUsage: unused,
      requestsKeptSince: () => null,
      ledgerTables: unused,
      servedRequests: unused,
      recordedRequests: unused,
      requests: { flush: unused, find: unused, search: unused },
      lastHour: unused,
      requestsUsed: unused,
      reload: unused,
      migrations: unused,
      contract: unused,
      server: null,
    },
  );
  const ask = async (method: string, path: string, body?: object) => {
    const init = {
      method,
      headers: { "content-type": "application/json" },
      ...(body && { body: JSON.stringify(body) }),
    };
    return (await app.fetch(new Request(`http://sluice${path}`, init))).status;
  };
  const root = "/api/v1/admin";
  expect(await ask("PUT", `${root}/engine/maintenance`, { on: true })).toBe(200);
  expect(await ask("POST", `${root}/searchers`, { pubkey, account_id: accountId })).toBe(201);
  expect(await ask("PUT", `${root}/searchers/limits/${accountId}`, { bundles_per_second: 5, burst: 5 })).toBe(200);
  expect(await ask("DELETE", `${root}/searchers/${pubkey}`)).toBe(204);
  expect(await ask("GET", `${root}/engine`)).toBe(200);
  expect([followed, forgotten]).toEqual([["now"], [accountId, accountId]]);
  expect((await trail()).map(({ actor, action }) => `${actor} ${action}`)).toEqual([
    "operator engine.maintenance",
    "operator searcher.link",
    "operator searcher.limit",
    "operator searcher.unlink",
  ]);
});
