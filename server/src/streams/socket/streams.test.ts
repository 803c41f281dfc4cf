import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { packBlock, unpackBlock } from "@sluice/encode";
import { eventually } from "@sluice/lib/testing";
import { blockOfHeader, blockRecord } from "../../history/testing/blocks.ts";
import { headerOf, slotOf, stageOf } from "../../log/testing/chain-model.ts";
import { bootStreams, type PlayedClient, settled } from "../testing/booted-streams.ts";
import { blocks, header, refusal, signaturesOf, told } from "../testing/stream-blocks.ts";

let streams: Awaited<ReturnType<typeof bootStreams>>;
beforeEach(async () => {
  streams = await bootStreams({ tier: "business" });
});
afterEach(async () => {
  await streams[Symbol.asyncDispose]();
});

describe("what a client says", () => {
  test("is answered: connected, pong, subscribed, unsubscribed, each with the client's ref", async () => {
    const client = await streams.connect();
    client.say({ action: "ping" });
    const { subscriptionId } = client.subscribe("slots", { ref: "a" });
    client.say({ action: "unsubscribe", subscriptionId, ref: 7 });
    expect(client.got).toMatchObject([
      { type: "connected" },
      { type: "pong" },
      { type: "subscribed", channel: "slots", subscriptionId, ref: "a" },
      { type: "unsubscribed", subscriptionId, ref: 7 },
    ]);
    await streams.append(blocks(100, 102));
    expect(client.of("slot")).toEqual([]);
  });

  const address = "So11111111111111111111111111111111111111112";
  const wrong: readonly (readonly [unknown, string, string])[] = [
    ["no json", "PARSE_ERROR", "A message is one JSON object"],
    [[], "INVALID_INPUT", "A message is a JSON object"],
    [{ action: "go" }, "INVALID_INPUT", "action: must be"],
    [{ action: "subscribe" }, "INVALID_INPUT", "channel: is missing"],
    [{ action: "subscribe", channel: "logs" }, "INVALID_INPUT", "channel: must be one of transactions"],
    [{ action: "subscribe", channel: "slots", more: 1 }, "INVALID_INPUT", "more: is no member"],
    [{ action: "subscribe", channel: "slots", filters: { mints: [] } }, "INVALID_INPUT", "filters.mints: is no member"],
    [
      { action: "subscribe", channel: "slots", filters: { votes: true } },
      "INVALID_INPUT",
      "filters.votes: is no filter",
    ],
    [
      { action: "subscribe", channel: "transactions", filters: { accounts: [] } },
      "INVALID_INPUT",
      "filters.accounts: must be a list of at least 1 item",
    ],
    [
      { action: "subscribe", channel: "transactions", filters: { accounts: Array(1_001).fill(address) } },
      "INVALID_INPUT",
      "filters.accounts: must be a list of at most 1000",
    ],
    [
      { action: "subscribe", channel: "transactions", filters: { programs: [address, "x"] } },
      "INVALID_INPUT",
      "filters.programs.1: must be an address",
    ],
    [
      { action: "subscribe", channel: "accounts", filters: { programs: [address] } },
      "INVALID_INPUT",
      "filters.programs: needs filters.accounts",
    ],
    [
      { action: "subscribe", channel: "blocks", filters: { commitment: "processed" } },
      "COMMITMENT_UNAVAILABLE",
      "The channel blocks",
    ],
    [
      { action: "subscribe", channel: "slots", filters: { commitment: "processed" }, from_slot: 1 },
      "COMMITMENT_UNAVAILABLE",
      "Slots at processed",
    ],
    [{ action: "subscribe", channel: "slots", from_slot: -1 }, "INVALID_INPUT", "from_slot: must be a slot"],
    [{ action: "subscribe", channel: "slots", from_slot: 1, cursor: "a" }, "INVALID_INPUT", "cursor: comes without"],
    [{ action: "subscribe", channel: "slots", cursor: "nonsense" }, "CURSOR_INVALID", "The cursor is not"],
    [{ action: "unsubscribe", subscriptionId: "none" }, "NOT_FOUND", "The connection has no subscription"],
  ];
  test.each(wrong)("what is wrong is refused by name and the connection stays: %j", async (message, code, text) => {
    const client = await streams.connect();
    const ref = typeof message === "object" && !Array.isArray(message) ? "r" : null;
    client.say(ref === null ? message : { ...(message as object), ref });
    expect(refusal(client)).toMatchObject({ code, ref });
    expect(refusal(client)?.message).toContain(text);
    expect(client.closed).toBeNull();
  });

  test("is bounded in subscriptions, in bytes and in messages a second", async () => {
    const many = await streams.connect();
    for (let count = 0; count < 100; count += 1) {
      many.subscribe("slots");
      streams.clock.advance(100);
    }
    many.say({ action: "subscribe", channel: "slots" });
    expect(refusal(many)).toMatchObject({ code: "SUBSCRIPTION_LIMIT" });
    const large = await streams.connect();
    large.say("x".repeat(128 * 1024 + 1));
    expect(large.closed).toBe(1009);
    const fast = await streams.connect();
    for (let count = 0; count < 51; count += 1) fast.say({ action: "ping" });
    expect([refusal(fast)?.code, fast.closed]).toEqual(["RATE_LIMIT_EXCEEDED", 4429]);
  });
});

