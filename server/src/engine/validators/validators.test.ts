import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { protoFiles } from "@sluice/contract/proto";
import { type Headers, PlainClient } from "../../net/grpc/testing/grpc-client.ts";
import { addressOf } from "../testing/fake-service.ts";
import { type ServedEngine, serveEngine } from "../testing/served-engine.ts";
import { authClient, type Identity, makeIdentity, signIn } from "../testing/signed-in.ts";
import { SlowReader } from "../testing/slow-reader.ts";
import { createValidators } from "./validator-registry.ts";

let served: ServedEngine;
let client: PlainClient;
let auth: PlainClient;
beforeEach(async () => {
  served = await serveEngine();
  client = new PlainClient(served.port, {
    file: protoFiles.validator,
    service: "block_engine.BlockEngineValidator",
  });
  auth = authClient(served.port);
});
afterEach(async () => {
  client[Symbol.dispose]();
  auth[Symbol.dispose]();
  await served[Symbol.asyncDispose]();
});

async function leader(): Promise<{ identity: Identity; headers: Headers }> {
  const identity = makeIdentity();
  served.scheduled.add(identity.address);
  const { ended, headers } = await signIn(auth, "VALIDATOR", identity);
  expect(ended.status).toBe("OK");
  return { identity, headers };
}

const bundle = (id: string, transactions: readonly Uint8Array[] = [Uint8Array.of(1, 2, 3)]) => ({ id, transactions });

describe("a validator of the schedule", () => {
  test("is handed bundles in their order, as packets whose size is what counts", async () => {
    const { identity, headers } = await leader();
    expect(served.validators.connected()).toEqual([]);
    const stream = client.subscribe("SubscribeBundles", {}, headers);
    await served.reported.until(`connected ${identity.address}`);
    expect(served.validators.connected()).toEqual([identity.address]);
    expect(served.validators.deliver(identity.address, [bundle("a"), bundle("b", [Uint8Array.of(9)])])).toBe(true);
    const [message] = await stream.first(1);
    expect(message).toMatchObject({
      bundles: [
        {
          uuid: "a",
          bundle: {
            header: { ts: { seconds: "1800000000", nanos: 0 } },
            packets: [{ data: Buffer.of(1, 2, 3), meta: { size: "3", addr: "0.0.0.0", port: 0 } }],
          },
        },
        { uuid: "b", bundle: { packets: [{ data: Buffer.of(9), meta: { size: "1" } }] } },
      ],
    });
    stream.cancel();
  });

  test("is handed packets where packets are sent, and none otherwise", async () => {
    const { identity, headers } = await leader();
    expect(served.validators.deliverPackets(identity.address, [Uint8Array.of(5)])).toBe(false);
    const stream = client.subscribe("SubscribePackets", {}, headers);
    const deliver = () => served.validators.deliverPackets(identity.address, [Uint8Array.of(5)]);
    while (!deliver()) await new Promise((resolve) => setImmediate(resolve));
    const [message] = await stream.first(1);
    expect(message).toMatchObject({ batch: { packets: [{ data: Buffer.of(5), meta: { size: "1" } }] } });
    stream.cancel();
  });

  test("receives the fee", async () => {
    const { headers } = await leader();
    expect(await client.call("GetBlockBuilderFeeInfo", {}, headers)).toEqual({
      status: "OK",
      message: { pubkey: addressOf(77), commission: "5" },
    });
  });

  test("has one stream: the newer one takes the older one's place", async () => {
    const { identity, headers } = await leader();
    const older = client.subscribe("SubscribeBundles", {}, headers);
    await served.reported.until(`connected ${identity.address}`);
    const newer = client.subscribe("SubscribeBundles", {}, headers);
    expect(await older.ended).toMatchObject({ status: "PERMISSION_DENIED" });
    await served.reported.until(`gone ${identity.address} replaced`);
    expect(served.validators.deliver(identity.address, [bundle("x")])).toBe(true);
    expect(await newer.first(1)).toHaveLength(1);
    expect(older.messages).toEqual([]);
    newer.cancel();
    await served.reported.until(`gone ${identity.address} left`);
    expect(served.validators.connected()).toEqual([]);
    expect(served.validators.deliver(identity.address, [bundle("y")])).toBe(false);
  });

  test("is handed nothing and loses its stream once the schedule is without it", async () => {
    const { identity, headers } = await leader();
    const stays = await leader();
    const stream = client.subscribe("SubscribeBundles", {}, headers);
    const packets = client.subscribe("SubscribePackets", {}, headers);
    const other = client.subscribe("SubscribeBundles", {}, stays.headers);
    await served.reported.until(`connected ${identity.address}`);
    await served.reported.until(`connected ${stays.identity.address}`);
    served.scheduled.delete(identity.address);
    expect(served.validators.connected()).toEqual([stays.identity.address]);
    served.validators.recheck();
    expect(await stream.ended).toMatchObject({ status: "PERMISSION_DENIED" });
    expect(await packets.ended).toMatchObject({ status: "PERMISSION_DENIED" });
    expect(stream.messages).toEqual([]);
    expect(served.validators.deliver(stays.identity.address, [bundle("x")])).toBe(true);
    await other.first(1);
    other.cancel();
  });

  test("is handed nothing in the moment between the schedule's change and its check", async () => {
    const { identity, headers } = await leader();
    const stream = client.subscribe("SubscribeBundles", {}, headers);
    await served.reported.until(`connected ${identity.address}`);
    served.scheduled.delete(identity.address);
    expect(served.validators.deliver(identity.address, [bundle("x")])).toBe(false);
    expect(await stream.ended).toMatchObject({ status: "PERMISSION_DENIED" });
    expect(stream.messages).toEqual([]);
    await served.reported.until(`gone ${identity.address} unscheduled`);
  });

  test("that does not read is bounded and distinguished, and others are served meanwhile", async () => {
    const hung = await leader();
    const reading = await leader();
    using reader = new SlowReader(served.port, "/block_engine.BlockEngineValidator/SubscribeBundles", hung.headers, {
      message: new Uint8Array(),
      isHalfClosed: true,
    });
    const stream = client.subscribe("SubscribeBundles", {}, reading.headers);
    await served.reported.until(`connected ${hung.identity.address}`);
    await served.reported.until(`connected ${reading.identity.address}`);
    const large = bundle(
      "large",
      Array.from({ length: 5 }, () => new Uint8Array(1_232)),
    );
    let taken = 0;
    while (taken < 1_000 && served.validators.deliver(hung.identity.address, Array(20).fill(large))) taken += 1;
    // What the transport holds, what waits, and what HTTP/2 sends before the client says a word.
    expect(taken).toBeGreaterThan(0);
    expect(taken).toBeLessThan(64);
    expect(served.validators.deliver(reading.identity.address, [bundle("x")])).toBe(true);
    expect((await stream.first(1))[0]).toMatchObject({ bundles: [{ uuid: "x" }] });
    stream.cancel();
    reader[Symbol.dispose]();
    await served.reported.until(`gone ${hung.identity.address} left`);
  });
});

