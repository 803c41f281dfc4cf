import { expect, test } from "bun:test";
import type { UpstreamCall, UpstreamOutcome } from "../upstreams/index.ts";
import { readHeight, readStatuses, signatureIn, slotInResult, textOf } from "./sent-answers.ts";
import { answerOf } from "./testing/rpc-stand.ts";

const signature = "5".repeat(88);
const withResult = (result: string): string => `{"jsonrpc":"2.0","result":${result},"id":1}`;

/** A pool that answers every call in this way. */
function poolOf(outcome: UpstreamOutcome) {
  const calls: UpstreamCall[] = [];
  const call = async (asked: UpstreamCall): Promise<UpstreamOutcome> => {
    calls.push(asked);
    return outcome;
  };
  return { calls, call };
}
const away: UpstreamOutcome = { ok: false, refused: "UPSTREAM_TIMEOUT", label: "a", repeatable: true };

test("an answer is text with an id put where the caller's stands, whether it is kept as text or as bytes", () => {
  const { answer } = answerOf('"ä"');
  const encoder = new TextEncoder();
  if (answer.body.kind !== "text") throw new TypeError(answer.body.kind);
  const body = { kind: "bytes", head: encoder.encode(answer.body.head), tail: encoder.encode("}") } as const;
  const text = '{"jsonrpc":"2.0","result":"ä","id":0}';
  expect([textOf(answer), textOf({ ...answer, body })]).toEqual([text, text]);
  expect(() => textOf({ ...answer, body: { kind: "large", large: {} as never } })).toThrow(TypeError);
});

test("a signature is 64 to 88 characters of base58, and nothing else is one", () => {
  expect(signatureIn(withResult(`"${signature}"`))).toBe(signature);
  expect(signatureIn(withResult(`"${"5".repeat(64)}"`))).toBe("5".repeat(64));
  for (const result of [`"${"5".repeat(63)}"`, `"${"5".repeat(89)}"`, `"${"0".repeat(88)}"`, "5", "null", "{}"]) {
    expect(signatureIn(withResult(result))).toBeNull();
  }
  for (const text of ["{", "5", "null", '"text"', "{}", '{"error":{"code":1}}']) expect(signatureIn(text)).toBeNull();
});

test("the slot of a result is a whole number among its own members", () => {
  expect(slotInResult(withResult('{"slot":7,"meta":null}'))).toBe(7n);
  expect(slotInResult(withResult('{"slot":18446744073709551615}'))).toBe(18446744073709551615n);
  for (const result of ['{"slot":"7"}', '{"slot":null}', '{"meta":{"slot":7}}', "{}", "7", '"slot"', "null"]) {
    expect(slotInResult(withResult(result))).toBeNull();
  }
});

test("the confirmed height is read of nodes, and is none where none answers with a number", async () => {
  const pool = poolOf(answerOf("50"));
  expect(await readHeight(pool)).toBe(50n);
  expect(pool.calls).toMatchObject([
    { method: "getBlockHeight", params: '[{"commitment":"confirmed"}]', kind: "read" },
  ]);
  expect(await readHeight(poolOf(answerOf("18446744073709551615")))).toBe(18446744073709551615n);
  for (const outcome of [away, answerOf('"50"'), answerOf("50", { errorCode: -32_005 })]) {
    expect(await readHeight(poolOf(outcome))).toBeNull();
  }
});

test("statuses come in the order of the signatures, each as far as the node knows it", async () => {
  const known = (more: string) => `{"slot":77,"confirmations":1,${more}}`;
  const values = [
    known('"err":null,"confirmationStatus":"processed"'),
    known('"err":null,"confirmationStatus":"confirmed"'),
    known('"err":{"InstructionError":[0,"Custom"]},"confirmationStatus":"finalized"'),
    '{"slot":18446744073709551615}',
    "null",
    '{"slot":"77","confirmationStatus":"confirmed"}',
    "5",
  ];
  const pool = poolOf(answerOf(`{"context":{"slot":1},"value":[${values.join(",")}]}`));
  const signatures = values.map((_, index) => `${index}`);
  expect(await readStatuses(pool, signatures, { looksBack: false })).toEqual([
    { slot: 77n, commitment: "processed", isFailed: false },
    { slot: 77n, commitment: "confirmed", isFailed: false },
    { slot: 77n, commitment: "finalized", isFailed: true },
    { slot: 18446744073709551615n, commitment: "processed", isFailed: false },
    null,
    null,
    null,
  ]);
  expect(pool.calls[0]?.params).toBe(JSON.stringify([signatures]));
  await readStatuses(pool, signatures, { looksBack: true });
  expect(pool.calls[1]?.params).toBe(JSON.stringify([signatures, { searchTransactionHistory: true }]));
});

test("an answer that has not one status for each signature is none", async () => {
  const answers = [
    "5",
    "null",
    "{}",
    '{"value":null}',
    '{"value":[]}',
    '{"value":[null,null]}',
    '{"value":{"length":1}}',
  ];
  for (const result of answers) {
    expect(await readStatuses(poolOf(answerOf(result)), [signature], { looksBack: false })).toBeNull();
  }
  expect(await readStatuses(poolOf(away), [signature], { looksBack: false })).toBeNull();
});
