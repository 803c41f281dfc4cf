import { expect, test } from "bun:test";
import { checkPubSubCall } from "./pubsub-calls.ts";

const address = "9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ6Ns6g";
const signature = "5".repeat(87);

const refusalOf = (method: string, params: string | null, allowUnknownMethods = false) =>
  checkPubSubCall({ method, params }, { allowUnknownMethods });

test("subscriptions with whatever a node takes pass, and so do ends of them", () => {
  for (const [method, params] of [
    ["accountSubscribe", `["${address}"]`],
    ["accountSubscribe", `["${address}",{"commitment":"processed","encoding":"base64"}]`],
    ["programSubscribe", `["${address}",{"filters":[{"dataSize":1},{"dataSize":1},{"dataSize":1},{"dataSize":1}]}]`],
    ["logsSubscribe", '["all"]'],
    ["logsSubscribe", '["allWithVotes",{"commitment":"processed"}]'],
    ["logsSubscribe", `[{"mentions":["${address}"]}]`],
    ["signatureSubscribe", `["${signature}",{"enableReceivedNotification":true}]`],
    ["blockSubscribe", '["all",{"commitment":"confirmed"}]'],
    ["blockSubscribe", `[{"mentionsAccountOrProgram":"${address}"}]`],
    ["slotSubscribe", null],
    ["slotSubscribe", "[]"],
    ["accountUnsubscribe", "[18446744073709551615]"],
  ] as const) {
    expect([method, params, refusalOf(method, params)]).toEqual([method, params, null]);
  }
});

test("what is no JSON, no list, or of no method is refused by the code of it; unknown methods pass where they may", () => {
  expect(refusalOf("accountSubscribe", "[1")).toEqual({ code: "PARSE_ERROR", message: null });
  expect(refusalOf("moonSubscribe", "[]")).toEqual({ code: "METHOD_NOT_FOUND", message: null });
  expect(refusalOf("moonSubscribe", '{"a":1}', true)).toBeNull();
  expect(refusalOf("moonSubscribe", "[1", true)).toEqual({ code: "PARSE_ERROR", message: null });
  const notAnArray = { code: "INVALID_PARAMS", message: "`params` should be an array" } as const;
  expect(refusalOf("accountSubscribe", '{"a":1}')).toEqual(notAnArray);
});

test("faults for which a node has words are refused in them", () => {
  const five = JSON.stringify(Array.from({ length: 5 }, () => ({ dataSize: 1 })));
  const below = "Method does not support commitment below `confirmed`";
  const invalid = (name: string) => `Invalid Request: Invalid ${name} provided`;
  for (const [method, params, message] of [
    ["accountSubscribe", '["abc"]', invalid("pubkey")],
    ["programSubscribe", '["abc"]', invalid("pubkey")],
    ["signatureSubscribe", '["abc"]', invalid("signature")],
    ["logsSubscribe", '[{"mentions":["abc"]}]', invalid("mentions")],
    ["logsSubscribe", '[{"mentions":[]}]', "Invalid Request: Only 1 address supported"],
    ["logsSubscribe", `[{"mentions":["${address}","${address}"]}]`, "Invalid Request: Only 1 address supported"],
    ["blockSubscribe", '[{"mentionsAccountOrProgram":"abc"}]', invalid("mentions_account_or_program")],
    ["blockSubscribe", '["all",{"commitment":"processed"}]', below],
    ["programSubscribe", `["${address}",{"filters":${five}}]`, "Too many filters provided; max 4"],
  ] as const) {
    expect([method, params, refusalOf(method, params)]).toEqual([method, params, { code: "INVALID_PARAMS", message }]);
  }
});

test("other faults are refused in ours, which name the parameter", () => {
  for (const [method, params, sentence] of [
    ["accountSubscribe", "[]", "parameter 1 (pubkey) is missing"],
    ["accountSubscribe", "[5]", "parameter 1 (pubkey) must be 32 bytes in base58"],
    ["accountSubscribe", `["${address}",{"encoding":"hex"}]`, "encoding must be one of"],
    ["signatureSubscribe", "[5]", "parameter 1 (signature) must be 64 bytes in base58"],
    ["programSubscribe", `["${address}",{"filters":5}]`, "filters must be an array"],
    ["logsSubscribe", '["some"]', "parameter 1 (filter) must be all, allWithVotes, or an object whose mentions hold"],
    ["logsSubscribe", '[{"mentions":[5]}]', "parameter 1 (filter) must be all, allWithVotes, or an object"],
    ["blockSubscribe", '["some"]', "parameter 1 (filter) must be all, or an object"],
    ["blockSubscribe", '[{"mentionsAccountOrProgram":5}]', "parameter 1 (filter) must be all, or an object"],
    ["slotSubscribe", "[1]", "expected at most 0 parameters, got 1"],
    ["accountUnsubscribe", "[-1]", "parameter 1 (subscription) must be a whole number from 0"],
  ] as const) {
    const refusal = refusalOf(method, params);
    expect([method, params, refusal?.code]).toEqual([method, params, "INVALID_PARAMS"]);
    expect(refusal?.message).toStartWith("Invalid params: ");
    expect(refusal?.message).toContain(sentence);
  }
});
