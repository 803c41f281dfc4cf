import { expect, test } from "bun:test";
import { StubNode } from "../upstreams/testing/stub-node.ts";
import { bootGateway } from "./testing/booted-gateway.ts";

const slotCall = '{"jsonrpc":"2.0","id":1,"method":"getSlot"}';
const answerFive = (call: { id: string }): string => `{"jsonrpc":"2.0","result":5,"id":${call.id}}`;

async function settle(until: () => boolean): Promise<void> {
  for (let turn = 0; turn < 3_000 && !until(); turn += 1) await Bun.sleep(1);
  expect(until()).toBe(true);
}

test("a node whose PubSub cannot be reached is polled, and its slots expire what is kept", async () => {
  using node = new StubNode(answerFive);
  await using booted = await bootGateway({ upstreams: { devnet: { url: node.url, ws: "ws://127.0.0.1:1" } } });
  expect(booted.slotOf("finalized")).toBe(100n);
  await booted.post(slotCall);
  expect((await booted.post(slotCall)).headers.get("x-cache-status")).toBe("HIT");
  node.slot = 101;
  await settle(() => booted.slotOf("finalized") === 101n);
  expect((await booted.post(slotCall)).headers.get("x-cache-status")).toBe("MISS");
});

test("a subscription is made again after the node's socket was lost", async () => {
  using node = new StubNode(answerFive);
  await using booted = await bootGateway({ upstreams: { devnet: node } });
  await settle(() => node.sockets.size === 1);
  for (const socket of node.sockets) socket.close();
  await settle(() => node.sockets.size === 0);
  await settle(() => node.sockets.size === 1);
  await Bun.sleep(20);
  node.announce(150);
  await settle(() => booted.slotOf("confirmed") === 150n);
});

test("nothing that moves with the head is kept while no node reports slots", async () => {
  using node = new StubNode(answerFive);
  const mute = new StubNode(() => "");
  mute[Symbol.dispose]();
  node.slot = Number.NaN;
  await using booted = await bootGateway({ upstreams: { devnet: { url: node.url, ws: mute.ws } } });
  await booted.post(slotCall);
  expect((await booted.post(slotCall)).headers.get("x-cache-status")).toBe("MISS");
  expect(await (await booted.post('{"jsonrpc":"2.0","id":1,"method":"getHealth"}')).text()).toContain("-32005");
});

test("a node that does not answer is not well from the first call that found that out", async () => {
  const node = new StubNode(answerFive);
  await using booted = await bootGateway({ upstreams: { devnet: node } });
  const health = async () => await (await booted.post('{"jsonrpc":"2.0","id":1,"method":"getHealth"}')).text();
  expect(await health()).toContain('"ok"');
  node[Symbol.dispose]();
  const dead = await booted.post('{"jsonrpc":"2.0","id":1,"method":"getTransactionCount"}');
  expect(dead.status).toBe(503);
  expect(await health()).toContain("-32005");
});