describe("who is no leader", () => {
  test("learns the endpoints without a token, and nothing else", async () => {
    const here = {
      block_engine_url: "http://engine.example:7440",
      shredstream_receiver_address: "",
    };
    expect(await client.call("GetBlockEngineEndpoints")).toEqual({
      status: "OK",
      message: { global_endpoint: here, regioned_endpoints: [here] },
    });
    expect(await client.call("GetBlockBuilderFeeInfo")).toMatchObject({
      status: "PERMISSION_DENIED",
      details: "The authorization header is missing.",
    });
    for (const [authorization, details] of [
      ["Basic x", "Invalid authorization header format. It is `Bearer <token>`."],
      ["Bearer a.b.c", "Token failed verification."],
      [`Bearer ${"x".repeat(4_000)}`, "Token failed verification."],
    ] as const) {
      const stream = client.subscribe("SubscribeBundles", {}, { authorization });
      expect(await stream.ended).toMatchObject({ status: "PERMISSION_DENIED", details });
    }
  });

  test("is not signed in as a validator", async () => {
    const { ended } = await signIn(auth, "VALIDATOR", makeIdentity());
    expect(ended).toMatchObject({
      status: "PERMISSION_DENIED",
      details: "The supplied pubkey is not authorized to generate a challenge.",
    });
  });

  test("gets nothing with a searcher's token of the very key that is scheduled", async () => {
    const identity = makeIdentity();
    served.scheduled.add(identity.address);
    const { headers } = await signIn(auth, "SEARCHER", identity);
    for (const method of ["SubscribeBundles", "SubscribePackets"]) {
      const stream = client.subscribe(method, {}, headers);
      expect(await stream.ended).toMatchObject({ status: "PERMISSION_DENIED", details: "Token failed verification." });
      expect(stream.messages).toEqual([]);
    }
    expect(served.validators.connected()).toEqual([]);
    expect(served.validators.deliver(identity.address, [bundle("x")])).toBe(false);
  });

  test("gets nothing with a token from before it left the schedule", async () => {
    const { identity, headers } = await leader();
    served.scheduled.delete(identity.address);
    const stream = client.subscribe("SubscribeBundles", {}, headers);
    expect(await stream.ended).toMatchObject({ status: "PERMISSION_DENIED" });
    expect(served.validators.deliver(identity.address, [bundle("x")])).toBe(false);
  });

  test("does not come in where the operator names others", async () => {
    const named = makeIdentity();
    const unnamed = makeIdentity();
    await using narrow = await serveEngine({ allowed: new Set([named.address]) });
    narrow.scheduled.add(named.address).add(unnamed.address);
    using narrowAuth = authClient(narrow.port);
    expect((await signIn(narrowAuth, "VALIDATOR", named)).ended.status).toBe("OK");
    expect((await signIn(narrowAuth, "VALIDATOR", unnamed)).ended.status).toBe("PERMISSION_DENIED");
  });

  test("finds no endpoint for relayers", async () => {
    using relayer = new PlainClient(served.port, {
      file: protoFiles.validator,
      service: "block_engine.BlockEngineRelayer",
    });
    const { headers } = await leader();
    expect(await relayer.subscribe("SubscribeAccountsOfInterest", {}, headers).ended).toMatchObject({
      status: "UNIMPLEMENTED",
    });
  });
});

test("a fee that validators would refuse is refused at the start", () => {
  const options = { blockEngineUrl: "", allowed: null };
  const dependencies = {
    clock: served.clock,
    schedule: { isScheduled: () => true },
    events: {
      validatorConnected: () => {},
      validatorGone: () => {},
    },
  };
  for (const commission of [-1, 101, 2.5, Number.NaN]) {
    const fee = { pubkey: addressOf(1), commission };
    expect(() => createValidators({ ...options, fee }, dependencies)).toThrow(RangeError);
  }
});
