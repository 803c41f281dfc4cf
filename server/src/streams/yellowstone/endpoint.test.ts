import { afterAll, beforeAll, describe, expect, spyOn, test } from "bun:test";
import { protoFiles } from "@sluice/contract/proto";
import { platformTierLimits } from "@sluice/contract/tiers";
import { eventually } from "@sluice/lib/testing";
import { encodeBase58 } from "@sluice/wire/base58";
import { PlainClient } from "../../net/grpc/testing/grpc-client.ts";
import { openStand, professional, type YellowstoneStand } from "./testing/stand.ts";

const geyser = { file: protoFiles.geyser, service: "geyser.Geyser" };
const pro = { "x-token": "pro" };

let stand: YellowstoneStand;
let client: PlainClient;
beforeAll(async () => {
  stand = await openStand({ node: { votes: true } });
  client = new PlainClient(stand.port, geyser);
  await stand.closeSlots(36);
}, 60_000);
afterAll(async () => {
  client[Symbol.dispose]();
  await stand[Symbol.asyncDispose]();
});

type Message = Record<string, unknown>;
const statusOf = ({ slot, filters }: Message): string | null => {
  const update = slot as { slot: string; status: string } | null;
  return update === null || update === undefined ? null : `${filters} ${update.slot} ${update.status.slice(5)}`;
};
const kindsOf = (messages: readonly Message[]): string[] =>
  messages.flatMap((message) => {
    const status = statusOf(message);
    if (status !== null) return status;
    const meta = message["block_meta"] as { slot: string } | null | undefined;
    return meta === null || meta === undefined ? [] : `meta ${meta.slot}`;
  });

/** A stream with this request, once the server has read it. */
async function subscribed(request: object, headers: Record<string, string> = pro) {
  const stream = client.duplex("Subscribe", headers);
  const settled = async (): Promise<void> => {
    const id = Math.floor(Math.random() * 1e9);
    stream.say({ ping: { id } });
    for (let count = 1; ; count += 1) {
      const messages = await stream.first(count);
      const { pong } = messages[count - 1] as { pong: { id: number } | null };
      if (pong?.id === id) return;
    }
  };
  stream.say(request);
  await settled();
  return {
    ...stream,
    messages: stream.messages,
    ended: stream.ended,
    say: stream.say.bind(stream),
    settled,
    cancel: () => stream.cancel(),
  };
}

