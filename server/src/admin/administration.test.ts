import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { parseApiKey } from "@sluice/contract/api-key";
import { openStand, type Stand } from "./testing/stand.ts";

const keysPath = "/api/v1/admin/keys";
const accountsPath = "/api/v1/admin/accounts";
const overlapMs = 3_600_000;

let stand: Stand;
let operator: { id: string; key: string };
let owner: { id: string; key: string };
let accountId: string;
let otherId: string;

beforeEach(async () => {
  stand = await openStand();
  operator = await stand.key(await stand.account("operators"), ["admin"]);
  accountId = await stand.account("owner");
  otherId = await stand.account("other");
  owner = await stand.key(accountId, ["read", "keys:write"]);
});
afterEach(async () => await stand[Symbol.asyncDispose]());

const trail = async (subject: string) =>
  (await stand.state.audit.list({ subject })).items.map(({ actor, action, detail }) => ({ actor, action, detail }));

describe("accounts", () => {
  test("201, 200, 200: an account is made, listed, changed; subscriptions hold at once; each change leaves a trail", async () => {
    const wish = { name: "new", tiers: { oracle: "ultra" }, credits_monthly: "9223372036854775807" };
    const created = await stand.ask("POST", accountsPath, operator.key, wish);
    expect([created.status, created.body.tiers]).toEqual([
      201,
      { platform: "free", oracle: "ultra", "oracle-v2": "community" },
    ]);
    expect(created.body.credits_monthly).toBe("9223372036854775807");
    const { id } = created.body;
    expect((await stand.ask("GET", `${accountsPath}/${id}`, operator.key)).body).toEqual(created.body);
    const reader = await stand.key(id, ["keys:write"]);
    const rate = async () => (await stand.ask("GET", keysPath, reader.key)).headers.get("x-ratelimit-limit");
    expect(await rate()).toBe("10");
    const change = {
      name: "renamed",
      tiers: { platform: "business", "oracle-v2": "enterprise" },
      credits_monthly: null,
    };
    const changed = await stand.ask("PATCH", `${accountsPath}/${id}`, operator.key, change);
    expect([changed.status, changed.body.name, changed.body.tiers.oracle]).toEqual([200, "renamed", "ultra"]);
    expect([changed.body.tiers["oracle-v2"], changed.body.credits_monthly]).toEqual(["enterprise", null]);
    expect(await rate()).toBe("200");
    const [last, first] = await trail(id);
    expect(first).toEqual({ actor: operator.id, action: "account.create", detail: { after: created.body } });
    expect(last).toEqual({
      actor: operator.id,
      action: "account.change",
      detail: {
        before: { name: "new", tiers: created.body.tiers, credits_monthly: wish.credits_monthly },
        after: { name: "renamed", tiers: changed.body.tiers, credits_monthly: null },
      },
    });
  });

  test("200: the list has every account once over its pages", async () => {
    const ids = [];
    for (let path: string | null = `${accountsPath}?limit=2`; path !== null; ) {
      const { body } = await stand.ask("GET", path, operator.key);
      ids.push(...body.items.map(({ id }: { id: string }) => id));
      path = body.next_cursor === null ? null : `${accountsPath}?limit=2&cursor=${body.next_cursor}`;
    }
    for (const path of [accountsPath, "/api/v1/admin/keys", "/api/v1/admin/audit", `${accountsPath}/nobody`]) {
      expect((await stand.ask("GET", path, operator.key)).headers.get("cache-control")).toBe("no-store");
    }
    expect([ids.length, new Set(ids).size, ids.includes(accountId)]).toEqual([3, 3, true]);
  });

  test("400 for unknown members, tiers and amounts, and for a change of nothing; nothing is changed then", async () => {
    for (const wish of [
      { name: "x", owner: "me" },
      { tiers: { platform: "gold" } },
      { tiers: { sql: "free" } },
      { credits_monthly: 5 },
      { credits_monthly: "-1" },
      { credits_monthly: "9223372036854775808" },
      { requests_per_second: 0 },
      { name: " " },
      { name: "a\0b" },
      {},
      [],
      null,
    ]) {
      const { status, body } = await stand.ask("PATCH", `${accountsPath}/${accountId}`, operator.key, wish);
      expect([JSON.stringify(wish), status, body.code]).toEqual([JSON.stringify(wish), 400, "INVALID_INPUT"]);
      // A member is named as the caller named it.
      if (wish !== null && "credits_monthly" in wish) expect(body.errors[0].path).toBe("credits_monthly");
    }
    expect((await stand.state.accounts.get(accountId))?.name).toBe("owner");
    expect(await trail(accountId)).toEqual([]);
  });

  test("an account is disabled with all its keys, and never by a key of its own", async () => {
    const path = `${accountsPath}/${accountId}`;
    const { body } = await stand.ask("PATCH", path, operator.key, { status: "disabled" });
    expect(body.status).toBe("disabled");
    expect(await stand.opens(owner.key)).toBe("KEY_INACTIVE");
    expect((await stand.ask("PATCH", path, operator.key, { status: "active" })).body.status).toBe("active");
    expect(await stand.opens(owner.key)).toBe("granted");
    const { accountId: own = "" } = (await stand.state.keys.get(operator.id)) ?? {};
    const refused = await stand.ask("PATCH", `${accountsPath}/${own}`, operator.key, { status: "disabled" });
    expect([refused.status, refused.body.code]).toEqual([409, "CONFLICT"]);
    expect(await stand.opens(operator.key)).toBe("granted");
  });

  test("401, 403, 404, 405, 413, 415 are what they are at every endpoint", async () => {
    const path = `${accountsPath}/${accountId}`;
    const wish = { name: "x" };
    const status = async (...args: Parameters<Stand["ask"]>) => {
      const { status, body, headers } = await stand.ask(...args);
      expect(headers.get("access-control-allow-origin")).toBeNull();
      return [status, body.code, headers.get("allow")].filter((part) => part !== null);
    };
    expect(await status("PATCH", path, null, wish)).toEqual([401, "INVALID_API_KEY"]);
    expect(await status("PATCH", path, owner.key, wish)).toEqual([403, "PERMISSION_DENIED"]);
    expect(await status("GET", "/api/v1/admin/audit", owner.key)).toEqual([403, "PERMISSION_DENIED"]);
    expect(await status("PATCH", `${accountsPath}/nobody`, operator.key, wish)).toEqual([404, "NOT_FOUND"]);
    expect(await status("GET", "/api/v1/admin/nothing", operator.key)).toEqual([404, "NOT_FOUND"]);
    expect(await status("PUT", path, operator.key, wish)).toEqual([405, "METHOD_NOT_ALLOWED", "GET, HEAD, PATCH"]);
    expect(await status("OPTIONS", path, null)).toEqual([405, "METHOD_NOT_ALLOWED", "GET, HEAD, PATCH"]);
    expect(await status("PATCH", path, operator.key, { name: "x".repeat(300_000) })).toEqual([413, "BODY_TOO_LARGE"]);
    const asText = { "content-type": "text/plain" };
    expect(await status("PATCH", path, operator.key, "{}", asText)).toEqual([415, "UNSUPPORTED_MEDIA_TYPE"]);
    const zipped = { "content-type": "application/json", "content-encoding": "gzip" };
    expect(await status("PATCH", path, operator.key, wish, zipped)).toEqual([415, "UNSUPPORTED_MEDIA_TYPE"]);
    expect(await status("PATCH", path, operator.key, "{")).toEqual([400, "PARSE_ERROR"]);
  });

  test("every answer to a key states what is left of its rate: 200, 400, 403, 404, 429", async () => {
    const free = await stand.account("free", { platform: "free" });
    const { key } = await stand.key(free, ["read", "keys:write"]);
    const asked = async (method: string, path: string, body?: object) => {
      const { status, headers } = await stand.ask(method, path, key, body);
      return [status, headers.get("x-ratelimit-limit"), headers.get("x-ratelimit-remaining")];
    };
    expect(await asked("GET", keysPath)).toEqual([200, "10", "19"]);
    expect(await asked("GET", `${keysPath}?account_id=${otherId}`)).toEqual([403, "10", "18"]);
    expect(await asked("GET", `${keysPath}/nobody`)).toEqual([404, "10", "17"]);
    expect(await asked("POST", keysPath, { name: "" })).toEqual([400, "10", "16"]);
    // What the key may not do is refused before its rate is taken.
    expect(await asked("GET", "/api/v1/admin/audit")).toEqual([403, "10", "16"]);
    for (let left = 15; left >= 0; left -= 1) await asked("GET", keysPath);
    expect(await asked("GET", keysPath)).toEqual([429, "10", "0"]);
    expect(await asked("GET", "/api/v1/admin/audit")).toEqual([403, "10", "0"]);
  });

  test("an owner reads its own account, and no other", async () => {
    const reader = await stand.key(accountId, ["read"]);
    const bundler = await stand.key(accountId, ["bundles:write"]);
    for (const { key } of [owner, reader]) {
      expect((await stand.ask("GET", `${accountsPath}/${accountId}`, key)).body).toMatchObject({ id: accountId });
      expect((await stand.ask("GET", `${accountsPath}/${otherId}`, key)).status).toBe(404);
      expect((await stand.ask("GET", accountsPath, key)).status).toBe(403);
    }
    expect((await stand.ask("GET", `${accountsPath}/${accountId}`, bundler.key)).status).toBe(403);
  });

  test("403 for a change that a page of another origin makes, whatever its key; its own origin may", async () => {
    const path = `${accountsPath}/${accountId}`;
    const change = async (headers: object) =>
      (await stand.ask("PATCH", path, operator.key, { name: "x" }, headers)).status;
    expect(await change({ origin: "https://evil.example" })).toBe(403);
    expect(await change({ origin: "null" })).toBe(403);
    expect(await change({ "sec-fetch-site": "cross-site" })).toBe(403);
    expect(await change({ origin: "http://127.0.0.1:8899", "sec-fetch-site": "same-origin" })).toBe(200);
  });
});

