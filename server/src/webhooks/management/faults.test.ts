import { describe, expect, test } from "bun:test";
import { webhookEventNames, webhookFilterEvents } from "@sluice/contract/webhooks";
import { address, managementStand, said, url } from "./testing/management-stand.ts";

const { ask, caller, create } = managementStand();

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

  test("a network without nodes, of which nothing would ever be told", async () => {
    caller.followed = ["devnet", "mainnet"];
    const onTestnet = await create({ network: "testnet", url: "http://example.com" });
    expect(said(onTestnet)).toEqual([400, "INVALID_INPUT", "network", "url"]);
    expect(onTestnet.body.errors[0].message).toBe("this server has no nodes of testnet; it follows devnet, mainnet");
    expect(said(await create({}, { "X-Network": "testnet" }))).toEqual([400, "INVALID_INPUT", "network"]);
    expect((await create({ network: "mainnet" })).status).toBe(201);
    caller.followed = [];
    expect((await create({})).body.errors).toEqual([
      { path: "network", message: "this server has no nodes of devnet" },
    ]);
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

  test("that ask for trades and for failures are refused, as a trade that failed is none", async () => {
    for (const trades of [{ nft: {} }, { defi: { event_types: ["swap"] } }]) {
      const refused = await create({ filters: { ...trades, success: false } });
      expect(said(refused)).toEqual([400, "INVALID_INPUT", "filters.success"]);
    }
    const { body } = await create({ filters: { nft: { event_types: ["sale"] }, success: true } });
    expect(body.notices).toEqual([]);
    await ask(`/${body.webhook_id}`, { method: "DELETE" });
  });
});
