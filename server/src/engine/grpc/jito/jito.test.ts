import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { protoFiles } from "@sluice/contract/proto";
import type { Slot } from "@sluice/wire/identifiers";
import { type Headers, type Listening, PlainClient } from "../../../net/grpc/testing/grpc-client.ts";
import { addressOf } from "../../testing/fake-service.ts";
import { keysOfTests, type ServedEngine, serveEngine } from "../../testing/served-engine.ts";
import { authClient, type Identity, makeIdentity, signIn, textAt } from "../../testing/signed-in.ts";
import { SlowReader } from "../../testing/slow-reader.ts";

let served: ServedEngine;
let client: PlainClient;
let identity: Identity;
let headers: Headers;
beforeEach(async () => {
  served = await serveEngine();
  client = new PlainClient(served.port, { file: protoFiles.searcher, service: "searcher.SearcherService" });
  using auth = authClient(served.port);
  identity = makeIdentity();
  ({ headers } = await signIn(auth, "SEARCHER", identity));
});
afterEach(async () => {
  client[Symbol.dispose]();
  await served[Symbol.asyncDispose]();
});

const packet = (data: Uint8Array, size = data.length) => ({ data, meta: { size: String(size), addr: "0.0.0.0" } });
const bundle = (...packets: object[]) => ({ bundle: { packets } });
const one = (tag = 1) => bundle(packet(Uint8Array.of(tag, 2, 3)));
const method = "/searcher.SearcherService/SubscribeBundleResults";

describe("SendBundle", () => {
  test("takes the bytes that count of each packet, and answers the bundle's id", async () => {
    const bare = { data: Uint8Array.of(9) };
    const answer = await client.call("SendBundle", bundle(packet(Uint8Array.of(1, 2, 3, 0), 3), bare), headers);
    expect(served.engine.submissions[0]?.submission).toEqual({
      transactions: [Buffer.of(1, 2, 3), Buffer.of(9)],
      tip: null,
      mevType: "unknown",
      targetSlot: null,
      sealed: null,
      ingress: "jito-grpc",
    });
    expect(answer).toEqual({ status: "OK", message: { uuid: [...served.engine.records.keys()][0] } });
  });

  test("counts for the key, for the account that the key is linked to, or for the account of an API key", async () => {
    await client.call("SendBundle", one(), headers);
    served.linked.set(identity.address, "account seven");
    await client.call("SendBundle", one(), headers);
    await client.call("SendBundle", one(), { "x-api-key": keysOfTests.whole, ...headers });
    expect(served.engine.submissions.map(({ searcher }) => searcher)).toEqual([
      { id: `pubkey:${identity.address}`, accountId: null, pubkey: identity.address },
      { id: "account seven", accountId: "account seven", pubkey: identity.address },
      { id: "account of sk_dev_whole", accountId: "account of sk_dev_whole", pubkey: null },
    ]);
  });

  test("says Jito's words for a bundle's fault, and distinguishes rates, maintenance and the lack of a leader", async () => {
    for (const [reason, detail, status, text] of [
      [
        "tip_not_paid",
        null,
        "INVALID_ARGUMENT",
        "Bundles must write lock at least one tip account to be eligible for the auction.",
      ],
      ["already_processed", "x", "INVALID_ARGUMENT", "bundle contains an already processed transaction"],
      ["blockhash_expired", null, "INVALID_ARGUMENT", "bundle contains an expired blockhash"],
      ["malformed_transaction", "transaction 2: short", "INVALID_ARGUMENT", "transaction #2 could not be decoded"],
      [
        "simulation_failed",
        "custom program error: 0x1",
        "INVALID_ARGUMENT",
        "simulation_failed: custom program error: 0x1",
      ],
      ["no_leader", null, "UNAVAILABLE", "Bundle Dropped, no connected leader up soon."],
      ["rate_limited", null, "RESOURCE_EXHAUSTED", "Rate limit exceeded"],
      ["maintenance", null, "UNAVAILABLE", "The block engine is in maintenance"],
    ] as const) {
      served.engine.refusal = { reason, detail };
      expect(await client.call("SendBundle", one(), headers)).toMatchObject({ status, details: text });
    }
  });

  test("refuses what is no bundle of packets before the engine sees it", async () => {
    for (const message of [
      {},
      bundle(packet(new Uint8Array(1_233))),
      bundle(packet(Uint8Array.of(1), 2)),
      bundle({ data: Uint8Array.of(1), meta: { size: "18446744073709551615" } }),
    ]) {
      expect(await client.call("SendBundle", message, headers)).toMatchObject({ status: "INVALID_ARGUMENT" });
    }
    expect(served.engine.submissions).toEqual([]);
  });

  test("has the searcher's rate, and one by address for keys of no account", async () => {
    served.empty.add("engine-unlinked:127.0.0.1");
    expect(await client.call("SendBundle", one(), headers)).toMatchObject({ status: "RESOURCE_EXHAUSTED" });
    expect(served.engine.tokensTaken).toBe(0);
    served.linked.set(identity.address, "account seven");
    expect(await client.call("SendBundle", one(), headers)).toMatchObject({ status: "OK" });
    served.engine.rate = { allowed: false, retryAfterSeconds: 1 };
    expect(await client.call("SendBundle", one(), headers)).toMatchObject({ status: "RESOURCE_EXHAUSTED" });
  });
});

