import { describe, expect, test } from "bun:test";
import { pubsubMethods } from "@sluice/contract/rpc";
import { type ClientCall, readMessage } from "./client-messages.ts";

const address = "9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ6Ns6g";
const signature = "5".repeat(87);

interface Failure {
  readonly id: unknown;
  readonly error: { readonly code: number; readonly message: string; readonly data: Record<string, unknown> };
}

const read = (data: string | Uint8Array, allowUnknownMethods = false) =>
  readMessage(data, { requestId: "req_1", allowUnknownMethods, permit: () => null });

/** The one call of a message that is no batch. */
function single(data: string | Uint8Array, allowUnknownMethods = false): ClientCall {
  const { calls, isBatch } = read(data, allowUnknownMethods);
  const [call] = calls;
  if (isBatch || call === undefined || calls.length !== 1) throw new Error(`${calls.length} calls: ${data}`);
  return call;
}

const call = (method: string, params?: string): string =>
  `{"jsonrpc":"2.0","id":1,"method":"${method}"${params === undefined ? "" : `,"params":${params}`}}`;

function failureOf(data: string | Uint8Array): Failure {
  const outcome = single(data);
  if (outcome.kind !== "refused") throw new Error(`${outcome.kind}: ${data}`);
  return JSON.parse(outcome.body) as Failure;
}

const messageOf = (method: string, params: string): readonly [number, string] => {
  const { error } = failureOf(call(method, params));
  return [error.code, error.message];
};

test("every subscription that Solana's clients make is read, from text and from binary frames", () => {
  for (const text of [
    call("accountSubscribe", `["${address}",{"encoding":"jsonParsed","commitment":"processed","minContextSlot":5}]`),
    call("accountSubscribe", `["${address}",null]`),
    call("programSubscribe", `["${address}",{"filters":[{"dataSize":165}],"encoding":"base64+zstd"}]`),
    call("logsSubscribe", '["all"]'),
    call("logsSubscribe", '["allWithVotes",{"commitment":"finalized"}]'),
    call("logsSubscribe", `[{"mentions":["${address}"]},{"commitment":"confirmed"}]`),
    call("signatureSubscribe", `["${signature}",{"enableReceivedNotification":true}]`),
    call("blockSubscribe", `["all",{"commitment":"finalized","transactionDetails":"none","showRewards":false}]`),
    call("blockSubscribe", `[{"mentionsAccountOrProgram":"${address}"},{"maxSupportedTransactionVersion":0}]`),
    ...["slotSubscribe", "slotsUpdatesSubscribe", "rootSubscribe", "voteSubscribe"].flatMap((method) => [
      call(method),
      call(method, "[]"),
    ]),
  ]) {
    const { method } = JSON.parse(text) as { method: string };
    expect(single(text)).toMatchObject({ kind: "subscribe", id: "1", spec: { kind: method.replace("Subscribe", "") } });
    expect(single(Buffer.from(text))).toEqual(single(text));
  }
});

test("every subscription has its unsubscription, which takes a number", () => {
  for (const name of pubsubMethods.keys()) {
    if (!name.endsWith("Subscribe")) continue;
    const method = name.replace("Subscribe", "Unsubscribe");
    expect(single(call(method, "[7]"))).toEqual({ kind: "unsubscribe", id: "1", subscription: 7 });
    for (const params of ["[]", '["7"]', "[-1]", "[7,8]"]) expect(messageOf(method, params)[0]).toBe(-32602);
  }
});

