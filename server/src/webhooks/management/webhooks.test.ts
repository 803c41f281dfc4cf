import { describe, expect, test } from "bun:test";
import type { PlatformTier } from "@sluice/contract/tiers";
import { webhookEventNames } from "@sluice/contract/webhooks";
import { managementStand, said, url } from "./testing/management-stand.ts";

const stand = managementStand();
const { ask, caller, clock, create, facts, post, refused, secrets, told } = stand;

describe("a webhook", () => {
  test("is created with the specified members, its secret once, and shown without it from then on", async () => {
    const { status, headers, body } = await create({ description: "deposits" });
    expect([status, headers.get("cache-control"), headers.get("access-control-allow-origin")]).toEqual([
      201,
      "no-store",
      null,
    ]);
    const { secret, ...record } = body;
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(record).toEqual({
      webhook_id: expect.stringMatching(/^wh_/),
      url,
      status: "active",
      status_reason: null,
      network: "devnet",
      events: ["transaction.confirmed"],
      filters: {},
      description: "deposits",
      retry_policy: { max_attempts: 18, backoff_multiplier: 2 },
      fifo: false,
      created_at: "2026-09-21T14:13:20.000Z",
      updated_at: "2026-09-21T14:13:20.000Z",
      last_success_at: null,
      failing_since: null,
      waiting: 0,
      parked_since: null,
      behind_since: null,
      secret_overlap_ends_at: null,
      notices: [],
    });
    expect(await ask(`/${body.webhook_id}`)).toMatchObject({ status: 200, body: record });
    expect((await ask("")).body).toEqual({ webhooks: [record], next_cursor: null });
    const stored = await stand.state.webhooks.get(caller.accountId, body.webhook_id);
    expect(new TextDecoder().decode(stored?.secret)).not.toContain(secret);
    expect(stored === null ? null : secrets.signing(stored, clock.now()).present).toBe(secret);
    expect(facts.map(({ method, status: of }) => [method, of])).toEqual([
      ["POST /api/v1/webhooks", 201],
      ["GET /api/v1/webhooks/:webhook_id", 200],
      ["GET /api/v1/webhooks", 200],
    ]);
  });

  test("is changed in what is sent alone, and deleted", async () => {
    const { webhook_id: id } = (await create({ filters: { success: true }, fifo: true })).body;
    const changed = await ask(`/${id}`, {
      method: "PATCH",
      body: { description: "b", events: ["transaction.finalized"] },
    });
    expect(changed).toMatchObject({
      status: 200,
      body: { url, description: "b", events: ["transaction.finalized"], filters: { success: true }, fifo: true },
    });
    expect(changed.body).not.toHaveProperty("secret");
    expect(
      await ask(`/${id}`, { method: "PATCH", body: { filters: {}, retry_policy: { max_attempts: 7 } } }),
    ).toMatchObject({
      body: { filters: {}, retry_policy: { max_attempts: 7, backoff_multiplier: 2 } },
    });
    expect(said(await ask(`/${id}`, { method: "PATCH", body: {} }))).toEqual([400, "INVALID_INPUT", ""]);
    expect(said(await ask(`/${id}`, { method: "PATCH", body: { network: "mainnet", description: "" } }))).toEqual([
      400,
      "INVALID_INPUT",
      "network",
    ]);
    expect(await ask(`/${id}`, { method: "DELETE" })).toMatchObject({ status: 204, body: null });
    expect(said(await ask(`/${id}`))).toEqual([404, "NOT_FOUND"]);
    expect(said(await ask(`/${id}`, { method: "DELETE" }))).toEqual([404, "NOT_FOUND"]);
    expect(told).toEqual(["changed", "changed", "changed", "changed", "deleted"]);
  });

  test("keeps of its retry policy what a change leaves out", async () => {
    const policy = { max_attempts: 5, backoff_multiplier: 4.5 };
    const { webhook_id: id } = (await create({ retry_policy: policy })).body;
    const changed = async (retry_policy: object) =>
      (await ask(`/${id}`, { method: "PATCH", body: { retry_policy } })).body.retry_policy;
    expect(await changed({ max_attempts: 7 })).toEqual({ ...policy, max_attempts: 7 });
    expect(await changed({ backoff_multiplier: 1 })).toEqual({ max_attempts: 7, backoff_multiplier: 1 });
    expect(await changed({})).toEqual({ max_attempts: 7, backoff_multiplier: 1 });
    expect(said(await ask(`/${id}`, { method: "PATCH", body: { retry_policy: { max_attempts: 21 } } }))).toEqual([
      400,
      "INVALID_INPUT",
      "retry_policy.max_attempts",
    ]);
  });

  test("is paused and resumed, and resumed when this server has disabled it", async () => {
    const { webhook_id: id } = (await create({})).body;
    expect(await post(`/${id}/pause`)).toMatchObject({ status: 200, body: { status: "paused" } });
    expect(await post(`/${id}/resume`)).toMatchObject({ status: 200, body: { status: "active", status_reason: null } });
  });

  test("gets a new secret beside the old one for a day, or until its owner ends that", async () => {
    const { webhook_id: id, secret: first } = (await create({})).body;
    const rotated = await post(`/${id}/rotate-secret`);
    expect(rotated).toMatchObject({
      status: 200,
      body: { webhook_id: id, overlap_ends_at: "2026-09-22T14:13:20.000Z" },
    });
    const { secret: second } = rotated.body;
    expect((await ask(`/${id}`)).body.secret_overlap_ends_at).toBe("2026-09-22T14:13:20.000Z");
    const signing = async (atMs: number) => {
      const record = await stand.state.webhooks.get(caller.accountId, id);
      return record === null ? null : secrets.signing(record, atMs);
    };
    const [now, day] = [clock.now(), 86_400_000];
    expect(await signing(now)).toEqual({ present: first, next: [second], untilMs: now + day });
    expect(await signing(now + day)).toEqual({ present: second, next: [], untilMs: null });
    expect((await post(`/${id}/end-overlap`)).body.secret_overlap_ends_at).toBeNull();
    expect(await signing(now)).toEqual({ present: second, next: [], untilMs: null });
  });

  test("is signed by every secret of a day, each for its own day, whatever was rotated in meanwhile", async () => {
    const { webhook_id: id, secret: first } = (await create({})).body;
    const [now, hour, day] = [clock.now(), 3_600_000, 86_400_000];
    const second = (await post(`/${id}/rotate-secret`)).body.secret;
    clock.advance(hour);
    const third = (await post(`/${id}/rotate-secret`)).body.secret;
    const signing = async (atMs: number) => {
      const record = await stand.state.webhooks.get(caller.accountId, id);
      return record === null ? null : secrets.signing(record, atMs);
    };
    expect(await signing(now + hour)).toEqual({ present: first, next: [second, third], untilMs: now + day });
    expect(await signing(now + day)).toEqual({ present: second, next: [third], untilMs: now + hour + day });
    expect(await signing(now + hour + day)).toEqual({ present: third, next: [], untilMs: null });
    for (let made = 3; made < 8; made += 1) expect((await post(`/${id}/rotate-secret`)).status).toBe(200);
    expect(said(await post(`/${id}/rotate-secret`))).toEqual([409, "CONFLICT"]);
    expect((await post(`/${id}/end-overlap`)).body.secret_overlap_ends_at).toBeNull();
    expect((await signing(clock.now()))?.next).toEqual([]);
    expect((await post(`/${id}/rotate-secret`)).status).toBe(200);
  });

  test("of another account is not there, whatever is asked", async () => {
    const { webhook_id: id } = (await create({})).body;
    caller.accountId = (await stand.state.accounts.create({ name: "stranger" })).id;
    const answers = [
      await ask(`/${id}`),
      await ask(`/${id}`, { method: "PATCH", body: { description: "" } }),
      await ask(`/${id}`, { method: "DELETE" }),
      await post(`/${id}/pause`),
      await post(`/${id}/resume`),
      await post(`/${id}/rotate-secret`),
      await post(`/${id}/end-overlap`),
    ];
    expect(answers.map(said)).toEqual(answers.map(() => [404, "NOT_FOUND"]));
    expect((await ask("")).body.webhooks).toEqual([]);
  });
});

