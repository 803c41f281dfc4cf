import { expect, test } from "bun:test";
import { creditCost } from "@sluice/contract/credits";
import { type RpcMethodSpec, rpcMethods } from "@sluice/contract/rpc";
import { MethodRegistry } from "./method-registry.ts";
import { type Plan, planCall } from "./plan.ts";

const address = "9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ6Ns6g";
const signature = "5".repeat(87);

function specOf(method: string): RpcMethodSpec {
  const spec = rpcMethods.get(method);
  if (spec === undefined) throw new RangeError(method);
  return spec;
}

function planOf(method: string, params: string | null): Plan {
  const { plan } = planCall(specOf(method), params);
  if (!plan.ok) throw new Error(plan.message ?? plan.code);
  return plan;
}

function faultOf(method: string, params: string): string | null {
  const { plan } = planCall(specOf(method), params);
  return plan.ok ? null : plan.message;
}

test("a stated default goes to the method's own place and no other method gets one", () => {
  expect(planOf("getBalance", `["${address}"]`).params).toBe(`["${address}",{"commitment":"confirmed"}]`);
  expect(planOf("getBalance", `["${address}",{"commitment":"processed"}]`).params).toBe(
    `["${address}",{"commitment":"processed"}]`,
  );
  expect(planOf("getMultipleAccounts", `[["${address}"]]`).params).toBe(`[["${address}"]]`);
  expect(planOf("getBlock", "[5]").params).toBe("[5]");
  for (const spec of rpcMethods.values()) {
    const names = Object.keys(spec.defaults);
    expect(names.every((name) => spec.config?.fields[name] !== undefined)).toBe(true);
    expect(names.length === 0 || spec.parameters.every(({ required }) => required)).toBe(true);
  }
});

test("the commitment used decides the cache and is not in the key", () => {
  const plans = ["", ',{"commitment":"confirmed"}', ",null", ",{}"].map((config) =>
    planOf("getAccountInfo", `["${address}"${config}]`),
  );
  expect(new Set(plans.map((plan) => plan.key)).size).toBe(1);
  expect(new Set(plans.map((plan) => plan.commitment))).toEqual(new Set(["confirmed"]));
  expect(planOf("getSlot", null).commitment).toBe("finalized");
  expect(planOf("getSlot", '[{"commitment":"processed"}]').commitment).toBe("processed");
});

test("calls that mean the same have one key: at any commitment, with nothing spelled out, nulls or an empty configuration", () => {
  const keysOf = (method: string, ...params: (string | null)[]) =>
    new Set(params.map((each) => planOf(method, each).key));
  const settled = (commitment: string) => `["${address}",{"commitment":"${commitment}"}]`;
  expect(keysOf("getBalance", ...["processed", "confirmed", "finalized"].map(settled)).size).toBe(1);
  expect(
    keysOf("getSlot", null, "[]", "[null]", "[{}]", '[{"commitment":"confirmed","minContextSlot":null}]').size,
  ).toBe(1);
  expect(keysOf("getBlock", "[5]", "[5,null]", "[5,{}]", '[5,{"encoding":null}]').size).toBe(1);
  expect(keysOf("getBlock", "[5]", "[6]", '[5,{"rewards":false}]', '[5,"base64"]').size).toBe(4);
  expect(planOf("getSlot", null).key).toBe("getSlot[]");
});

test("a call without a commitment has a second plan at the node's own, where the method's default is another", () => {
  const { withNodeDefault } = planCall(specOf("getAccountInfo"), `["${address}"]`);
  expect(withNodeDefault).toMatchObject({ commitment: "finalized", params: `["${address}",{"encoding":"base64"}]` });
  for (const commitment of ["processed", "confirmed", "finalized"]) {
    const planned = planCall(specOf("getBalance"), `["${address}",{"commitment":"${commitment}"}]`);
    expect(planned).toMatchObject({ plan: { commitment }, withNodeDefault: null });
  }
  expect(planCall(specOf("getSlot"), null)).toMatchObject({ plan: { ok: true }, withNodeDefault: null });
});