describe("slots", () => {
  test("each slot is told processed, confirmed and finalized in this order, its content before its own commitment", async () => {
    const stream = await subscribed({ commitment: "CONFIRMED", slots: { s: {} }, blocks_meta: { m: {} } });
    const first = stand.faulty.node.chain.at("confirmed").slot + 1n;
    await stand.closeSlots(4);
    await stream.settled();
    const kinds = kindsOf(stream.messages);
    for (let slot = first; slot < first + 3n; slot += 1n) {
      const own = kinds.filter((kind) => kind.split(" ").includes(`${slot}`));
      expect(own).toEqual([`s ${slot} PROCESSED`, `meta ${slot}`, `s ${slot} CONFIRMED`]);
    }
    const final = stand.faulty.node.chain.at("finalized").slot;
    expect(kinds.filter((kind) => kind === `s ${final} FINALIZED`)).toHaveLength(1);
    stream.cancel();
  });

  test("a stream goes on from a slot: first what was, with the stages that were reached, then what comes", async () => {
    const final = stand.faulty.node.chain.at("finalized").slot;
    const confirmed = stand.faulty.node.chain.at("confirmed").slot;
    const from = final - 1n;
    const stream = await subscribed({ commitment: "CONFIRMED", slots: { s: {} }, from_slot: `${from}` });
    await stand.closeSlots(2);
    const last = `s ${confirmed + 2n} CONFIRMED`;
    await eventually("the replay is over", () => kindsOf(stream.messages).includes(last));
    const kinds = kindsOf(stream.messages);
    for (let slot = from; slot <= confirmed + 2n; slot += 1n) {
      const own = kinds.filter((kind) => kind.includes(` ${slot} `));
      const later = slot <= final + 2n ? [`s ${slot} FINALIZED`] : [];
      expect(own).toEqual([`s ${slot} PROCESSED`, `s ${slot} CONFIRMED`, ...later]);
    }
    stream.cancel();
  });

  test("a slot that is no longer held is refused with the first that is, which SubscribeReplayInfo tells too", async () => {
    const { message } = (await client.call("SubscribeReplayInfo", {}, pro)) as { message: Message };
    const first = stand.memory.log.earliest()?.slot;
    expect(message).toMatchObject({ first_available: `${first}` });
    const stream = client.duplex("Subscribe", pro);
    stream.say({ commitment: "CONFIRMED", slots: { s: {} }, from_slot: "0" });
    expect(await stream.ended).toMatchObject({
      status: "OUT_OF_RANGE",
      details: `broadcast from 0 is not available, last available: ${first}`,
    });
  });

  test("a request replaces all filters of the one before, and a ping none", async () => {
    const stream = await subscribed({ commitment: "CONFIRMED", slots: { s: { filter_by_commitment: true } } });
    stream.say({ commitment: "CONFIRMED", blocks_meta: { m: {} } });
    await stream.settled();
    const slot = stand.faulty.node.chain.at("confirmed").slot + 1n;
    await stand.closeSlots(1);
    await stream.settled();
    expect(kindsOf(stream.messages)).toEqual([`meta ${slot}`]);
    stream.cancel();
  });

  test("a request at another commitment has the blocks told that were told at the one before", async () => {
    const first = stand.faulty.node.chain.at("finalized").slot + 1n;
    const stream = await subscribed({ commitment: "CONFIRMED", blocks_meta: { c: {} }, from_slot: `${first}` });
    await eventually("the replay is over", () => kindsOf(stream.messages).length > 0);
    stream.say({ commitment: "FINALIZED", blocks_meta: { f: {} } });
    await stream.settled();
    const before = stream.messages.length;
    await stand.closeSlots(2);
    await stream.settled();
    expect(kindsOf(stream.messages.slice(before))).toEqual([`meta ${first}`, `meta ${first + 1n}`]);
    stream.cancel();
  });

  test("over replaced requests no stage of a slot is told twice, nor one that was reached before the stream", async () => {
    const before = stand.faulty.node.chain.at("confirmed").slot;
    const stream = await subscribed({ commitment: "FINALIZED", slots: { s: {} } });
    for (let request = 0; request < 4; request += 1) {
      await stand.closeSlots(2);
      stream.say({ commitment: "FINALIZED", slots: { s: {} } });
      await stream.settled();
    }
    const kinds = kindsOf(stream.messages);
    expect(kinds).toEqual([...new Set(kinds)]);
    const confirmed = kinds
      .filter((kind) => kind.endsWith(" CONFIRMED"))
      .map((kind) => BigInt(kind.split(" ")[1] ?? ""));
    expect(confirmed).toEqual(Array.from({ length: 8 }, (_, index) => before + 1n + BigInt(index)));
    expect(kinds.filter((kind) => kind.endsWith(" FINALIZED"))).toHaveLength(8);
    stream.cancel();
  });
});

describe("calls", () => {
  test("slot, height, blockhash and its validity are those of the chain; a blockhash lives 150 blocks", async () => {
    const { slot, blockHeight, blockhash } = stand.faulty.node.chain.at("confirmed");
    const at = { commitment: "CONFIRMED" };
    expect(await client.call("GetSlot", at, pro)).toMatchObject({ message: { slot: `${slot}` } });
    expect(await client.call("GetBlockHeight", at, pro)).toMatchObject({ message: { block_height: `${blockHeight}` } });
    expect(await client.call("GetLatestBlockhash", at, pro)).toMatchObject({
      message: { slot: `${slot}`, blockhash, last_valid_block_height: `${blockHeight + 150n}` },
    });
    expect(await client.call("IsBlockhashValid", { ...at, blockhash }, pro)).toMatchObject({
      message: { slot: `${slot}`, valid: true },
    });
    // The log began too late to know that nothing has this hash.
    expect(
      await client.call("IsBlockhashValid", { ...at, blockhash: encodeBase58(new Uint8Array(32)) }, pro),
    ).toMatchObject({ status: "INTERNAL", details: "startup" });
    expect(await client.call("GetSlot", { commitment: 7 }, pro)).toMatchObject({
      status: "UNKNOWN",
      details: "failed to create CommitmentLevel from 7",
    });
    expect(await client.call("Ping", { count: 3 }, pro)).toMatchObject({ message: { count: 3 } });
    const version = await client.call("GetVersion", {}, pro);
    expect(JSON.parse("message" in version ? String(version.message["version"]) : "")).toMatchObject({
      version: { package: "sluice", version: "0.0.0" },
    });
    const deshred = client.duplex("SubscribeDeshred", pro);
    expect(await deshred.ended).toMatchObject({ status: "UNIMPLEMENTED" });
  });
});