test("keys of no account share reads and streams by their address, and those of an account do not", async () => {
  served.empty.add("engine-unlinked-reads:127.0.0.1");
  expect(await client.call("GetTipAccounts", {}, headers)).toMatchObject({ status: "RESOURCE_EXHAUSTED" });
  served.linked.set(identity.address, "account seven");
  expect(await client.call("GetTipAccounts", {}, headers)).toMatchObject({ status: "OK" });
  served.linked.delete(identity.address);
  using auth = authClient(served.port);
  const open = async (own: Headers) => client.subscribe("SubscribeBundleResults", {}, own);
  const streams: Listening[] = [];
  // Four keys have as many streams as each may, which is as many as their address may.
  for (let key = 0; key < 4; key += 1) {
    const own = (await signIn(auth, "SEARCHER", makeIdentity())).headers;
    for (let stream = 0; stream < 16; stream += 1) streams.push(await open(own));
  }
  while (served.engine.followers < 64) await new Promise((resolve) => setImmediate(resolve));
  expect(await (await open(headers)).ended).toMatchObject({ status: "RESOURCE_EXHAUSTED" });
  expect(await (await open({ "x-api-key": keysOfTests.whole })).first(0)).toEqual([]);
  for (const stream of streams) stream.cancel();
  while (served.engine.followers > 1) await new Promise((resolve) => setImmediate(resolve));
  const again = await open(headers);
  while (served.engine.followers < 2) await new Promise((resolve) => setImmediate(resolve));
  again.cancel();
});

test("a call without an identity is refused, and so is a key that may not send", async () => {
  for (const name of ["SendBundle", "GetTipAccounts", "GetRegions", "GetConnectedLeaders", "GetNextScheduledLeader"]) {
    expect(await client.call(name)).toMatchObject({ status: "UNAUTHENTICATED" });
  }
  expect(await client.subscribe("SubscribeBundleResults").ended).toMatchObject({ status: "UNAUTHENTICATED" });
  const reader = { "x-api-key": keysOfTests.reader };
  expect(await client.call("SendBundle", one(), reader)).toMatchObject({ status: "PERMISSION_DENIED" });
  // On this service a bearer is an access token, and an API key is not valid.
  const bearer = { authorization: `Bearer ${keysOfTests.whole}` };
  expect(await client.call("GetTipAccounts", {}, bearer)).toMatchObject({ status: "PERMISSION_DENIED" });
});