describe("a wrong call is answered and not passed", () => {
  test("in the words of a node where it has some", () => {
    const invalid = "Invalid Request: Invalid";
    for (const [method, params, message] of [
      ["accountSubscribe", '["bad"]', `${invalid} pubkey provided`],
      ["programSubscribe", '["0"]', `${invalid} pubkey provided`],
      ["signatureSubscribe", `["${address}"]`, `${invalid} signature provided`],
      ["logsSubscribe", '[{"mentions":["bad"]}]', `${invalid} mentions provided`],
      ["logsSubscribe", '[{"mentions":[]}]', "Invalid Request: Only 1 address supported"],
      ["logsSubscribe", `[{"mentions":["${address}","${address}"]}]`, "Invalid Request: Only 1 address supported"],
      ["blockSubscribe", '[{"mentionsAccountOrProgram":"x"}]', `${invalid} mentions_account_or_program provided`],
      ["blockSubscribe", '["all",{"commitment":"processed"}]', "Method does not support commitment below `confirmed`"],
      ["programSubscribe", `["${address}",{"filters":[1,2,3,4,5]}]`, "Too many filters provided; max 4"],
    ] as const) {
      expect(messageOf(method, params)).toEqual([-32602, message]);
    }
  });

  test("with a message that names the parameter otherwise", () => {
    for (const [method, params, named] of [
      ["accountSubscribe", "[]", "pubkey"],
      ["accountSubscribe", "[5]", "pubkey"],
      ["accountSubscribe", `["${address}",{"encoding":"base65"}]`, "encoding"],
      ["accountSubscribe", `["${address}",{"commitment":"recent"}]`, "commitment"],
      ["accountSubscribe", `["${address}",5]`, "config"],
      ["accountSubscribe", `["${address}",{},1]`, "at most 2 parameters"],
      ["programSubscribe", `["${address}",{"filters":{}}]`, "filters"],
      ["logsSubscribe", '["some"]', "filter"],
      ["logsSubscribe", "[{}]", "filter"],
      ["signatureSubscribe", `["${signature}",{"enableReceivedNotification":1}]`, "enableReceivedNotification"],
      ["blockSubscribe", "[{}]", "filter"],
      ["blockSubscribe", '["all",{"maxSupportedTransactionVersion":256}]', "maxSupportedTransactionVersion"],
      ["slotSubscribe", "[1]", "at most 0 parameters"],
      ["slotSubscribe", "{}", "array"],
    ] as const) {
      const [code, message] = messageOf(method, params);
      expect([params, code, message.includes(named)]).toEqual([params, -32602, true]);
    }
  });

  test("as an unknown method, under its id, with the connection's request id", () => {
    expect(failureOf(`{"jsonrpc":"2.0","id":"é","method":"nosuchSubscribe","params":["x"]}`)).toMatchObject({
      id: "é",
      error: { code: -32601, data: { code: "METHOD_NOT_FOUND", request_id: "req_1" } },
    });
    for (const method of ["getSlot", "sendTransaction", "__proto__", "ping"]) {
      expect(failureOf(call(method)).error.code).toBe(-32601);
    }
  });

  test("as no call at all", () => {
    for (const [data, code] of [
      ["", -32700],
      ["{", -32700],
      ['{"jsonrpc":"2.0","id":1,"method":"slotSubscribe"', -32700],
      [new Uint8Array([0xff, 0xfe]), -32700],
      ["5", -32600],
      ["{}", -32600],
      ["[]", -32600],
      ['{"jsonrpc":"2.0","id":null,"method":"slotSubscribe"}', -32600],
      ['{"jsonrpc":"1.0","id":1,"method":"slotSubscribe"}', -32600],
      ['{"jsonrpc":"2.0","\\u0069d":true,"method":"ping"}', -32600],
    ] as const) {
      expect([data, failureOf(data).error.code]).toEqual([data, code]);
    }
  });
});

test("getVersion is read, and a subscription's number that no client has been told", () => {
  expect(single(call("getVersion"))).toEqual({ kind: "version", id: "1" });
  expect(single(call("slotUnsubscribe", "[18446744073709551615]")).kind).toBe("unsubscribe");
});

test("a notification has no answer, such as the one that keeps connections alive", () => {
  for (const method of ["ping", "accountSubscribe", "pong", "nosuch"]) {
    expect(read(`{"jsonrpc":"2.0","method":"${method}","params":["bad"]}`).calls).toEqual([]);
  }
});

test("each call of a batch is read by itself: a wrong one is refused in its place", () => {
  const { calls, isBatch } = read(` [${call("slotSubscribe")},${call("accountSubscribe", '["bad"]')},5] `);
  expect(isBatch).toBe(true);
  expect(calls.map(({ kind }) => kind)).toEqual(["subscribe", "refused", "refused"]);
  const failures = calls.flatMap((each) => (each.kind === "refused" ? [JSON.parse(each.body) as Failure] : []));
  expect(failures.map(({ id, error }) => [id, error.code])).toEqual([
    [1, -32602],
    [null, -32600],
  ]);
});

test("a method that no table knows is passed by itself alone: in a batch it is refused", () => {
  const { calls } = read(`[${call("transactionSubscribe")},${call("slotSubscribe")}]`, true);
  expect(calls.map(({ kind }) => kind)).toEqual(["refused", "subscribe"]);
});

test("methods that no table knows pass where the operator lets them, with whatever parameters", () => {
  for (const params of ['["x"]', '{"filter":{}}', undefined]) {
    const text = call("transactionSubscribe", params);
    expect(single(text, true)).toEqual({ kind: "unknown", text });
  }
  expect(single(call("accountSubscribe", '["bad"]'), true).kind).toBe("refused");
  expect(single('{"jsonrpc":"2.0","id":1,"method":"transactionSubscribe","params":[01]}', true).kind).toBe("refused");
});
