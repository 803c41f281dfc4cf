import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Network, Permission, PlatformTier } from "@sluice/contract/tiers";
import { webhookEventNames, webhookFilterEvents } from "@sluice/contract/webhooks";
import { ManualClock, SecretVault, seededRandom, systemClock } from "@sluice/lib";
import { addressOfBytes } from "@sluice/wire/identifiers";
import { accessOfTests, grantOfTests } from "../../access/testing/grants.ts";
import type { RequestFact } from "../../ledger/index.ts";
import { createAddressRules } from "../../net/index.ts";
import { openState, type State } from "../../state/index.ts";
import { WebhookSecrets } from "../model/webhook-secrets.ts";
import { createWebhookHttp, webhooksPath } from "./http.ts";
import { WebhookManagement } from "./webhook-management.ts";

const random = seededRandom(7);
const clock = new ManualClock(1_790_000_000_000);
const secrets = new WebhookSecrets({ random, vault: new SecretVault("ab".repeat(32), random) });
const address = (): string => addressOfBytes(random.bytes(32));
const url = "https://example.com/events";

const caller = {
  accountId: "",
  tier: "enterprise" as PlatformTier,
  permissions: ["read", "webhooks:write"] as readonly Permission[],
  networks: null as readonly Network[] | null,
  isLimited: false,
  hasAccountSource: false,
};

let state: State;
let directory = "";
let app: ReturnType<typeof createWebhookHttp>;
let facts: RequestFact[];
let refused: string[];
let told: string[];

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "sluice-webhooks-"));
  const log = { info: () => undefined, warn: () => undefined };
  state = await openState({ directory, databaseUrl: null }, { clock, random, log });
});
afterAll(async () => {
  await state?.[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true, force: true });
});