describe("who may connect", () => {
  test("a bad key, a restriction and a place too many get the upgrade, the error and the close code", async () => {
    streams.played.grant = { ok: false, code: "INVALID_API_KEY" };
    const bad = await streams.connect();
    expect([bad.got, bad.closed]).toMatchObject([[{ type: "error", code: "INVALID_API_KEY", ref: null }], 4401]);
    streams = await bootStreams({ tier: "free" });
    streams.played.restriction = "IP_NOT_ALLOWED";
    expect((await streams.connect()).closed).toBe(4403);
    streams.played.restriction = null;
    const clients: PlayedClient[] = [];
    for (let count = 0; count < 6; count += 1) clients.push(await streams.connect());
    expect(clients.map(({ closed }) => closed)).toEqual([null, null, null, null, null, 4429]);
    clients[0]?.close();
    expect((await streams.connect()).closed).toBeNull();
    expect((await streams.connect("http://streams.test/ws?network=moon")).closed).toBe(4403);
  });

  test("a key that is revoked is cut at the next check, without credits the connection ends with 4402", async () => {
    const client = await streams.connect();
    const { grant } = streams.played;
    streams.played.grant = { ok: false, code: "KEY_INACTIVE" };
    streams.endpoint.recheck();
    streams.clock.advance(20);
    await settled();
    expect([refusal(client)?.code, client.closed]).toEqual(["KEY_INACTIVE", 4401]);
    streams.played.grant = grant;
    streams.played.credits = false;
    const poor = await streams.connect();
    expect([refusal(poor)?.code, poor.closed]).toEqual(["INSUFFICIENT_CREDITS", 4402]);
    await settled();
    expect(streams.facts.map(({ door, status }) => [door, status])).toEqual([
      ["ws", 4401],
      ["ws", 4402],
    ]);
  });

  test("of a network without nodes a connection is closed with 4503, and one whose log ends", async () => {
    const other = await streams.connect("http://streams.test/ws?network=testnet");
    expect([refusal(other)?.code, other.closed]).toEqual(["NETWORK_UNAVAILABLE", 4503]);
    const client = await streams.connect();
    const { subscriptionId, cursor } = client.subscribe("slots");
    streams.closeFlow();
    expect([refusal(client), client.closed]).toMatchObject([
      { code: "STREAM_UNAVAILABLE", subscriptionId, cursor },
      4503,
    ]);
    // Until the log is open again a client waits with its connection.
    const early = await streams.connect();
    early.say({ action: "subscribe", channel: "slots" });
    expect([refusal(early)?.code, early.closed]).toEqual(["STREAM_UNAVAILABLE", null]);
  });
});

