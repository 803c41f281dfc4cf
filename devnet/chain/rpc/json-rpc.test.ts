import { expect, test } from "bun:test";
import { answerBody } from "./json-rpc.ts";

test("a batch whose answers grow beyond the bound keeps those that it has, and runs no more calls", async () => {
  let ran = 0;
  const calls = Array.from({ length: 100 }, (_, id) => ({ jsonrpc: "2.0", id, method: "text" }));
  const dispatch = () => {
    ran += 1;
    return "x".repeat(1_000);
  };
  const answers = JSON.parse((await answerBody(JSON.stringify(calls), dispatch, 5_000)) ?? "") as readonly {
    readonly id: number;
    readonly error?: { readonly code: number };
  }[];
  expect(answers.map(({ id }) => id)).toEqual(calls.map(({ id }) => id));
  expect(answers.map(({ error }) => error?.code)).toEqual(calls.map(({ id }) => (id < 5 ? undefined : -32012)));
  expect(ran).toBe(5);
});