test("a plan names the slot that its answer is about and the slot that its node must have reached", () => {
  expect(planOf("getBlock", "[5]").slot).toBe(5n);
  expect(planOf("getBlockTime", "[18446744073709551615]").slot).toBe(18446744073709551615n);
  expect(planOf("getBlocks", "[5]").slot).toBeNull();
  expect(planOf("getBalance", `["${address}"]`)).toMatchObject({ slot: null, minContextSlot: null });
  expect(planOf("getBalance", `["${address}",{"minContextSlot":7}]`).minContextSlot).toBe(7n);
  expect(planOf("getLatestBlockhash", '[{"minContextSlot":8}]').minContextSlot).toBe(8n);
  expect(planOf("getHealth", null).minContextSlot).toBeNull();
});

test("configurations in the places that old clients use are understood", () => {
  expect(planOf("getBlocks", '[5,{"commitment":"confirmed"}]').commitment).toBe("confirmed");
  expect(planOf("getBlocks", '[5,9,{"commitment":"confirmed"}]').commitment).toBe("confirmed");
  expect(planOf("getBlock", '[5,"base64"]').params).toBe('[5,"base64"]');
  expect(faultOf("getBlock", '[5,"base65"]')).toContain("encoding");
  expect(planOf("getLeaderSchedule", '[{"commitment":"confirmed"}]').commitment).toBe("confirmed");
});

test("writes go as they were sent", () => {
  const params = '[ "AQ==",{"encoding":"base64", "maxRetries":0}]';
  expect(planOf("sendTransaction", params).params).toBe(params);
  expect(planOf("sendTransaction", params).key).toBeNull();
});

test("wrong parameters are refused with a sentence that names them", () => {
  const cases: readonly (readonly [string, string, string])[] = [
    ["getBalance", "[]", "parameter 1 (address) is missing"],
    ["getBalance", '["abc"]', "parameter 1 (address) must be 32 bytes in base58"],
    ["getBalance", `["${address}","processed"]`, "parameter 2 (config) must be an object"],
    ["getBalance", `["${address}",{"commitment":"max"}]`, "commitment must be one of processed, confirmed, finalized"],
    ["getBalance", `["${address}",{},1]`, "expected at most 2 parameters, got 3"],
    ["getBalance", `["${address}",{"minContextSlot":-1}]`, "minContextSlot must be a whole number"],
    ["getBalance", `["${address}",{"minContextSlot":1.5}]`, "minContextSlot must be a whole number"],
    ["getBalance", `["${address}",{"minContextSlot":18446744073709551616}]`, "minContextSlot must be a whole number"],
    ["getTransaction", '["abc"]', "parameter 1 (signature) must be 64 bytes in base58"],
    ["getTransaction", `["${signature}",{"commitment":"processed"}]`, "commitment must be one of confirmed, finalized"],
    [
      "getMultipleAccounts",
      `[[${Array.from({ length: 101 }, () => `"${address}"`).join(",")}]]`,
      "at most 100 entries",
    ],
    ["getMultipleAccounts", `[["${address}","0"]]`, "entry 2 must be 32 bytes in base58"],
    ["getBlocksWithLimit", "[1,500001]", "parameter 2 (limit) must be a whole number from 0 to 500000"],
    ["getSignaturesForAddress", `["${address}",{"limit":0}]`, "limit must be a whole number from 1 to 1000"],
    ["getAccountInfo", `["${address}",{"encoding":"hex"}]`, "encoding must be one of"],
    ["getAccountInfo", `["${address}",{"dataSlice":{"offset":0}}]`, "dataSlice length is missing"],
    ["getTokenAccountsByOwner", `["${address}",{"mint":"x"}]`, "parameter 2 (filter) mint must be"],
    ["getTokenAccountsByDelegate", `["${address}",{"programId":5}]`, "parameter 2 (filter) programId must be"],
    ["getTokenAccountsByOwner", `["${address}",{}]`, "parameter 2 (filter) must be an object with mint or programId"],
    ["getHealth", "[1]", "expected at most 0 parameters"],
    ["getBalance", `["${address}",[]]`, "parameter 2 (config) must be an object"],
    ["getMultipleAccounts", `[["0","${address}"]]`, "entry 1 must be 32 bytes in base58"],
    ["getMultipleAccounts", `["${address}"]`, "parameter 1 (addresses) must be an array"],
    ["getProgramAccounts", `["${address}",{"withContext":1}]`, "withContext must be true or false"],
    ["getProgramAccounts", `["${address}",{"filters":[1,2,3,4,5]}]`, "filters must hold at most 4 entries"],
    ["getSignatureStatuses", '[["abc"]]', "entry 1 must be 64 bytes in base58"],
    ["simulateTransaction", '["2",{"accounts":[]}]', "accounts must be an object"],
    ["getFeeForMessage", '[""]', "parameter 1 (message) must be a string that is not empty"],
    ["isBlockhashValid", '["abc"]', "parameter 1 (blockhash) must be 32 bytes in base58"],
  ];
  for (const [method, params, sentence] of cases)
    expect([method, faultOf(method, params)]).toEqual([method, expect.stringContaining(sentence)]);
});