describe("the channels", () => {
  test("tell blocks, transactions, accounts and slots of a block, each with its slot and its cursor", async () => {
    await streams.append(blocks(100, 100));
    const client = await streams.connect();
    const ids = ["blocks", "transactions", "accounts", "slots"].map(
      (channel) => client.subscribe(channel).subscriptionId,
    );
    await streams.append(blocks(101, 101, 2));
    const block = blockOfHeader(header(101, 2));
    expect(client.of("block")).toMatchObject([
      {
        subscriptionId: ids[0],
        slot: 101,
        data: { blockhash: block.blockhash, commitment: "confirmed", transaction_count: 2 },
      },
    ]);
    expect(client.of("transaction")).toMatchObject(
      block.transactions.map(({ signature }, index) => ({
        subscriptionId: ids[1],
        slot: 101,
        data: { signature, index },
      })),
    );
    expect(client.of("account").length).toBe(4);
    expect(client.of("account")[0]).toMatchObject({
      subscriptionId: ids[2],
      data: { changes: { lamports: { old: 1_000_000, new: 994_000, delta: -6_000 } }, data: null, observed_slot: null },
    });
    expect(client.of("slot")).toMatchObject([
      { subscriptionId: ids[3], slot: 101, data: { slot: 101, parent: 100, status: "confirmed" } },
    ]);
    const cursors = [...client.of("transaction"), ...client.of("account")].map(({ cursor }) => cursor);
    expect(new Set(cursors).size).toBe(4);
  });

  test("tell at finalized what is finalized, and slots at processed as nodes begin them", async () => {
    await streams.append(blocks(100, 105));
    const client = await streams.connect();
    const finalized = client.subscribe("slots", { filters: { commitment: "finalized" } });
    const processed = client.subscribe("slots", { filters: { commitment: "processed" } });
    expect(processed.cursor).toBeNull();
    await streams.append([stageOf(header(103), "finalized")]);
    for (const slot of [110n, 109n, 111n]) streams.slotMoved(slot);
    await settled();
    const of = (id: string) => client.of("slot").filter(({ subscriptionId }) => subscriptionId === id);
    expect(of(finalized.subscriptionId).map(({ data }) => [data.slot, data.status])).toEqual(
      [100, 101, 102, 103].map((slot) => [slot, "finalized"]),
    );
    expect(
      of(processed.subscriptionId).map(({ data, cursor }) => [data.slot, data.parent, data.status, cursor]),
    ).toEqual([110, 111].map((slot) => [slot, null, "processed", null]));
  });

  test("filters are of accounts, programs, failed and votes, all of which must hold", async () => {
    await streams.append(blocks(100, 100));
    const block = blockOfHeader(header(101, 4));
    const [, , third] = block.transactions;
    const failed = block.transactions.map((transaction, index) =>
      index === 1 && transaction.meta !== null
        ? { ...transaction, meta: { ...transaction.meta, error: "AccountNotFound" as const } }
        : transaction,
    );
    const account = unpackBlock(packBlock(block)).transactions[2];
    expect(account?.signature).toBe(third?.signature);
    const client = await streams.connect();
    const all = client.subscribe("transactions").subscriptionId;
    const well = client.subscribe("transactions", { filters: { failed: false } }).subscriptionId;
    const program = client.subscribe("transactions", {
      filters: { programs: ["11111111111111111111111111111111"] },
    }).subscriptionId;
    const none = client.subscribe("transactions", {
      filters: { programs: ["Vote111111111111111111111111111111111111111"] },
    }).subscriptionId;
    const record = blockRecord(header(101, 4));
    if (record.kind !== "block") throw new Error("no block");
    await streams.append([{ ...record, body: packBlock({ ...block, transactions: failed }) }]);
    const count = (id: string) => client.of("transaction").filter(({ subscriptionId }) => subscriptionId === id).length;
    expect([all, well, program, none].map(count)).toEqual([4, 3, 4, 0]);
  });

  test("equal subscriptions of different clients share their id and their bytes; one client's own are told apart", async () => {
    await streams.append(blocks(100, 100));
    const [one, two] = [await streams.connect(), await streams.connect()];
    const [a, b] = ["So11111111111111111111111111111111111111112", "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA"];
    const first = one.subscribe("transactions", { filters: { programs: [a, b, a] } });
    const second = two.subscribe("transactions", { filters: { programs: [b, a], failed: true } });
    expect(second.subscriptionId).toBe(first.subscriptionId);
    const blocksId = one.subscribe("blocks").subscriptionId;
    expect([two.subscribe("blocks").subscriptionId, two.subscribe("blocks").subscriptionId]).toEqual([
      blocksId,
      `${blocksId}-2`,
    ]);
    await streams.append(blocks(101, 101));
    const text = one.texts.at(-1) ?? "";
    expect(two.texts.filter((each) => each === text)).toHaveLength(1);
    expect(two.of("block").map(({ subscriptionId }) => subscriptionId)).toEqual([blocksId, `${blocksId}-2`]);
  });
});