describe("keys", () => {
  test("201: a key is shown once, opens its account, and neither it nor its hash is in any other answer", async () => {
    const wish = { name: "app", permissions: ["read"], restrictions: { networks: ["devnet"] }, requests_per_second: 3 };
    const created = await stand.ask("POST", keysPath, owner.key, wish);
    expect([created.status, created.headers.get("cache-control")]).toEqual([201, "no-store"]);
    const { key, ...shown } = created.body;
    expect(parseApiKey(key)).toEqual({ environment: "live" } as ReturnType<typeof parseApiKey>);
    expect([shown.account_id, shown.status, shown.requests_per_second]).toEqual([accountId, "active", 3]);
    expect(await stand.opens(key)).toBe("granted");
    const hash = createHash("sha256").update(key).digest("hex");
    const seen = JSON.stringify([
      (await stand.ask("GET", keysPath, owner.key)).body,
      (await stand.ask("GET", `${keysPath}/${shown.id}`, owner.key)).body,
      (await stand.ask("GET", "/api/v1/admin/audit", operator.key)).body,
    ]);
    expect(seen).toContain(shown.id);
    expect(seen).not.toContain(key);
    expect(seen).not.toContain(hash);
    expect(await trail(shown.id)).toEqual([{ actor: owner.id, action: "key.create", detail: { after: shown } }]);
  });

  test("200: what a key is restricted to, its rate, its permissions and its end hold at once", async () => {
    const { id, key } = await stand.key(accountId, ["read"]);
    expect(await stand.opens(key)).toBe("granted");
    const change = (wish: object) => stand.ask("PATCH", `${keysPath}/${id}`, owner.key, wish);
    await change({ restrictions: { networks: ["devnet"], ipRanges: ["203.0.113.0/24"] } });
    expect((await stand.ask("GET", "/api/v1/sent-transactions", key)).body.code).toBe("IP_NOT_ALLOWED");
    expect((await change({ status: "disabled" })).body.status).toBe("disabled");
    expect(await stand.opens(key)).toBe("KEY_INACTIVE");
    await change({ status: "active" });
    expect(await stand.opens(key)).toBe("granted");
    await change({ expires_at: new Date(stand.clock.now() + 1_000).toISOString() });
    stand.clock.advance(1_000);
    expect(await stand.opens(key)).toBe("KEY_INACTIVE");
    const [, , disabled, restricted] = await trail(id);
    expect(disabled?.detail).toEqual({ before: { status: "active" }, after: { status: "disabled" } });
    expect(restricted?.detail["before"]).toEqual({ restrictions: { networks: [], domains: [], ipRanges: [] } });
  });

  test("201: after a rotation both keys work until the overlap ends, and then the new one alone", async () => {
    const { id, key } = await stand.key(accountId, ["read"], { requestsPerSecond: 7, name: "app" });
    expect(await stand.opens(key)).toBe("granted");
    const rotated = await stand.ask("POST", `${keysPath}/${id}/rotate`, owner.key, { overlap_seconds: 3_600 });
    expect([rotated.status, rotated.body.name, rotated.body.requests_per_second]).toEqual([201, "app", 7]);
    expect(rotated.body.replaces).toEqual({ id, expires_at: "2026-11-20T13:00:00.000Z" });
    const both = async () => [await stand.opens(key), await stand.opens(rotated.body.key)];
    stand.clock.advance(overlapMs - 1);
    expect(await both()).toEqual(["granted", "granted"]);
    stand.clock.advance(1);
    expect(await both()).toEqual(["KEY_INACTIVE", "granted"]);
    expect((await trail(id)).map(({ action }) => action)).toEqual(["key.rotate"]);
    expect((await trail(rotated.body.id))[0]?.detail["replaces"]).toBe(id);
  });

  test("201: without an overlap the old key ends at once; no overlap lengthens a key's life", async () => {
    const { id, key } = await stand.key(accountId, ["read"]);
    await stand.opens(key);
    await stand.ask("POST", `${keysPath}/${id}/rotate`, owner.key, { overlap_seconds: 0 });
    expect(await stand.opens(key)).toBe("KEY_INACTIVE");
    const ending = await stand.key(accountId, ["read"], { expiresAt: stand.clock.now() + 1_000 });
    const { body } = await stand.ask("POST", `${keysPath}/${ending.id}/rotate`, owner.key, {});
    expect([body.replaces.expires_at, body.expires_at]).toEqual(Array(2).fill("2026-11-20T12:00:01.000Z"));
  });

  test("204: a deleted key opens nothing and comes back by no change, by no rotation", async () => {
    const { id, key } = await stand.key(accountId, ["read"]);
    await stand.opens(key);
    const path = `${keysPath}/${id}`;
    expect((await stand.ask("DELETE", path, owner.key)).status).toBe(204);
    expect((await stand.ask("DELETE", path, owner.key)).status).toBe(204);
    expect(await stand.opens(key)).toBe("KEY_INACTIVE");
    expect((await stand.ask("PATCH", path, owner.key, { status: "active" })).status).toBe(409);
    expect((await stand.ask("POST", `${path}/rotate`, owner.key, {})).status).toBe(409);
    expect((await stand.ask("GET", path, owner.key)).body.status).toBe("revoked");
    expect(await trail(id)).toHaveLength(1);
  });

  test("404 for the keys of another account, whatever is wished of them; an operator manages all", async () => {
    const foreign = await stand.key(otherId, ["read"]);
    const path = `${keysPath}/${foreign.id}`;
    const statuses = async (key: string) => [
      (await stand.ask("GET", path, key)).status,
      (await stand.ask("PATCH", path, key, { name: "mine" })).status,
      (await stand.ask("POST", `${path}/rotate`, key, {})).status,
      (await stand.ask("DELETE", path, key)).status,
    ];
    expect(await statuses(owner.key)).toEqual([404, 404, 404, 404]);
    expect((await stand.ask("POST", keysPath, owner.key, { account_id: otherId, name: "x" })).status).toBe(404);
    expect((await stand.ask("GET", `${keysPath}?account_id=${otherId}`, owner.key)).status).toBe(403);
    const own = (await stand.ask("GET", keysPath, owner.key)).body.items;
    expect(own.map(({ id }: { id: string }) => id)).toEqual([owner.id]);
    expect(await statuses(operator.key)).toEqual([200, 200, 201, 204]);
    expect((await stand.ask("GET", keysPath, operator.key)).body.items.length).toBe(4);
  });

  test("403: no key grants more than it has, nor manages one that has more", async () => {
    const mightier = await stand.key(accountId, ["read", "keys:write", "admin"]);
    const narrow = await stand.key(accountId, ["read", "keys:write"], {
      restrictions: { networks: ["devnet"], domains: [], ipRanges: [] },
    });
    const create = async (wish: object, key = owner.key) =>
      await stand.ask("POST", keysPath, key, { name: "new", ...wish });
    expect((await create({ permissions: ["read", "admin"] })).body).toMatchObject({
      status: 403,
      member: "permissions",
    });
    expect((await create({ restrictions: {} }, narrow.key)).body).toMatchObject({
      status: 403,
      member: "restrictions",
    });
    expect((await create({}, narrow.key)).body.restrictions.networks).toEqual(["devnet"]);
    for (const id of [mightier.id, operator.id]) {
      const expected = id === mightier.id ? 403 : 404;
      expect((await stand.ask("PATCH", `${keysPath}/${id}`, owner.key, { status: "disabled" })).status).toBe(expected);
      expect((await stand.ask("POST", `${keysPath}/${id}/rotate`, owner.key, {})).status).toBe(expected);
      expect((await stand.ask("DELETE", `${keysPath}/${id}`, owner.key)).status).toBe(expected);
    }
    const own = `${keysPath}/${narrow.id}`;
    expect((await stand.ask("PATCH", own, narrow.key, { restrictions: {} })).status).toBe(403);
    expect((await stand.ask("PATCH", own, narrow.key, { permissions: ["read", "admin"] })).status).toBe(403);
    const reader = await stand.key(accountId, ["read"]);
    expect((await stand.ask("GET", keysPath, reader.key)).status).toBe(403);
  });

  test("403: an operator bound to an address makes, frees and rotates no operator that is not; it may end one", async () => {
    const wide = await stand.key(otherId, ["admin"]);
    const bound = await stand.key(otherId, ["admin"], {
      restrictions: { networks: [], domains: [], ipRanges: ["127.0.0.0/8"] },
    });
    expect((await stand.ask("POST", keysPath, bound.key, { name: "x", permissions: ["admin"] })).status).toBe(403);
    expect((await stand.ask("PATCH", `${keysPath}/${bound.id}`, bound.key, { restrictions: {} })).status).toBe(403);
    expect((await stand.ask("POST", `${keysPath}/${wide.id}/rotate`, bound.key, {})).status).toBe(403);
    expect((await stand.ask("POST", keysPath, bound.key, { name: "x", account_id: accountId })).status).toBe(201);
    expect((await stand.ask("PATCH", `${keysPath}/${wide.id}`, bound.key, { status: "disabled" })).status).toBe(200);
    expect((await stand.ask("PATCH", `${keysPath}/${wide.id}`, bound.key, { status: "active" })).status).toBe(403);
  });

  test("409: the last operator's key is neither deleted nor disabled, robbed of its permission nor let expire", async () => {
    const path = `${keysPath}/${operator.id}`;
    await stand.key(otherId, ["admin"], { status: "disabled" });
    await stand.key(otherId, ["admin"], { expiresAt: stand.clock.now() });
    const refused = [
      await stand.ask("DELETE", path, operator.key),
      await stand.ask("PATCH", path, operator.key, { status: "disabled" }),
      await stand.ask("PATCH", path, operator.key, { permissions: ["read"] }),
    ];
    expect(refused.map(({ status, body }) => [status, body.code])).toEqual(Array(3).fill([409, "CONFLICT"]));
    const ended = await stand.ask("PATCH", path, operator.key, { expires_at: "2026-11-20T12:00:00.000Z" });
    expect([ended.status, ended.body.code]).toEqual([400, "INVALID_INPUT"]);
    expect(await stand.opens(operator.key)).toBe("granted");
    await stand.key(otherId, ["admin"]);
    expect((await stand.ask("DELETE", path, operator.key)).status).toBe(204);
    expect(await stand.opens(operator.key)).toBe("KEY_INACTIVE");
  });

  test("400 for unknown members and for values that no key has", async () => {
    const path = `${keysPath}/${owner.id}`;
    for (const wish of [
      {},
      { hash: "0".repeat(64) },
      { account_id: otherId },
      { status: "revoked" },
      { permissions: ["root"] },
      { restrictions: { ipRanges: ["10.0.0.0/33"] } },
      { restrictions: { domains: ["https://example.com/path"] } },
      { restrictions: { networks: ["devnet"], extra: 1 } },
      { expires_at: "tomorrow" },
      { requests_per_second: -1 },
      { requests_per_second: 1e300 },
    ]) {
      const { status, body } = await stand.ask("PATCH", path, owner.key, wish);
      expect([JSON.stringify(wish), status, body.code]).toEqual([JSON.stringify(wish), 400, "INVALID_INPUT"]);
    }
    for (const wish of [{ overlap_seconds: -1 }, { overlap_seconds: 2_592_001 }, { overlap: 1 }, []]) {
      expect((await stand.ask("POST", `${path}/rotate`, owner.key, wish)).status).toBe(400);
    }
    expect(await trail(owner.id)).toEqual([]);
  });

  test("a key's end may be of any precision and offset, and is never in the past", async () => {
    const create = async (expires_at: string) =>
      await stand.ask("POST", keysPath, owner.key, { name: "x", expires_at });
    for (const [text, shown] of [
      ["2026-12-01T00:00:00Z", "2026-12-01T00:00:00.000Z"],
      ["2026-12-01T02:00:00+02:00", "2026-12-01T00:00:00.000Z"],
      ["2026-11-20T12:00:00.001Z", "2026-11-20T12:00:00.001Z"],
    ] as const) {
      const { status, body } = await create(text);
      expect([text, status, body.expires_at]).toEqual([text, 201, shown]);
      expect((await stand.ask("PATCH", `${keysPath}/${body.id}`, owner.key, { expires_at: text })).status).toBe(200);
    }
    const message = "must be in the future; it is 2026-11-20T12:00:00.000Z now";
    for (const text of ["2026-11-20T12:00:00Z", "2026-11-20T13:00:00+02:00", "1970-01-01T00:00:00Z"]) {
      const answers = [
        await create(text),
        await stand.ask("PATCH", `${keysPath}/${owner.id}`, owner.key, { expires_at: text }),
      ];
      for (const { status, body } of answers) {
        expect([status, body.errors]).toEqual([400, [{ path: "expires_at", message }]]);
      }
    }
  });

  test("a key created without a list reads and sends transactions, as far as the key that asks may", async () => {
    const created = async (key: string, wish: object = {}) =>
      (await stand.ask("POST", keysPath, key, { name: "x", ...wish })).body.permissions;
    const full = await stand.key(accountId, ["transactions:write", "keys:write", "read"]);
    const clerk = await stand.key(accountId, ["keys:write"]);
    expect(await created(operator.key)).toEqual(["read", "transactions:write"]);
    expect(await created(full.key)).toEqual(["read", "transactions:write"]);
    expect(await created(owner.key)).toEqual(["read"]);
    expect(await created(clerk.key, { permissions: ["keys:write"] })).toEqual(["keys:write"]);
  });

  test("no key is made that may do nothing: 403 naming what its maker lacks, 400 for an empty list", async () => {
    const clerk = await stand.key(accountId, ["keys:write"]);
    const denied = await stand.ask("POST", keysPath, clerk.key, { name: "x" });
    expect(denied.body).toMatchObject({
      status: 403,
      code: "PERMISSION_DENIED",
      member: "permissions",
      missing: ["read", "transactions:write"],
    });
    expect(denied.body.detail).toContain("read and transactions:write");
    const message = "must name at least one permission: a key without any can do nothing";
    for (const [method, path] of [
      ["POST", keysPath],
      ["PATCH", `${keysPath}/${owner.id}`],
    ] as const) {
      const { status, body } = await stand.ask(method, path, operator.key, { name: "x", permissions: [] });
      expect([status, body.errors]).toEqual([400, [{ path: "permissions", message }]]);
    }
  });

  test("methods that a key may call are shown, changed, handed on by a rotation, and never widened", async () => {
    const methods = ["getSlot", "getToken*"];
    const narrow = await stand.key(accountId, ["read", "keys:write"], { methods });
    const create = (wish: object) => stand.ask("POST", keysPath, narrow.key, { name: "x", ...wish });
    expect((await create({})).body.methods).toEqual(methods);
    expect((await create({ methods: ["getTokenSupply"] })).body.methods).toEqual(["getTokenSupply"]);
    for (const wider of [[], ["get*"], ["getSlot", "getBalance"]]) {
      expect((await create({ methods: wider })).body).toMatchObject({ status: 403, member: "methods" });
      const own = await stand.ask("PATCH", `${keysPath}/${narrow.id}`, narrow.key, { methods: wider });
      expect([own.status, own.body.member]).toEqual([403, "methods"]);
    }
    const path = `${keysPath}/${narrow.id}`;
    expect((await stand.ask("GET", path, operator.key)).body.methods).toEqual(methods);
    expect((await stand.ask("POST", `${path}/rotate`, operator.key, {})).body.methods).toEqual(methods);
    expect((await stand.ask("PATCH", path, operator.key, { name: "y" })).body.methods).toEqual(methods);
    expect((await stand.ask("PATCH", path, operator.key, { methods: [] })).body.methods).toEqual([]);
    expect((await trail(narrow.id))[0]?.detail).toEqual({ before: { methods }, after: { methods: [] } });
    expect((await stand.ask("POST", keysPath, operator.key, { name: "x" })).body.methods).toEqual([]);
  });

  test("400 for a dev key on a server that refuses them", async () => {
    await using serving = await openStand(() => ({ developmentKeys: "refuse" }));
    const key = (await serving.key(await serving.account("a"), ["admin"])).key;
    const wish = { name: "x", environment: "dev" };
    const { status, body } = await serving.ask("POST", keysPath, key, wish);
    expect([status, body.errors[0].path]).toEqual([400, "environment"]);
    expect((await serving.ask("POST", keysPath, key, { ...wish, environment: "live" })).status).toBe(201);
  });

  test("a key that was disabled a moment ago changes nothing, though a cache may still know it", async () => {
    expect(await stand.opens(owner.key)).toBe("granted");
    await stand.state.keys.setStatus(owner.id, "disabled");
    const { status, body } = await stand.ask("POST", keysPath, owner.key, { name: "late" });
    expect([status, body.code]).toEqual([401, "KEY_INACTIVE"]);
  });
});

describe("GET /api/v1/admin/audit", () => {
  test("200: pages over all changes, newest first, and over those of one subject", async () => {
    const created = [];
    for (const name of ["a", "b", "c"]) {
      created.push((await stand.ask("POST", keysPath, owner.key, { name })).body.id);
      stand.clock.advance(1);
    }
    const first = (await stand.ask("GET", "/api/v1/admin/audit?limit=2", operator.key)).body;
    const rest = (await stand.ask("GET", `/api/v1/admin/audit?limit=2&cursor=${first.next_cursor}`, operator.key)).body;
    const subjects = [...first.items, ...rest.items].map(({ subject }) => subject);
    expect(subjects).toEqual(created.toReversed());
    expect(rest.next_cursor).toBeNull();
    const one = (await stand.ask("GET", `/api/v1/admin/audit?subject=${created[1]}`, operator.key)).body.items;
    expect(one).toMatchObject([{ actor: owner.id, action: "key.create", at: "2026-11-20T12:00:00.001Z" }]);
    expect((await stand.ask("GET", "/api/v1/admin/audit?cursor=nonsense", operator.key)).status).toBe(400);
  });
});
