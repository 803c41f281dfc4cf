import { expect, test } from "bun:test";
import { callNode, type NodeCallOutcome } from "./node-call.ts";

async function outcomeOf(answer: () => Response): Promise<NodeCallOutcome> {
  using server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: answer });
  const endpoint = { url: `http://127.0.0.1:${server.port}`, headers: {} };
  return await callNode(endpoint, { method: "getSlot", params: "[]", timeoutMs: 5_000 });
}

const refused: NodeCallOutcome = { ok: false, reason: "refused" };
const unreachable: NodeCallOutcome = { ok: false, reason: "unreachable" };
const padded = (characters: number): string => `{"result":5${" ".repeat(characters - 12)}}`;

test.each<[string, string, NodeCallOutcome]>([
  [
    "a result, whole numbers exact",
    '{"jsonrpc":"2.0","id":"sluice","result":18446744073709551615}',
    { ok: true, result: 2n ** 64n - 1n },
  ],
  ["a result that is null", '{"result":null}', { ok: true, result: null }],
  ["an error of the node", '{"error":{"code":-32601,"message":"no"}}', refused],
  ["neither a result nor an error", '{"jsonrpc":"2.0"}', unreachable],
  ["a list", '[{"result":1}]', unreachable],
  ["no JSON", "<html>", unreachable],
  ["256 KiB", padded(256 * 1024), { ok: true, result: 5n }],
  ["more than 256 KiB", padded(256 * 1024 + 1), unreachable],
])("an answer that is %s", async (_what, text, outcome) => {
  expect(await outcomeOf(() => new Response(text))).toEqual(outcome);
});

test("a node that points to another address, or that nobody answers for, is unreachable", async () => {
  expect(await outcomeOf(() => Response.redirect("http://127.0.0.1:1/"))).toEqual(unreachable);
  const endpoint = { url: "http://127.0.0.1:1", headers: {} };
  expect(await callNode(endpoint, { method: "getSlot", params: "[]", timeoutMs: 5_000 })).toEqual(unreachable);
});