describe("who may", () => {
  test.each([
    ["no key", {}, "UNAUTHENTICATED", "No valid auth token"],
    ["an unknown key", { "x-token": "nobody" }, "UNAUTHENTICATED", "No valid auth token"],
    [
      "a network that there is not",
      { ...pro, "x-network": "moon" },
      "INVALID_ARGUMENT",
      "There is no network of that name",
    ],
    ["a network that is not served", { ...pro, "x-network": "testnet" }, "UNAVAILABLE", "No node is available"],
  ] as const)("%s: the call ends with its status", async (_, headers, status, details) => {
    const ended = await client.call("GetSlot", {}, headers);
    expect(ended).toMatchObject({ status });
    expect("details" in ended ? ended.details : "").toContain(details);
  });

  test("a key is taken from x-token, x-api-key and authorization; a lower tier, another network and no permission are refused", async () => {
    for (const headers of [pro, { "x-api-key": "pro" }, { authorization: "Bearer pro" }]) {
      expect(await client.call("Ping", { count: 1 }, headers)).toMatchObject({ status: "OK" });
    }
    stand.keys.set("business", { ...professional, tier: "business" });
    stand.keys.set("elsewhere", {
      ...professional,
      restrictions: { ...professional.restrictions, networks: new Set(["mainnet"]) },
    });
    stand.keys.set("writer", { ...professional, permissions: ["transactions:write"] });
    for (const key of ["business", "elsewhere", "writer"]) {
      expect(await client.call("Ping", { count: 1 }, { "x-token": key })).toMatchObject({
        status: "PERMISSION_DENIED",
      });
    }
    const { details } = (await client.call("Ping", {}, { "x-token": "business" })) as { details: string };
    expect(details).toBe("Yellowstone gRPC needs the tier Professional; the account's is Business");
  });

  test("a key that is taken back ends its streams", async () => {
    stand.keys.set("leaving", { ...professional, accountId: "acc_2" });
    const stream = await subscribed({ slots: { s: {} }, commitment: "CONFIRMED" }, { "x-token": "leaving" });
    stand.keys.delete("leaving");
    await stand.endpoint.recheck();
    expect(await stream.ended).toMatchObject({ status: "UNAUTHENTICATED", details: "No valid auth token" });
  });

  test("a key that is taken back while its stream is being admitted ends it", async () => {
    stand.keys.set("entering", { ...professional, accountId: "acc_4" });
    const looking = spyOn(stand.keys, "get").mockImplementation((key) => {
      const grant = Map.prototype.get.call(stand.keys, key);
      if (stand.keys.delete("entering")) void stand.endpoint.recheck();
      return grant;
    });
    const stream = client.duplex("Subscribe", { "x-token": "entering" });
    expect(await stream.ended).toMatchObject({ status: "UNAUTHENTICATED" });
    looking.mockRestore();
  });

  test("an account has as many streams as its tier has connections", async () => {
    stand.keys.set("many", { ...professional, accountId: "acc_3" });
    const { webSocketConnections } = platformTierLimits.professional;
    using many = new PlainClient(stand.port, geyser);
    const open = Array.from({ length: webSocketConnections }, () => many.duplex("Subscribe", { "x-token": "many" }));
    await Promise.all(open.map((stream) => stream.first(1)));
    const one = client.duplex("Subscribe", { "x-token": "many" });
    expect(await one.ended).toMatchObject({ status: "RESOURCE_EXHAUSTED", details: "max subscription limit exceeded" });
    for (const stream of open) stream.cancel();
  });
});