test("values at their bounds pass, and texts are read as the method has them", () => {
  for (const [method, params] of [
    ["getMultipleAccounts", `[[${Array.from({ length: 100 }, () => `"${address}"`).join(",")}]]`],
    ["getSignaturesForAddress", `["${address}",{"limit":1}]`],
    ["getSignaturesForAddress", `["${address}",{"limit":1000}]`],
    ["getBlocksWithLimit", "[0,500000]"],
    ["getProgramAccounts", `["${address}",{"withContext":true,"sortResults":false,"filters":[1,2,3,4]}]`],
    ["simulateTransaction", '["2",{"accounts":{}}]'],
    ["getSignatureStatuses", `[["${signature}"]]`],
    ["getTokenAccountsByOwner", `["${address}",{"programId":"${address}"}]`],
    ["getAccountInfo", `["${address}",{"dataSlice":{"offset":0,"length":18446744073709551615}}]`],
    // Base64, which is no base58.
    ["getFeeForMessage", '["AQ+/"]'],
  ] as const) {
    expect([method, faultOf(method, params)]).toEqual([method, null]);
  }
});

test("parameters of an unknown method are JSON, or none", () => {
  const page = new MethodRegistry({ allowUnknownMethods: true }).find("getMoon");
  expect(page?.plan(null).plan).toMatchObject({ ok: true, params: null, commitment: "finalized" });
  expect(page?.plan("[1").plan).toMatchObject({ ok: false, code: "PARSE_ERROR" });
});

test("a range of more than 500,000 blocks never reaches a node", () => {
  expect(faultOf("getBlocks", "[1,500001]")).toBeNull();
  expect(faultOf("getBlocks", "[1,500002]")).toContain("end slot");
});

test("unknown members are ignored and stay in the call", () => {
  expect(planOf("getSlot", '[{"later":1,"commitment":"confirmed"}]').params).toBe(
    '[{"commitment":"confirmed","later":1}]',
  );
});

test("every method has a price, and remembered plans stay within their bound", () => {
  const registry = new MethodRegistry({ allowUnknownMethods: false, rememberedBytesMax: 10_000 });
  for (const name of rpcMethods.keys()) expect(registry.find(name)?.price(null)).toBe(creditCost(name));
  expect(registry.find("getMoon")).toBeNull();
  expect(new MethodRegistry({ allowUnknownMethods: true }).find("getMoon")?.plan("[1]").plan).toMatchObject({
    ok: true,
    params: "[1]",
    key: null,
  });
  // Methods beside Solana's own may take their parameters by name.
  const byName = '{"id":"x","n":18446744073709551615}';
  expect(new MethodRegistry({ allowUnknownMethods: true }).find("getMoon")?.plan(byName).plan).toMatchObject({
    ok: true,
    params: byName,
    key: null,
  });
  expect(registry.find("getSlot")?.plan("{}").plan).toMatchObject({ code: "INVALID_PARAMS" });
  const page = registry.find("getBlockTime");
  const first = page?.plan("[1]");
  expect(page?.plan("[1]")).toBe(first as never);
  for (let slot = 2; slot < 100; slot += 1) page?.plan(`[${slot}]`);
  expect(page?.plan("[1]")).not.toBe(first as never);
});

test("a call that is never kept is planned once while it is short; what only one caller sends is not remembered", () => {
  const registry = new MethodRegistry({ allowUnknownMethods: false });
  const page = registry.find("getLatestBlockhash");
  const short = '[{"commitment":"confirmed"}]';
  const first = page?.plan(short);
  expect(first?.plan).toMatchObject({ ok: true, params: short, commitment: "confirmed", key: null });
  expect(page?.plan(short)).toBe(first as never);
  const long = `["${"1".repeat(200)}"]`;
  const send = registry.find("sendTransaction");
  expect(send?.plan(long)).not.toBe(send?.plan(long) as never);
});