describe("what searchers ask", () => {
  test("tip accounts, regions, connected leaders and the next one", async () => {
    const leader = addressOf(5);
    served.engine.leaders.set(leader, [101n as Slot, 18_446_744_073_709_551_615n as Slot]);
    const slots = { [leader]: { slots: ["101", "18446744073709551615"] } };
    const ask = async (name: string, message = {}) => await client.call(name, message, headers);
    expect(await ask("GetTipAccounts")).toMatchObject({ message: { accounts: served.engine.tipAccounts } });
    expect(await ask("GetRegions")).toMatchObject({
      message: { current_region: "localnet", available_regions: ["localnet"] },
    });
    expect(await ask("GetConnectedLeaders")).toMatchObject({ message: { connected_validators: slots } });
    expect(await ask("GetConnectedLeadersRegioned", { regions: ["localnet"] })).toMatchObject({
      message: { connected_validators: { localnet: { connected_validators: slots } } },
    });
    expect(await ask("GetNextScheduledLeader")).toMatchObject({
      status: "UNAVAILABLE",
      details: "no connected leader up soon",
    });
    served.engine.leader = { slot: 101n as Slot, identity: leader };
    expect(await ask("GetNextScheduledLeader")).toMatchObject({
      message: {
        current_slot: "100",
        next_leader_slot: "101",
        next_leader_identity: leader,
        next_leader_region: "localnet",
      },
    });
    expect(await ask("GetNextScheduledLeader", { regions: ["ny"] })).toMatchObject({ status: "INVALID_ARGUMENT" });
  });
});