describe("what a fork takes back", () => {
  test("is told for each block of which something was sent to the subscription, highest first, and to no other", async () => {
    await streams.append(blocks(100, 101));
    const client = await streams.connect();
    const sender = blockOfHeader(header(103)).transactions[0]?.signature;
    client.subscribe("transactions");
    await streams.append(blocks(102, 103));
    const late = await streams.connect();
    late.subscribe("transactions");
    await streams.append(blocks(104, 104));
    const idle = await streams.connect();
    idle.subscribe("transactions", { filters: { programs: ["Vote111111111111111111111111111111111111111"] } });
    const fork = header(105, 2, headerOf(101), "fork");
    await streams.append([blockRecord(fork)]);
    expect(sender).toBeDefined();
    expect(client.of("undo").map(({ slot }) => slot)).toEqual([104, 103, 102]);
    expect(late.of("undo").map(({ slot, blockhash }) => [slot, blockhash])).toEqual([[104, headerOf(104).blockhash]]);
    expect(idle.of("undo")).toEqual([]);
    expect(told(client).slice(-2)).toEqual(signaturesOf(fork));
  });

  test("is told to one that resumes from a cursor of the dead branch", async () => {
    await streams.append(blocks(100, 103));
    const first = await streams.connect();
    first.subscribe("transactions", { from_slot: 101 });
    await eventually("the head", () => told(first).length === 9);
    const { cursor } = first.of("transaction").at(-2) ?? { cursor: "" };
    first.close();
    const fork = header(104, 2, headerOf(101), "fork");
    await streams.append([blockRecord(fork)]);
    const again = await streams.connect();
    again.subscribe("transactions", { cursor });
    await eventually("the fork", () => told(again).length === 2);
    // What another process may have sent before the cursor is taken back too.
    expect(again.got.map(({ type }) => type).filter((type) => type === "undo" || type === "transaction")).toEqual([
      "undo",
      "undo",
      "transaction",
      "transaction",
    ]);
    expect(again.of("undo").map(({ slot }) => slot)).toEqual([103, 102]);
    await streams.append([blockRecord(header(105, 1, headerOf(100), "other"))]);
    expect(again.of("undo").map(({ slot }) => slot)).toEqual([103, 102, 104, 101]);
  });

  test("is told of the block in which a client stopped, also after a block of which nothing was sent", async () => {
    await streams.append(blocks(100, 102));
    const first = await streams.connect();
    first.subscribe("transactions", { from_slot: 102 });
    await eventually("the head", () => told(first).length === 3);
    const { cursor } = first.of("transaction")[0] ?? { cursor: "" };
    await streams.append([blockRecord(header(103, 0))]);
    const again = await streams.connect();
    again.subscribe("transactions", { cursor, filters: { accounts: ["Vote111111111111111111111111111111111111111"] } });
    await settled(20);
    await streams.append([blockRecord(header(104, 1, headerOf(101), "fork"))]);
    expect(again.of("undo").map(({ slot }) => slot)).toEqual([102]);
  });

  test("leads one that is cut between two of them to the rest", async () => {
    await streams.append(blocks(100, 101));
    const first = await streams.connect();
    first.subscribe("transactions");
    await streams.append(blocks(102, 103));
    await streams.append([blockRecord(header(104, 1, headerOf(101), "fork"))]);
    const { slot, cursor } = first.of("undo")[0] ?? { cursor: "" };
    const again = await streams.connect();
    again.subscribe("transactions", { cursor });
    await eventually("the fork", () => told(again).length === 1);
    expect([slot, again.of("undo").map((each) => each.slot)]).toEqual([103, [102]]);
  });
});

describe("more than a client may have, or takes", () => {
  test("is dropped beyond the tier's messages a second, after a notice that says how much and from where", async () => {
    streams.played.grant = {
      ...streams.played.grant,
      buckets: {
        messages: [{ bucket: "m", requestsPerSecond: 10, burst: 5 }],
        requests: [{ bucket: "r", requestsPerSecond: 100, burst: 200 }],
      },
    } as never;
    await streams.append(blocks(100, 100));
    const client = await streams.connect();
    const { subscriptionId } = client.subscribe("transactions");
    await streams.append(blocks(101, 101, 4));
    await streams.append(blocks(102, 102, 4));
    expect(told(client).length).toBe(5);
    expect(client.of("lagged")).toEqual([{ type: "lagged", subscriptionId, dropped: 3, from_slot: 102 }]);
    expect(client.got.at(-1)?.type).toBe("lagged");
    expect(client.closed).toBeNull();
  });

  test("ends one that reads too slowly with 4408 when the next block comes, and nobody else", async () => {
    await streams.append(blocks(100, 100));
    const [slow, well] = [await streams.connect(), await streams.connect()];
    for (const client of [slow, well]) client.subscribe("slots");
    slow.isFull = true;
    await streams.append(blocks(101, 102));
    expect([slow.closed, well.closed, well.of("slot").length]).toEqual([4408, null, 2]);
  });

  test("is told a gap that the log tells, whatever the filter", async () => {
    await streams.append(blocks(100, 101));
    const client = await streams.connect();
    client.subscribe("blocks");
    await streams.append([
      { kind: "gap", from: slotOf(102), to: slotOf(104), reason: "unavailable" },
      blockRecord(header(105, 1, headerOf(104))),
    ]);
    expect(client.of("gap").map(({ from, to }) => [from, to])).toEqual([[102, 104]]);
    expect(client.of("block").map(({ slot }) => slot)).toEqual([105]);
  });
});

test("as the process ends, each client is told where its subscriptions go on, and goes on there", async () => {
  await streams.append(blocks(100, 102));
  const client = await streams.connect();
  const { subscriptionId } = client.subscribe("transactions");
  await streams.append(blocks(103, 104));
  client.drain();
  const [draining] = client.of("draining");
  expect([client.closed, draining?.subscriptions.map((each) => each.subscriptionId)]).toEqual([1001, [subscriptionId]]);
  await streams.append(blocks(105, 105));
  const again = await streams.connect();
  again.subscribe("transactions", { cursor: draining?.subscriptions[0]?.cursor });
  await eventually("the rest", () => told(again).length === 3);
  expect([...told(client), ...told(again)]).toEqual(signaturesOf(header(103), header(104), header(105)));
});