describe("hostile clients", () => {
  const ended = async (request: object): Promise<string> => {
    const stream = client.duplex("Subscribe", pro);
    stream.say(request);
    const end = await stream.ended;
    return "details" in end ? `${end.status} ${end.details}` : end.status;
  };

  test("a request that makes no filter ends the stream with the protocol's text", async () => {
    const prefix = "INVALID_ARGUMENT failed to create filter:";
    expect(await ended({ slots: { ["n".repeat(129)]: {} } })).toBe(
      `${prefix} oversized filter name (max allowed size 128), found 129`,
    );
    const many = Object.fromEntries(Array.from({ length: 51 }, (_, index) => [`s${index}`, {}]));
    expect(await ended({ slots: many })).toBe(`${prefix} Max amount of filters/data_slices reached, only 50 allowed`);
    expect(await ended({ commitment: 9 })).toBe(`${prefix} failed to create CommitmentLevel from 9`);
    expect(
      await ended({ commitment: "CONFIRMED", accounts: { a: { account: [], owner: [], filters: [] } } }),
    ).toContain("accounts need a node with a Yellowstone source");
    expect(await ended({ commitment: "CONFIRMED", entry: { e: {} } })).toContain("entries need a node");
  });

  test("garbage, oversized requests and floods end their own stream alone", async () => {
    const other = await subscribed({ commitment: "CONFIRMED", blocks_meta: { m: {} } });
    const garbage = client.duplexRaw("Subscribe", pro);
    garbage.say(Buffer.from([0xff, 0xff, 0xff]));
    expect(await garbage.ended).toMatchObject({ status: "INVALID_ARGUMENT" });
    const large = client.duplexRaw("Subscribe", pro);
    large.say(Buffer.alloc(5 * 1024 * 1024));
    expect(await large.ended).toMatchObject({ status: "RESOURCE_EXHAUSTED" });
    const flood = client.duplex("Subscribe", pro);
    for (let count = 0; count < 200; count += 1) flood.say({ ping: { id: count } });
    expect(await flood.ended).toMatchObject({
      status: "RESOURCE_EXHAUSTED",
      details: "more than 50 requests a second",
    });
    await stand.closeSlots(1);
    await other.settled();
    expect(kindsOf(other.messages)).toHaveLength(1);
    other.cancel();
  });

  test("a client that never reads holds nobody else up", async () => {
    using lazy = new PlainClient(stand.port, geyser);
    const stuck = lazy.duplex("Subscribe", pro);
    stuck.say({ commitment: "CONFIRMED", blocks: { b: {}, c: {} }, transactions: { t: {}, u: {} }, from_slot: "1" });
    await stuck.first(1);
    stuck.pause();
    const other = await subscribed({ commitment: "CONFIRMED", blocks_meta: { m: {} } });
    await stand.closeSlots(3);
    await other.settled();
    expect(kindsOf(other.messages)).toHaveLength(3);
    stuck.cancel();
    other.cancel();
  });

  test("who comes back at the last whole slot and leaves out what it has had misses nothing", async () => {
    const request = {
      commitment: "CONFIRMED",
      transactions_status: { t: {} },
      slots: { s: { filter_by_commitment: true } },
    };
    const whole = await subscribed(request);
    const had = new Set<string>();
    const keyOf = (message: Message): string | null => {
      const status = message["transaction_status"] as { slot: string; signature: Uint8Array } | null | undefined;
      return status === null || status === undefined
        ? null
        : `${status.slot} ${Buffer.from(status.signature).toString("hex")}`;
    };
    const told = (messages: readonly Message[]): string[] => messages.flatMap((message) => keyOf(message) ?? []);
    let from: string | null = null;
    for (let round = 0; round < 4; round += 1) {
      const stream = await subscribed(from === null ? request : { ...request, from_slot: from });
      await stand.closeSlots(2);
      await stream.settled();
      const end = `s ${stand.faulty.node.chain.at("confirmed").slot} CONFIRMED`;
      await eventually("the stream has caught up", () => kindsOf(stream.messages).includes(end));
      for (const key of told(stream.messages)) had.add(key);
      from = `${stand.faulty.node.chain.at("confirmed").slot}`;
      stream.cancel();
      // Something happens while it is away.
      await stand.closeSlots(1);
    }
    await whole.settled();
    const last = told(whole.messages).filter((key) => BigInt(key.split(" ")[0] ?? 0) <= BigInt(from ?? 0));
    expect(last.length).toBeGreaterThan(5);
    expect(last.filter((key) => !had.has(key))).toEqual([]);
    whole.cancel();
  });

  test("a client that closes its own side goes on receiving", async () => {
    const stream = client.duplex("Subscribe", pro);
    stream.say({ commitment: "CONFIRMED", blocks_meta: { m: {} } });
    await stream.first(1);
    stream.halfClose();
    await Bun.sleep(20);
    await stand.closeSlots(2);
    await stream.first(2);
    stream.cancel();
  });
});

test("a stream whose credits are used up says so, and a server that ends says that", async () => {
  await using poor = await openStand({ credits: 1 });
  using its = new PlainClient(poor.port, geyser);
  const stream = its.duplex("Subscribe", pro);
  await stream.first(1);
  expect(await its.call("GetSlot", {}, pro)).toMatchObject({ status: "RESOURCE_EXHAUSTED" });
  await poor.stop();
  expect(await stream.ended).toMatchObject({
    status: "UNAVAILABLE",
    details: "server is shutting down try again later",
  });
  expect(poor.facts.map(({ door, credits, bytesOut }) => [door, credits, bytesOut > 0])).toEqual([
    ["yellowstone", 1, true],
  ]);
});