describe("SubscribeBundleResults", () => {
  const included = { to: "included", slot: 123n as Slot, blockhash: "hash", index: 0, tip: 5n } as const;
  /** The result of each message, without the names of absent members. */
  const results = (stream: Listening): unknown[] =>
    stream.messages.map((message) => [message["result"], message[String(message["result"])]]);

  async function send(tag: number): Promise<string> {
    return textAt(await client.call("SendBundle", one(tag), headers), "uuid");
  }

  async function subscribed(): Promise<Listening> {
    const stream = client.subscribe("SubscribeBundleResults", {}, headers);
    await served.reported.until(`open ${method}`);
    while (served.engine.followers === 0) await new Promise((resolve) => setImmediate(resolve));
    return stream;
  }

  test("reports acceptance, the block, and that it is final", async () => {
    served.engine.leader = { slot: 102n as Slot, identity: addressOf(5) };
    served.engine.leaderOfSlot.set(123n as Slot, addressOf(6));
    const stream = await subscribed();
    const id = await send(1);
    served.engine.change(id, { ...included, index: 3 });
    served.engine.change(id, { to: "finalized" });
    await stream.first(3);
    expect(stream.messages.every(({ bundle_id }) => bundle_id === id)).toBe(true);
    expect(results(stream)).toEqual([
      ["accepted", { slot: "102", validator_identity: addressOf(5) }],
      ["processed", { validator_identity: addressOf(6), slot: "123", bundle_index: "3" }],
      ["finalized", {}],
    ]);
    stream.cancel();
  });

  test("reports the block again where the branch that won holds the bundle in another", async () => {
    const stream = await subscribed();
    const id = await send(1);
    served.engine.change(id, included);
    served.engine.change(id, { ...included, slot: 130n as Slot });
    served.engine.change(id, { to: "finalized" });
    await stream.first(4);
    expect(results(stream).slice(1)).toMatchObject([
      ["processed", { slot: "123" }],
      ["processed", { slot: "130" }],
      ["finalized", {}],
    ]);
    stream.cancel();
  });

  test("distinguishes what the chain dropped from what the engine rejected", async () => {
    const stream = await subscribed();
    for (const [index, reason] of (
      ["blockhash_expired", "already_processed", "fork", "not_landed"] as const
    ).entries()) {
      served.engine.change(await send(index), { to: "dropped", reason });
    }
    const detail = "transaction 0: custom program error: 0x1";
    const failed = await send(9);
    const signature = served.engine.records.get(failed)?.signatures[0];
    served.engine.change(failed, { to: "dropped", reason: "simulation_failed", detail });
    await stream.first(10);
    expect(results(stream).filter((_, index) => index % 2 === 1)).toMatchObject([
      ["dropped", { reason: "BlockhashExpired" }],
      ["dropped", { reason: "PartiallyProcessed" }],
      ["dropped", { reason: "NotFinalized" }],
      ["rejected", { dropped_bundle: { msg: "not_landed" } }],
      ["rejected", { simulation_failure: { tx_signature: signature, msg: `simulation_failed: ${detail}` } }],
    ]);
    stream.cancel();
  });

  test("reports the slot that a bundle lost while it competes again, and what it lost by where its time ran out", async () => {
    const stream = await subscribed();
    const [id, large] = [await send(1), await send(2)];
    const bid = {
      id,
      slot: 101n as Slot,
      lost: "state_auction",
      auctionId: "ab",
      bid: 18_446_744_073_709_551_615n,
    } as const;
    served.engine.outbid(bid);
    served.engine.outbid({ ...bid, id: large, lost: "winning_batch", bid: 7n });
    served.engine.change(id, { to: "expired", reason: "blockhash_expired" });
    served.engine.change(large, included);
    await stream.first(6);
    const text = "outbid in this slot; the bundle competes again until it expires";
    const mine = (msg: string) => ({
      state_auction_bid_rejected: { auction_id: "ab", simulated_bid_lamports: "18446744073709551615", msg },
    });
    const theirs = { auction_id: "ab", simulated_bid_lamports: "7", msg: text };
    expect(results(stream).slice(2)).toMatchObject([
      ["rejected", mine(text)],
      ["rejected", { winning_batch_bid_rejected: theirs }],
      ["rejected", mine("outbid until the bundle's time was over")],
      ["processed", {}],
    ]);
    stream.cancel();
  });

  test("begins with the bundles in flight, and leaves out no step that clients wait for", async () => {
    const id = await send(1);
    const stream = client.subscribe("SubscribeBundleResults", {}, headers);
    await stream.first(1);
    const landed = { slot: 123n as Slot, blockhash: "hash", index: 0 };
    served.engine.change(id, { to: "finalized", landed });
    await stream.first(3);
    expect(results(stream).map((each) => Array.isArray(each) && each[0])).toEqual([
      "accepted",
      "processed",
      "finalized",
    ]);
    stream.cancel();
    await served.reported.until(`close ${method}`);
    expect(served.engine.followers).toBe(0);
  });

  test("ends when its key is linked to another account, since it would go on reporting on the old one", async () => {
    const stream = await subscribed();
    await served.recheck();
    served.linked.set(identity.address, "account seven");
    await served.recheck();
    expect(await stream.ended).toMatchObject({ status: "PERMISSION_DENIED" });
  });

  test("a searcher that does not read is ended at a bound", async () => {
    const own = { "content-type": "application/grpc+proto", ...headers };
    using hung = new SlowReader(served.port, method, own, { message: new Uint8Array(), isHalfClosed: true });
    await served.reported.until(`open ${method}`);
    while (served.engine.followers === 0) await new Promise((resolve) => setImmediate(resolve));
    const searcher = { id: `pubkey:${identity.address}`, accountId: null, pubkey: null };
    const submission = { tip: 1n, mevType: "jit", targetSlot: null, sealed: null, ingress: "rest" } as const;
    let rounds = 0;
    while (served.engine.followers === 1 && rounds < 20_000) {
      const transactions = [Uint8Array.of(rounds % 256, rounds >> 8)];
      const outcome = await served.engine.submit({ ...submission, transactions }, searcher);
      const detail = "x".repeat(500);
      if (outcome.ok) served.engine.change(outcome.record.id, { to: "dropped", reason: "simulation_failed", detail });
      rounds += 1;
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(rounds).toBeGreaterThan(512);
    expect(rounds).toBeLessThan(20_000);
    await hung.answered;
  });
});
