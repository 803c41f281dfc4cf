import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { SluiceError } from "@sluice/contract/errors";
import { protoFiles } from "@sluice/contract/proto";
import { type Ended, PlainClient } from "../../net/grpc/testing/grpc-client.ts";
import { keysOfTests, type ServedEngine, serveEngine } from "../testing/served-engine.ts";

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
const request = { transactions: [Uint8Array.of(1, 2)], tip: "18446744073709551615", mev_type: "arbitrage" };

/** The bytes of google.rpc.Status with a RetryInfo, as another implementation (protobufjs) reads them. */
function detailsOf(ended: Ended): string {
  if (!("metadata" in ended)) return "";
  const [details] = ended.metadata.get("grpc-status-details-bin");
  return Buffer.from(details ?? "").toString("hex");
}

describe("SubmitBundle", () => {
  test("says that it cannot answer now where nothing can be said of a bundle, and reports no internal error", async () => {
    served.engine.error = new SluiceError("OVERLOADED");
    expect(await client.call("SubmitBundle", request, whole)).toMatchObject({ status: "UNAVAILABLE" });
    expect(served.faults).toEqual([]);
  });

  test("hands the bundle to the engine as it was sent, under the account of the key", async () => {
    const answer = await client.call("SubmitBundle", { ...request, target_slot: "9007199254740993" }, whole);
    const [{ submission, searcher } = { submission: null, searcher: null }] = served.engine.submissions;
    expect(submission).toEqual({
      transactions: [Buffer.of(1, 2)],
      tip: 18_446_744_073_709_551_615n,
      mevType: "arbitrage",
      targetSlot: 9_007_199_254_740_993n,
      sealed: null,
      ingress: "grpc",
    });
    expect(searcher).toEqual({ id: "account of sk_dev_whole", accountId: "account of sk_dev_whole", pubkey: null });
    const [id] = served.engine.records.keys();
    expect(answer).toEqual({
      status: "OK",
      message: {
        bundle_id: id,
        status: "accepted",
        tip_floor: "18446744073709551615",
        logs: [],
        _tip_floor: "tip_floor",
      },
    });
  });

  test("takes a bearer for a key, a sealed bundle, and no type for an unknown one", async () => {
    const bearer = { authorization: `Bearer ${keysOfTests.whole}` };
    const answer = await client.call("SubmitBundle", { tip: "1", encrypted_payload: Uint8Array.of(7) }, bearer);
    expect(answer.status).toBe("OK");
    expect(served.engine.submissions[0]?.submission).toMatchObject({
      sealed: Buffer.of(7),
      mevType: "unknown",
      targetSlot: null,
    });
  });

  test("answers a fault of the bundle OK, with its reason and the floor", async () => {
    const logs = ["Program log: no"];
    served.engine.refusal = { reason: "simulation_failed", detail: "custom program error: 0x1", logs };
    expect(await client.call("SubmitBundle", request, whole)).toMatchObject({
      status: "OK",
      message: {
        status: "rejected",
        reason: "simulation_failed: custom program error: 0x1",
        logs,
        tip_floor: "18446744073709551615",
      },
    });
    served.engine.refusal = { reason: "no_leader", detail: "none" };
    expect(await client.call("SubmitBundle", request, whole)).toMatchObject({
      status: "OK",
      message: { status: "rejected", reason: "no_leader" },
    });
  });

  test("says of a bundle that was taken before how it stands", async () => {
    await client.call("SubmitBundle", request, whole);
    expect(await client.call("SubmitBundle", request, whole)).toMatchObject({ message: { status: "accepted" } });
    const [id = ""] = served.engine.records.keys();
    served.engine.change(id, { to: "dropped", reason: "fork" });
    expect(await client.call("SubmitBundle", request, whole)).toMatchObject({
      message: { bundle_id: id, status: "rejected", reason: "fork" },
    });
  });

  test("401 and 403 by their names: no key, a wrong one, one without the permission, one of elsewhere, one revoked", async () => {
    for (const [headers, status] of [
      [{}, "UNAUTHENTICATED"],
      [{ "x-api-key": "" }, "UNAUTHENTICATED"],
      [{ authorization: "Basic abc" }, "UNAUTHENTICATED"],
      [{ "x-api-key": "sk_dev_nobody" }, "PERMISSION_DENIED"],
      [{ "x-api-key": keysOfTests.reader }, "PERMISSION_DENIED"],
      [{ "x-api-key": keysOfTests.elsewhere }, "PERMISSION_DENIED"],
      [{ "x-api-key": keysOfTests.overloaded }, "UNAVAILABLE"],
    ] as const) {
      expect(await client.call("SubmitBundle", request, headers)).toMatchObject({ status });
    }
    served.keys.revoked.add(keysOfTests.whole);
    expect(await client.call("SubmitBundle", request, whole)).toMatchObject({ status: "PERMISSION_DENIED" });
    expect(served.engine.submissions).toEqual([]);
    expect(served.engine.tokensTaken).toBe(0);
  });

  test("a key that is bound to a domain is held to Origin and Referer, as everywhere", async () => {
    await client.call("SubmitBundle", request, {
      ...whole,
      origin: "https://a.example",
      referer: "https://b.example/x",
    });
    expect(served.keys.callers.at(-1)).toMatchObject({ origin: "https://a.example", referer: "https://b.example/x" });
    await client.call("SubmitBundle", request, whole);
    expect(served.keys.callers.at(-1)).toMatchObject({ origin: null, referer: null });
  });

  test("metadata full of garbage is no key and no internal error", async () => {
    const garbage = {
      "x-api-key": "!~,".repeat(200),
      authorization: "Bearer",
      "x-forwarded-for": ",,;%00,".repeat(100),
    };
    expect(await client.call("SubmitBundle", request, garbage)).toMatchObject({ status: "PERMISSION_DENIED" });
    expect(served.faults).toEqual([]);
  });

  test("429 with the wait, in the details that gRPC clients read", async () => {
    served.engine.rate = { allowed: false, retryAfterSeconds: 300 };
    const ended = await client.call("SubmitBundle", request, whole);
    expect(ended).toMatchObject({ status: "RESOURCE_EXHAUSTED", details: "Rate limit exceeded" });
    // code 8, the text, then Any{type.googleapis.com/google.rpc.RetryInfo, {retry_delay: {seconds: 300}}}.
    const type = Buffer.from("type.googleapis.com/google.rpc.RetryInfo").toString("hex");
    const message = Buffer.from("Rate limit exceeded").toString("hex");
    expect(detailsOf(ended)).toBe(`08081213${message}1a310a28${type}12050a0308ac02`);
    expect(served.engine.submissions).toEqual([]);
  });

  test("503 in maintenance, before a token is taken", async () => {
    served.engine.isInMaintenance = true;
    expect(await client.call("SubmitBundle", request, whole)).toMatchObject({ status: "UNAVAILABLE" });
    expect(served.engine.tokensTaken).toBe(0);
    served.engine.isInMaintenance = false;
    served.engine.refusal = { reason: "maintenance", detail: null };
    expect(await client.call("SubmitBundle", request, whole)).toMatchObject({ status: "UNAVAILABLE" });
  });

  test("a type in capitals is that type, and an envelope of no bytes is none", async () => {
    const message = { ...request, mev_type: "Arbitrage", encrypted_payload: new Uint8Array() };
    expect(await client.call("SubmitBundle", message, whole)).toMatchObject({ message: { status: "accepted" } });
    expect(served.engine.submissions[0]?.submission).toMatchObject({ mevType: "arbitrage", sealed: null });
  });

  test("400 for what has no meaning: an unknown type, both forms at once, bytes that are no message", async () => {
    for (const message of [
      { ...request, mev_type: "theft" },
      { ...request, encrypted_payload: Uint8Array.of(1) },
    ]) {
      expect(await client.call("SubmitBundle", message, whole)).toMatchObject({ status: "INVALID_ARGUMENT" });
    }
    expect(await client.callRaw("SubmitBundle", Buffer.from("0affffffff0f", "hex"), whole)).toMatchObject({
      status: "INVALID_ARGUMENT",
      details: "The message cannot be decoded",
    });
    expect(served.engine.submissions).toEqual([]);
    expect(served.faults).toEqual([]);
  });

  test("a message that is too large is refused by its size", async () => {
    const message = { ...request, transactions: [new Uint8Array(300 * 1_024)] };
    expect(await client.call("SubmitBundle", message, whole)).toMatchObject({ status: "RESOURCE_EXHAUSTED" });
    expect(served.engine.submissions).toEqual([]);
  });

  test("500 shows the request's id and nothing of what went wrong", async () => {
    served.engine.error = new Error("disk at /var/lib is full");
    const ended = await client.call("SubmitBundle", request, whole);
    expect(ended).toMatchObject({ status: "INTERNAL", details: "Internal error, request req_1" });
    expect("metadata" in ended && ended.metadata.get("x-request-id")).toEqual(["req_1"]);
    expect(served.faults).toEqual([served.engine.error]);
  });
});

describe("GetTipFloor and GetReputation", () => {
  const reader = { "x-api-key": keysOfTests.reader };

  test("answer a key that may read, u64 exact", async () => {
    expect(await client.call("GetTipFloor", {}, reader)).toEqual({
      status: "OK",
      message: { tip_floor: "18446744073709551615", tip_floor_24h_avg: "1234", utilization: 0.25 },
    });
    await client.call("SubmitBundle", request, whole);
    expect(await client.call("GetReputation", {}, whole)).toEqual({
      status: "OK",
      message: {
        score: 41.5,
        tier: "silver",
        landing_rate: 0.5,
        sim_success: 0.75,
        bundles_submitted: "1",
        bundles_landed: "0",
      },
    });
  });

  test("need a key, and have a rate", async () => {
    for (const method of ["GetTipFloor", "GetReputation"]) {
      expect(await client.call(method)).toMatchObject({ status: "UNAUTHENTICATED" });
      served.empty.add(`engine-grpc:${keysOfTests.reader}`);
      expect(await client.call(method, {}, reader)).toMatchObject({ status: "RESOURCE_EXHAUSTED" });
      served.empty.clear();
    }
  });
});
