import { expect, test } from "bun:test";
import { testGrant } from "./testing/booted-gateway.ts";
import { withGateway } from "./testing/with-gateway.ts";

const id = "11111111111111111111111111111112";
const call = (method = "getAsset", params: object = { id }): string =>
  JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });

test("methods over digital assets are answered here, at their price, and take tokens of the enhanced API too", () =>
  withGateway(async (booted) => {
    const taken: string[] = [];
    booted.fakes.take = (bucket, cost) => {
      taken.push(`${bucket} ${cost}`);
      return {};
    };
    const answers = await Promise.all([booted.post(call()), booted.post(call("getAssetBatch", { ids: [id, id, id] }))]);
    expect(await Promise.all(answers.map((each) => each.json()))).toEqual([
      { jsonrpc: "2.0", id: 1, result: "getAsset" },
      { jsonrpc: "2.0", id: 1, result: "getAssetBatch" },
    ]);
    expect(booted.facts.map(({ method, credits }) => `${method} ${credits}`).toSorted()).toEqual([
      "getAsset 10",
      "getAssetBatch 15",
    ]);
    const [own] = testGrant.enhanced.buckets;
    expect(taken.filter((each) => each === `${own.bucket} 1`)).toHaveLength(2);
    expect(taken).toHaveLength(4);
  }));

test("a key without the enhanced API may not call them, alone or in a batch, and nothing is asked", () =>
  withGateway(async (booted) => {
    booted.fakes.authenticate = () => ({ ...testGrant, enhanced: { ...testGrant.enhanced, isAllowed: false } });
    booted.fakes.answerAsset = () => Promise.reject(new Error("nobody is asked"));
    const alone = await booted.post(call());
    expect([alone.status, alone.headers.get("x-error-code")]).toEqual([403, "ENHANCED_API_DISABLED"]);
    const slot = '{"jsonrpc":"2.0","id":2,"method":"getSlot"}';
    const [asset, other] = await (await booted.post(`[${call()},${slot}]`)).json();
    expect([asset.error.data.code, typeof other.result]).toEqual(["ENHANCED_API_DISABLED", "number"]);
  }));

test("over the rate of the enhanced API the call is refused, and a batch answers its other calls", () =>
  withGateway(async (booted) => {
    const [own] = testGrant.enhanced.buckets;
    booted.fakes.take = (bucket) => (bucket === own.bucket ? { allowed: false, retryAfterSeconds: 3 } : {});
    const alone = await booted.post(call());
    expect([alone.status, alone.headers.get("retry-after")]).toEqual([429, "3"]);
    const slot = '{"jsonrpc":"2.0","id":2,"method":"getSlot"}';
    const [asset, other] = await (await booted.post(`[${call()},${slot}]`)).json();
    expect([asset.error.data.code, typeof other.result]).toEqual(["RATE_LIMIT_EXCEEDED", "number"]);
  }));

test("what could not be answered costs nothing, and an error of ours is this call's alone", () =>
  withGateway(async (booted) => {
    booted.fakes.answerAsset = async () => ({ ok: false, code: "NETWORK_UNAVAILABLE", message: "no node" });
    expect((await booted.post(call())).status).toBe(503);
    booted.fakes.answerAsset = () => Promise.reject(new Error("a fault"));
    expect((await booted.post(call())).status).toBe(500);
    expect([booted.fakes.creditsLeft, booted.faults.splice(0).length]).toEqual([1_000_000, 1]);
    const invalid = await (await booted.post(call("getAsset", { id: 1 }))).json();
    expect([invalid.error.code, booted.fakes.creditsLeft]).toEqual([-32602, 1_000_000]);
  }));
