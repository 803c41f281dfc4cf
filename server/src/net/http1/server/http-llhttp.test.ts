import { expect, test } from "bun:test";
import { contradictionOf, Llhttp, run } from "./http-llhttp.campaign.ts";

test("requests are read as Node's llhttp reads them without leniency, or refused", async () => {
  const { passed, summary } = await run({ n: 1_000, seed: 5 });
  expect(summary).toContain("streams were read as llhttp does");
  expect(passed).toBe(true);
}, 60_000);

const whole = { method: "POST", target: "/a", fields: ["Host", "a"], body: "b" };

test("a reading that differs from llhttp's in number, method, target, fields, body or end is a contradiction", () => {
  const theirs = { messages: [{ ...whole, isWhole: true }], error: null };
  const ours = (change: object, isClosed = false) => ({
    requests: [{ ...whole, state: "whole" as const, ...change }],
    isClosed,
  });
  expect(contradictionOf(ours({}), theirs)).toBeNull();
  for (const change of [{ method: "PUT" }, { target: "/b" }, { fields: ["Host", "b"] }, { body: "c" }]) {
    expect(contradictionOf(ours(change), theirs)).toHaveProperty("fault");
  }
  const second = { messages: [...theirs.messages, { ...whole, isWhole: true }], error: null };
  expect(contradictionOf(ours({}), second)).toHaveProperty("fault");
  // Refused, and so not understood otherwise.
  expect(contradictionOf(ours({}, true), second)).toBeNull();
  const refused = { messages: [], error: "HPE_INVALID_HEADER_TOKEN" };
  expect(contradictionOf(ours({}), refused)).toHaveProperty("fault");
  expect(contradictionOf(ours({ method: "NONE" }), refused)).toEqual({ exception: "method" });
  const begun = { messages: [{ ...whole, isWhole: false }], error: null };
  expect(contradictionOf(ours({}), begun)).toHaveProperty("fault");
  expect(contradictionOf(ours({ state: "open" }), begun)).toBeNull();
  expect(contradictionOf(ours({ state: "open" }), theirs)).toHaveProperty("fault");
  expect(contradictionOf(ours({}), { ...theirs, error: "HPE_INVALID_METHOD" })).toHaveProperty("fault");
});

test("the reader that is compared with is Node's, strict, and goes on behind an upgrade", async () => {
  await using llhttp = new Llhttp();
  const get = "GET /a HTTP/1.1\r\nHost: a\r\n";
  const [upgraded, lenient] = await llhttp.read([
    [`${get}Connection: upgrade\r\nUpgrade: x\r\n\r\nGET /`, "b HTTP/1.1\r\n\r\n"],
    ["POST /a HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2 \r\nab\r\n0\r\n\r\n"],
  ]);
  expect(upgraded?.messages.map(({ target, isWhole }) => [target, isWhole])).toEqual([
    ["/a", true],
    ["/b", true],
  ]);
  expect(upgraded?.error).toBeNull();
  expect(lenient?.error).toStartWith("HPE_");
});
