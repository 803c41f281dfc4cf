import { expect, test } from "bun:test";
import { type AnswerClass, answerClass, type ClassifiedAnswer, retryAfterMs } from "./answer-class.ts";

const said = ({ node, call, refused }: AnswerClass): string => `${node} ${call} ${refused ?? "passed on"}`;
const error = (status: number, code: number): ClassifiedAnswer => ({ status, body: "error", code });
const other = (status: number): ClassifiedAnswer => ({ status, body: "other", code: null });

const limited = "limited elsewhere UPSTREAM_LIMITED";
const denied = "denied elsewhere UPSTREAM_LIMITED";
const failed = "failed elsewhere NETWORK_UNAVAILABLE";
const garbage = "failed elsewhere UPSTREAM_INVALID";

test.each([
  ["a result", { status: 200, body: "result", code: null }, "well answered passed on"],
  ["429 with an error", error(429, 429), limited],
  ["429 with an error of Solana", error(429, -32005), limited],
  ["429 with text", other(429), limited],
  ["the code 429", error(200, 429), limited],
  ["the code -32429", error(200, -32429), limited],
  ["401 with an error", error(401, -32052), denied],
  ["403 with an error of another kind", error(403, -32602), denied],
  ["401 with text", other(401), denied],
  ["402 with text", other(402), denied],
  ["the code -32052", error(200, -32052), denied],
  ["a node that is behind", error(200, -32005), "errored elsewhere passed on"],
  ["a node that is behind, as 503", error(503, -32005), "errored elsewhere passed on"],
  ["a minimum slot that is not reached", error(200, -32016), "nothing elsewhere passed on"],
  ["a block that is not there yet", error(200, -32004), "nothing elsewhere passed on"],
  ["503 with an error", error(503, -32000), failed],
  ["500 with an internal error", error(500, -32603), failed],
  ["408 with text", other(408), failed],
  ["502 with text", other(502), failed],
  ["an internal error", error(200, -32603), "errored elsewhere passed on"],
  ["invalid parameters", error(200, -32602), "well answered passed on"],
  ["an invalid request, as 400", error(400, -32600), "well answered passed on"],
  ["a failed preflight", error(200, -32002), "well answered passed on"],
  ["400 with text", other(400), "nothing ended INVALID_PARAMS"],
  ["413 with text", other(413), "nothing ended BODY_TOO_LARGE"],
  ["404 with text", other(404), garbage],
  ["text", other(200), garbage],
] as const)("%s has its effect on the node and on the call", (_name, answer, expected) => {
  expect(said(answerClass(answer))).toBe(expected);
});

test("Retry-After is read as seconds and in all three forms of a date; what is malformed or over is none", () => {
  const now = Date.parse("2026-11-23T10:00:00Z");
  expect(retryAfterMs("7", now)).toBe(7_000);
  expect(retryAfterMs("9999999999", now)).toBe(9_999_999_999_000);
  for (const date of ["Mon, 23 Nov 2026 10:00:09 GMT", "Monday, 23-Nov-26 10:00:09 GMT", "Mon Nov 23 10:00:09 2026"]) {
    expect([date, retryAfterMs(date, now)]).toEqual([date, 9_000]);
  }
  for (const none of [null, "", "0", "-1", "1.5", "soon", "99999999999", "Mon, 23 Nov 2026 09:59:59 GMT", "Mon, x"]) {
    expect([none, retryAfterMs(none, now)]).toEqual([none, null]);
  }
});