beforeEach(async () => {
  const { id } = await state.accounts.create({ name: "owner" });
  Object.assign(caller, { accountId: id, tier: "enterprise", permissions: ["read", "webhooks:write"], networks: null });
  Object.assign(caller, { isLimited: false, hasAccountSource: false });
  facts = [];
  refused = [];
  told = [];
  const access = accessOfTests({
    keys: {
      authenticate: (presented) =>
        presented === "good"
          ? { ...grantOfTests, accountId: caller.accountId, tier: caller.tier, permissions: caller.permissions }
          : { ok: false, code: "INVALID_API_KEY" },
      checkRestrictions: (_grant, { network }) =>
        network !== null && caller.networks !== null && !caller.networks.includes(network)
          ? "NETWORK_NOT_ALLOWED"
          : null,
    },
    limits: {
      take: () => ({
        ...{ allowed: !caller.isLimited, limit: 50, burst: 100, remaining: 99, resetAt: 1, retryAfterSeconds: 2 },
      }),
    },
  });
  app = createWebhookHttp({
    networkDefault: "devnet",
    access,
    webhooks: new WebhookManagement(
      { target: { allowHttp: false, addresses: createAddressRules(["10.1.0.0/16"]) } },
      {
        clock,
        store: state.webhooks,
        secrets,
        deleted: () => told.push("deleted"),
        changed: () => told.push("changed"),
        hasAccountSource: () => caller.hasAccountSource,
      },
    ),
    deliveries: null,
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
}

async function ask(path: string, { method = "GET", body, headers = {} }: Sent = {}) {
  const init = {
    method,
    headers: { "x-api-key": "good", ...(body === undefined ? {} : { "content-type": "application/json" }), ...headers },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
  };
  const response = await app.fetch(new Request(`http://gateway${webhooksPath}${path}`, init));
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === "" ? null : JSON.parse(text) };
}
const create = (body: object, headers: Record<string, string> = {}) =>
  ask("", { method: "POST", body: { url, events: ["transaction.confirmed"], ...body }, headers });
const post = (path: string, body?: unknown) => ask(path, { method: "POST", ...(body === undefined ? {} : { body }) });

/** Status and code of an answer, and the paths of its faults. */
const said = ({ status, body }: Awaited<ReturnType<typeof ask>>): unknown[] => [
  status,
  ...(body?.code === undefined ? [] : [body.code]),
  ...(body?.errors ?? []).map(({ path }: { path: string }) => path),
];

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
    const stored = await state.webhooks.get(caller.accountId, body.webhook_id);
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
      const record = await state.webhooks.get(caller.accountId, id);
      return record === null ? null : secrets.signing(record, atMs);
    };
    expect(await signing(clock.now())).toEqual({ present: first, next: second });
    expect(await signing(clock.now() + 86_400_000)).toEqual({ present: second, next: null });
    expect((await post(`/${id}/end-overlap`)).body.secret_overlap_ends_at).toBeNull();
    expect(await signing(clock.now())).toEqual({ present: second, next: null });
  });

  test("of another account is not there, whatever is asked", async () => {
    const { webhook_id: id } = (await create({})).body;
    caller.accountId = (await state.accounts.create({ name: "stranger" })).id;
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

describe("what is wrong with a webhook is told by its path:", () => {
  const some = address();
  const transaction = ["transaction.confirmed"];
  test.each<[string, object, string[]]>([
    ["no address", { url: undefined }, ["url"]],
    ["plain HTTP", { url: "http://example.com" }, ["url"]],
    ["no absolute address", { url: "/events" }, ["url"]],
    ["a user name in the address", { url: "https://a@example.com" }, ["url"]],
    ["a fragment in the address", { url: "https://example.com/#x" }, ["url"]],
    ["white space in the address", { url: "https://example.com/ x" }, ["url"]],
    ["an address that is not public", { url: "https://10.0.0.1/" }, ["url"]],
    ["a number that is an address", { url: "https://2130706433/" }, ["url"]],
    ["a mapped address", { url: "https://[::ffff:10.0.0.1]/" }, ["url"]],
    ["a link-local address", { url: "https://169.254.169.254/" }, ["url"]],
    ["this machine by name", { url: "https://localhost/" }, ["url"]],
    ["port 0", { url: "https://example.com:0/" }, ["url"]],
    ["a long address", { url: `https://example.com/${"x".repeat(2_048)}` }, ["url"]],
    ["no events", { events: [] }, ["events"]],
    ["an unknown event", { events: ["transaction.confirmed", "transaction.seen"] }, ["events.1"]],
    ["an event twice", { events: ["block.confirmed", "block.confirmed"] }, ["events.1"]],
    ["an unknown member", { color: "red" }, ["color"]],
    ["an unknown filter", { filters: { program: some } }, ["filters.program"]],
    ["an address that is none", { filters: { program_id: "xyz" } }, ["filters.program_id"]],
    [
      "32 characters of base58 that are no address",
      { filters: { program_id: "z".repeat(44) } },
      ["filters.program_id"],
    ],
    [
      "addresses that are none",
      { filters: { account_include: [some, "", some, 7] } },
      ["filters.account_include.1", "filters.account_include.3"],
    ],
    [
      "an address of a list that is too long by one letter",
      { filters: { account_exclude: ["z".repeat(44)] } },
      ["filters.account_exclude.0"],
    ],
    ["an empty list", { filters: { account_include: [] } }, ["filters.account_include"]],
    ["a list that is none", { filters: { account_include: some } }, ["filters.account_include"]],
    ["an amount below zero", { filters: { min_amount: -1 } }, ["filters.min_amount"]],
    ["an amount that JSON readers round", { filters: { min_amount: 2 ** 53 } }, ["filters.min_amount"]],
    ["an amount over 2^64", { filters: { max_amount: "18446744073709551616" } }, ["filters.max_amount"]],
    ["amounts that nothing is between", { filters: { min_amount: 2, max_amount: "1" } }, ["filters.max_amount"]],
    ["a commitment that is none", { filters: { commitment: "processed" } }, ["filters.commitment"]],
    ["a commitment that contradicts", { filters: { commitment: "finalized" } }, ["filters.commitment"]],
    ["a switch that is none", { filters: { success: "yes" } }, ["filters.success"]],
    [
      "a member of token_transfers",
      { filters: { token_transfers: { amount: 1 } } },
      ["filters.token_transfers.amount"],
    ],
    [
      "a mint that is none",
      { filters: { token_transfers: { mint: "z".repeat(44) } } },
      ["filters.token_transfers.mint"],
    ],
    ["token_transfers that is neither", { filters: { token_transfers: 1 } }, ["filters.token_transfers"]],
    ["a member of nft", { filters: { nft: { kind: "sale" } } }, ["filters.nft.kind"]],
    ["a collection that is none", { filters: { nft: { collection: "z".repeat(44) } } }, ["filters.nft.collection"]],
    ["a kind of nft event", { filters: { nft: { event_types: ["mint"] } } }, ["filters.nft.event_types.0"]],
    [
      "a marketplace that is no name",
      { filters: { nft: { marketplaces: ["magic eden"] } } },
      ["filters.nft.marketplaces.0"],
    ],
    ["a kind of defi event", { filters: { defi: { event_types: ["swap", "loan"] } } }, ["filters.defi.event_types.1"]],
    ["a value below zero", { filters: { defi: { min_usd_value: -0.5 } } }, ["filters.defi.min_usd_value"]],
    ["a filter of another event", { filters: { min_balance: 1 } }, ["filters.min_balance"]],
    ["too many attempts", { retry_policy: { max_attempts: 21 } }, ["retry_policy.max_attempts"]],
    ["no attempt", { retry_policy: { max_attempts: 0 } }, ["retry_policy.max_attempts"]],
    ["a multiplier below one", { retry_policy: { backoff_multiplier: 0.5 } }, ["retry_policy.backoff_multiplier"]],
    ["a multiplier over ten", { retry_policy: { backoff_multiplier: 11 } }, ["retry_policy.backoff_multiplier"]],
    ["a long description", { description: "x".repeat(501) }, ["description"]],
    ["a network that is none", { network: "x1" }, ["network"]],
    [
      "several at once",
      { url: "http://a", filters: { owner: some, max_amount: 1, min_amount: 2 } },
      ["url", "filters.owner", "filters.max_amount"],
    ],
  ])("%s", async (_what, body, paths) => {
    expect(said(await create({ events: transaction, ...body }))).toEqual([400, "INVALID_INPUT", ...paths]);
  });

  test("a filter that none of its events knows, for each filter, and with its events it is taken", async () => {
    const values: Record<keyof typeof webhookFilterEvents, unknown> = {
      account_include: [some],
      account_exclude: [some],
      program_id: some,
      commitment: "confirmed",
      vote_transactions: true,
      success: true,
      min_amount: 1,
      max_amount: "18446744073709551615",
      include_token_transfers: false,
      include_logs: false,
      token_transfers: { mint: some, min_amount: "5", from: some, to: some },
      nft: { marketplaces: ["magic_eden_v2", "TENSOR"], collection: some, event_types: ["sale"] },
      defi: { protocols: ["raydium_amm"], event_types: ["swap"], min_usd_value: 0.5 },
      error_types: ["InstructionError", "InsufficientFundsForRent"],
      accounts: [some],
      min_balance_change: 1,
      include_data: false,
      data_encoding: "jsonParsed",
      owner: some,
      creator: some,
      min_balance: 1,
      reclaimed_by: some,
      min_transaction_count: 1,
      include_transactions: true,
      include_rewards: false,
    };
    for (const [name, known] of Object.entries(webhookFilterEvents)) {
      const filters = { [name]: Reflect.get(values, name), ...(name === "owner" ? { accounts: [some] } : {}) };
      const others = webhookEventNames.filter((event) => !(known as readonly string[]).includes(event));
      const faults = (await create({ events: others, filters: { [name]: Reflect.get(values, name) } })).body.errors;
      expect([name, faults]).toEqual([name, [{ path: `filters.${name}`, message: expect.stringContaining(known[0]) }]]);
      for (const event of known) {
        if (name === "commitment" && event === "transaction.finalized") continue;
        const events = name === "owner" ? [...new Set([event, "account.updated"])] : [event];
        const made = await create({ events, filters });
        expect([name, event, made.status, made.body.filters]).toEqual([name, event, 201, filters]);
      }
    }
  });

  test("a private address, unless the operator allows its range", async () => {
    expect((await create({ url: "https://10.1.2.3/" })).status).toBe(201);
    expect((await create({ url: "https://10.2.2.3/" })).body.errors).toEqual([
      { path: "url", message: "must be a public address" },
    ]);
  });

  test("an error that no transaction has", async () => {
    const failed = { events: ["transaction.failed"], filters: { error_types: ["InstructionError", "Wrong", "x"] } };
    expect(said(await create(failed))).toEqual([400, "INVALID_INPUT", "filters.error_types.2"]);
    const named = { events: ["transaction.failed"], filters: { error_types: ["InstructionError", "Wrong"] } };
    expect(said(await create(named))).toEqual([400, "INVALID_INPUT", "filters.error_types.1"]);
  });

  test("an owner alone for account.updated, where no source tells of accounts", async () => {
    const body = { events: ["account.updated"], filters: { owner: some } };
    const { status, body: answer } = await create(body);
    expect([status, answer.errors[0].path]).toEqual([400, "filters.owner"]);
    expect(answer.errors[0].message).toContain("Yellowstone");
    caller.hasAccountSource = true;
    expect((await create(body)).status).toBe(201);
  });

  test("a change that does not fit what stays", async () => {
    const { webhook_id: id } = (await create({ filters: { program_id: some } })).body;
    const change = (body: object) => ask(`/${id}`, { method: "PATCH", body });
    expect(said(await change({ events: ["block.confirmed"] }))).toEqual([400, "INVALID_INPUT", "filters.program_id"]);
    expect((await change({ events: ["block.confirmed"], filters: {} })).status).toBe(200);
  });

  test("a body that is no JSON, of another type, or too large", async () => {
    expect(said(await ask("", { method: "POST", body: "{" }))).toEqual([400, "PARSE_ERROR"]);
    const typed = { method: "POST", body: "{}", headers: { "content-type": "text/plain" } };
    expect(said(await ask("", typed))).toEqual([415, "UNSUPPORTED_MEDIA_TYPE"]);
    const large = JSON.stringify({ url, events: transaction, description: "x".repeat(8 * 1024 * 1024) });
    expect(said(await ask("", { method: "POST", body: large }))).toEqual([413, "BODY_TOO_LARGE"]);
    const { status, headers } = await ask("", { method: "PUT", body: {} });
    expect([status, headers.get("allow")]).toEqual([405, "POST, GET, HEAD"]);
  });
});

describe("large filters", () => {
  test("hold 100,000 addresses and no more, counted over all lists", async () => {
    const addresses = Array.from({ length: 100_000 }, address);
    const { status, body } = await create({ filters: { account_include: addresses } });
    expect([status, body.filters.account_include.length]).toEqual([201, 100_000]);
    const over = { account_include: addresses.slice(1), account_exclude: addresses.slice(0, 2) };
    expect(said(await create({ filters: over }))).toEqual([400, "INVALID_INPUT", "filters"]);
    const long = { account_include: [...addresses, address()] };
    expect(said(await create({ filters: long }))).toEqual([400, "INVALID_INPUT", "filters.account_include"]);
    await ask(`/${body.webhook_id}`, { method: "DELETE" });
  }, 30_000);

  test("that are all wrong cost no more than the first faults", async () => {
    const wrong = Array.from({ length: 2_000_000 }, () => 1);
    const before = performance.now();
    expect(said(await create({ filters: { account_include: wrong } }))).toEqual([
      400,
      "INVALID_INPUT",
      "filters.account_include",
    ]);
    const many = Array.from({ length: 100_000 }, () => "1");
    expect((await create({ filters: { account_include: many } })).body.errors.length).toBe(20);
    expect(performance.now() - before).toBeLessThan(5_000);
  }, 30_000);

  test("tell their owner where they have no effect yet", async () => {
    const { body } = await create({ filters: { nft: { event_types: ["sale"] } } });
    expect(body.notices).toEqual([
      { code: "filter_without_effect", at: null, message: expect.stringContaining("nft") },
    ]);
  });
});