describe("the list", () => {
  test("is paged, and of one network where the request names it", async () => {
    for (const network of ["devnet", "mainnet", "devnet"]) await create({ network });
    const first = (await ask("?limit=2")).body;
    const second = (await ask(`?limit=2&cursor=${first.next_cursor}`)).body;
    expect([first.webhooks.length, second.webhooks.length, second.next_cursor]).toEqual([2, 1, null]);
    expect((await ask("", { headers: { "X-Network": "mainnet-beta" } })).body.webhooks.length).toBe(1);
    expect((await ask("?network=testnet")).body.webhooks).toEqual([]);
    expect(said(await ask("?network=x1"))).toEqual([400, "INVALID_INPUT", "network"]);
    expect(said(await ask("?limit=0"))).toEqual([400, "INVALID_INPUT", "limit"]);
    expect(said(await ask("?cursor=abc"))).toEqual([400, "INVALID_INPUT", "cursor"]);
  });
});

describe("who manages", () => {
  test("needs a key with the permission, and takes of its rate", async () => {
    const { webhook_id: id } = (await create({})).body;
    expect(said(await ask("", { headers: { "x-api-key": "bad" } }))).toEqual([401, "INVALID_API_KEY"]);
    expect(refused).toEqual(["INVALID_API_KEY"]);
    caller.permissions = ["read"];
    expect((await ask("")).status).toBe(200);
    const denied = await create({});
    expect([...said(denied), denied.body.detail]).toEqual([
      403,
      "PERMISSION_DENIED",
      "The API key needs the permission webhooks:write",
    ]);
    for (const name of ["pause", "resume", "rotate-secret", "end-overlap"]) {
      expect(said(await post(`/${id}/${name}`))).toEqual([403, "PERMISSION_DENIED"]);
    }
    expect(said(await ask(`/${id}`, { method: "DELETE" }))).toEqual([403, "PERMISSION_DENIED"]);
    caller.permissions = ["webhooks:write"];
    expect((await ask(`/${id}`)).status).toBe(200);
    caller.isLimited = true;
    const limited = await ask("");
    expect([...said(limited), limited.headers.get("retry-after")]).toEqual([429, "RATE_LIMIT_EXCEEDED", "2"]);
    expect(limited.headers.get("x-ratelimit-limit")).toBe("50");
  });

  test("by a key of some networks sees and changes the webhooks of these alone", async () => {
    const { webhook_id: onDevnet } = (await create({})).body;
    const { webhook_id: onMainnet } = (await create({}, { "X-Network": "mainnet" })).body;
    caller.networks = ["mainnet"];
    expect((await ask("")).body.webhooks.map(({ webhook_id }: { webhook_id: string }) => webhook_id)).toEqual([
      onMainnet,
    ]);
    expect(said(await ask(`/${onDevnet}`))).toEqual([403, "NETWORK_NOT_ALLOWED"]);
    expect(said(await create({ network: "devnet" }))).toEqual([403, "NETWORK_NOT_ALLOWED"]);
    expect(said(await create({}))).toEqual([403, "NETWORK_NOT_ALLOWED"]);
    expect(said(await ask("", { headers: { "X-Network": "devnet" } }))).toEqual([403, "NETWORK_NOT_ALLOWED"]);
    expect((await ask(`/${onMainnet}`)).body.network).toBe("mainnet");
    caller.networks = null;
    expect(said(await create({ network: "devnet" }, { "X-Network": "mainnet" }))).toEqual([
      400,
      "INVALID_INPUT",
      "network",
    ]);
  });

  test("needs a tier that includes each event, and is told which event needs which", async () => {
    const refusal = async (tier: PlatformTier, event: string) => {
      caller.tier = tier;
      const { status, body } = await create({ events: ["transaction.failed", event] });
      return status === 201 ? "created" : [status, body.code, body.event, body.tier];
    };
    const needs = { business: ["transaction", "account.updated", "webhook"], professional: ["account.c", "block"] };
    for (const event of webhookEventNames.filter((name) => name !== "transaction.failed")) {
      const needed = needs.business.some((start) => event.startsWith(start)) ? "business" : "professional";
      expect(await refusal("free", event)).toEqual([403, "TIER_REQUIRED", "transaction.failed", "business"]);
      expect(await refusal("developer", event)).toEqual([403, "TIER_REQUIRED", "transaction.failed", "business"]);
      expect(await refusal("business", event)).toEqual(
        needed === "business" ? "created" : [403, "TIER_REQUIRED", event, "professional"],
      );
      expect(await refusal("professional", event)).toBe("created");
    }
    caller.tier = "professional";
    const { webhook_id: id } = (await create({ events: ["block.confirmed"] })).body;
    caller.tier = "business";
    expect(said(await post(`/${id}/resume`))).toEqual([403, "TIER_REQUIRED"]);
    expect(said(await ask(`/${id}`, { method: "PATCH", body: { events: ["block.finalized"] } }))).toEqual([
      403,
      "TIER_REQUIRED",
    ]);
    expect((await ask(`/${id}`, { method: "PATCH", body: { description: "kept" } })).status).toBe(200);
  });

  test("has as many webhooks as the tier includes", async () => {
    caller.tier = "business";
    for (let made = 0; made < 25; made += 1) expect((await create({})).status).toBe(201);
    const { status, body } = await create({});
    expect([status, body.code, body.detail]).toEqual([
      409,
      "CONFLICT",
      "The account has 25 webhooks, and the tier business includes no more than that",
    ]);
    caller.tier = "professional";
    expect((await create({})).status).toBe(201);
  });
});
