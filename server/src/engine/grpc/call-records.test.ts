import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { SluiceError } from "@sluice/contract/errors";
import { protoFiles } from "@sluice/contract/proto";
import { PlainClient } from "../../net/grpc/testing/grpc-client.ts";
import { keysOfTests, type ServedEngine, serveEngine } from "../testing/served-engine.ts";
import { authClient, makeIdentity, signIn } from "../testing/signed-in.ts";

let served: ServedEngine;
let client: PlainClient;
beforeEach(async () => {
  served = await serveEngine();
  client = new PlainClient(served.port, { file: protoFiles.blockEngine, service: "blockengine.v1.BlockEngine" });
});
afterEach(async () => {
  client[Symbol.dispose]();
  await served[Symbol.asyncDispose]();
});

const whole = { "x-api-key": keysOfTests.whole };
const request = { transactions: [Uint8Array.of(1, 2)], tip: "5", mev_type: "arbitrage" };
const submit = "/blockengine.v1.BlockEngine/SubmitBundle";
const openStream = "/blockengine.v1.BlockEngine/SubmitBundleStream";
const recorded = (): string[] =>
  served.facts.map(({ keyId, method, status, code }) => `${keyId} ${method} ${status} ${code}`);

test("what was taken has no record, and neither has a caller whose account is not known", async () => {
  await client.call("SubmitBundle", request, whole);
  await client.call("SubmitBundle", request, {});
  await client.call("SubmitBundle", request, { "x-api-key": "sk_dev_nobody" });
  await client.call("SubmitBundle", request, { "x-api-key": keysOfTests.overloaded });
  expect(served.facts).toEqual([]);
});

test("a refusal is recorded for the key's account under the id that the caller was told", async () => {
  served.engine.rate = { allowed: false, retryAfterSeconds: 7 };
  const ended = await client.call("SubmitBundle", request, whole);
  const told = "metadata" in ended ? ended.metadata.get("x-request-id") : [];
  expect(served.facts).toEqual([
    {
      at: served.clock.now(),
      requestId: String(told[0]),
      accountId: "account of sk_dev_whole",
      keyId: "sk_dev_whole",
      network: "devnet",
      door: "engine",
      method: submit,
      status: 429,
      rpcCode: null,
      latencyMs: 0,
      bytesIn: 0,
      bytesOut: 0,
      credits: 0,
      code: "RATE_LIMIT_EXCEEDED",
      cache: "",
      upstream: "",
    },
  ]);
});

test("each refusal has its code: the permission, the restriction, the field, the bundle, maintenance, a fault of ours", async () => {
  await client.call("SubmitBundle", request, { "x-api-key": keysOfTests.reader });
  await client.call("SubmitBundle", request, { "x-api-key": keysOfTests.elsewhere });
  await client.call("SubmitBundle", { ...request, mev_type: "theft" }, whole);
  served.engine.refusal = { reason: "tip_not_paid", detail: "no tip" };
  await client.call("SubmitBundle", request, whole);
  served.engine.refusal = null;
  for (const error of [new SluiceError("STORE_UNAVAILABLE"), new Error("no")]) {
    served.engine.error = error;
    await client.call("SubmitBundle", request, whole);
  }
  served.engine.isInMaintenance = true;
  await client.call("SubmitBundle", request, whole);
  served.empty.add(`engine-grpc:${keysOfTests.whole}`);
  await client.call("GetTipFloor", {}, whole);
  expect(recorded()).toEqual([
    `sk_dev_reader ${submit} 403 PERMISSION_DENIED`,
    `sk_dev_elsewhere ${submit} 403 IP_NOT_ALLOWED`,
    `sk_dev_whole ${submit} 400 INVALID_INPUT`,
    `sk_dev_whole ${submit} 200 tip_not_paid`,
    `sk_dev_whole ${submit} 503 STORE_UNAVAILABLE`,
    `sk_dev_whole ${submit} 500 INTERNAL_ERROR`,
    `sk_dev_whole ${submit} 503 UNAVAILABLE`,
    "sk_dev_whole /blockengine.v1.BlockEngine/GetTipFloor 429 RATE_LIMIT_EXCEEDED",
  ]);
});

test("a stream has a record of each bundle that it did not take, and of its end by a fault", async () => {
  const stream = client.duplex("SubmitBundleStream", whole);
  served.engine.refusal = { reason: "tip_not_paid", detail: "no tip" };
  stream.say(request);
  await stream.first(1);
  served.engine.refusal = null;
  stream.say(request);
  await stream.first(2);
  served.keys.revoked.add(keysOfTests.whole);
  await served.recheck();
  await stream.ended;
  expect(recorded()).toEqual([
    `sk_dev_whole ${openStream} 200 tip_not_paid`,
    `sk_dev_whole ${openStream} 403 INVALID_API_KEY`,
  ]);
});

describe("Jito's service", () => {
  test("records under the linked account what it refuses, by the bundle's reason, and nothing for a key of none", async () => {
    using searcher = new PlainClient(served.port, { file: protoFiles.searcher, service: "searcher.SearcherService" });
    using auth = authClient(served.port);
    const identity = makeIdentity();
    const { headers } = await signIn(auth, "SEARCHER", identity);
    const bundle = { bundle: { packets: [{ data: Uint8Array.of(1) }] } };
    served.engine.refusal = { reason: "no_leader", detail: null };
    await searcher.call("SendBundle", bundle, headers);
    expect(served.facts).toEqual([]);
    served.linked.set(identity.address, "account seven");
    await searcher.call("SendBundle", bundle, headers);
    await searcher.call("SendBundle", bundle, whole);
    expect(served.facts.map(({ accountId }) => accountId)).toEqual(["account seven", "account of sk_dev_whole"]);
    expect(recorded()).toEqual([
      " /searcher.SearcherService/SendBundle 503 no_leader",
      "sk_dev_whole /searcher.SearcherService/SendBundle 503 no_leader",
    ]);
  });
});
