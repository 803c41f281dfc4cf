import { afterAll, beforeAll, expect, test } from "bun:test";
import type { ChainNode } from "../node.ts";
import { bootNode, call, post } from "../testing/boot.ts";
import { defaultBodyBytesMax } from "./http.ts";

let node: ChainNode;
beforeAll(async () => {
  node = await bootNode({ slotMs: 0, finalizedAfter: 4 });
  for (let slot = 0; slot < 8; slot += 1) await node.closeSlot();
});
afterAll(() => node[Symbol.asyncDispose]());

/** A body in parts, without a stated length. */
function streamed(text: string): ReadableStream {
  return new ReadableStream({
    start(controller) {
      controller.enqueue(new TextEncoder().encode(text));
      controller.close();
    },
  });
}

test("a body of the bound's length is read and one byte more is not, whether its length is stated or not", async () => {
  const asked = '{"jsonrpc":"2.0","id":1,"method":"getHealth"}';
  const statuses: number[] = [];
  for (const length of [defaultBodyBytesMax, defaultBodyBytesMax + 1]) {
    const text = asked.padEnd(length);
    statuses.push((await post(node.rpcUrl, text)).status);
    const headers = { "content-type": "application/json" };
    statuses.push((await fetch(node.rpcUrl, { method: "POST", headers, body: streamed(text) })).status);
  }
  expect(statuses).toEqual([200, 200, 413, 413]);
});

test("a call without a commitment, or with an unknown one, is answered as of the finalized slot", async () => {
  const slot = async (...params: unknown[]) => (await call(node.rpcUrl, "getSlot", params)).result;
  expect(await slot({ commitment: "processed" })).toBe(8);
  expect(await slot({ commitment: "confirmed" })).toBe(7);
  expect([await slot(), await slot({}), await slot(null), await slot({ commitment: "recent" })]).toEqual([4, 4, 4, 4]);
});

test("minContextSlot is reached by the slot itself and not by the one before", async () => {
  const asked = (minContextSlot: number) => call(node.rpcUrl, "getBlockHeight", [{ minContextSlot }]);
  expect((await asked(4)).result).toBe(4);
  expect((await asked(5)).error).toEqual({
    code: -32016,
    message: "Minimum context slot has not been reached",
    data: { contextSlot: 4 },
  });
});
