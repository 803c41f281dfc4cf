import { expect, test } from "bun:test";
import { StubNode } from "../upstreams/testing/stub-node.ts";
import { bootGateway } from "./testing/booted-gateway.ts";

const address = "9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ6Ns6g";
const balance = (id: string): string => `{"jsonrpc":"2.0","id":${id},"method":"getBalance","params":["${address}"]}`;

test("a getBalance goes through the whole pipeline and is answered from memory the second time", async () => {
  using node = new StubNode(
    (call) => `{"jsonrpc":"2.0","result":{"context":{"apiVersion":"4.0.0","slot":100},"value":5},"id":${call.id}}\n`,
  );
  await using booted = await bootGateway({ upstreams: { devnet: node } });
  const first = await booted.post(balance('"a"'));
  expect(first.status).toBe(200);
  expect(await first.text()).toBe(
    '{"jsonrpc":"2.0","result":{"context":{"apiVersion":"4.0.0","slot":100},"value":5},"id":"a"}\n',
  );
  expect(first.headers.get("x-cache-status")).toBe("MISS");
  const second = await booted.post(balance(" 7 "));
  expect(await second.text()).toBe(
    '{"jsonrpc":"2.0","result":{"context":{"apiVersion":"4.0.0","slot":100},"value":5},"id":7}\n',
  );
  expect(second.headers.get("x-cache-status")).toBe("HIT");
  expect(second.headers.get("x-rpc-endpoint")).toBe("devnet-1");
  expect(node.calls.length).toBe(1);
  expect(node.calls[0]?.params).toEqual([address, { commitment: "confirmed" }]);
  expect(booted.fakes.creditsLeft).toBe(999_998);
});
