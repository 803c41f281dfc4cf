import { expect, test } from "bun:test";
import { type BootedGateway, bootGateway, testKey } from "../../gateway/testing/booted-gateway.ts";
import { PubSubClient } from "./testing/pubsub-client.ts";
import { SubscribedNode } from "./testing/subscribed-node.ts";

const address = "9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ6Ns6g";
const signature = "5".repeat(87);

async function withNodes(
  count: number,
  use: (booted: BootedGateway, nodes: readonly SubscribedNode[]) => Promise<void>,
): Promise<void> {
  const nodes = Array.from({ length: count }, (_, index) => new SubscribedNode((index + 1) * 100));
  await using booted = await bootGateway({ upstreams: { devnet: nodes.map(({ stub }) => stub) } });
  try {
    await use(booted, nodes);
  } finally {
    for (const node of nodes) node.stub[Symbol.dispose]();
  }
  expect(booted.faults).toEqual([]);
}

async function connected(booted: BootedGateway): Promise<PubSubClient> {
  const client = new PubSubClient(`${booted.ws}/rpc?api-key=${testKey}`);
  await client.opened;
  return client;
}

const call = (id: number, method: string, params: unknown = []): string =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params });

const until = async (condition: () => boolean): Promise<void> => {
  while (!condition()) await Bun.sleep(1);
};

/** The first node with a subscription of this method, and the others. */
function serving(nodes: readonly SubscribedNode[], method: string): [SubscribedNode, SubscribedNode] {
  const [on] = nodes.filter((node) => node.numbers(method).length > 0);
  const other = nodes.find((node) => node !== on);
  if (on === undefined || other === undefined) throw new Error("no node was asked");
  return [on, other];
}

const account = (slot: number, lamports: string): string =>
  `{"context":{"slot":${slot}},"value":{"lamports":${lamports},"data":["","base64"],"owner":"11111111111111111111111111111111","executable":false,"rentEpoch":18446744073709551615,"space":0}}`;

test("equal subscriptions of many clients are one at the node, and each is told the node's bytes under one number", () =>
  withNodes(1, async (booted, [node]) => {
    const clients = await Promise.all(Array.from({ length: 5 }, () => connected(booted)));
    for (const [index, client] of clients.entries()) {
      const config = index % 2 === 0 ? { encoding: "base64", commitment: "finalized" } : { encoding: "base64" };
      client.socket.send(call(index, "accountSubscribe", [address, config]));
      await client.until(1);
      expect(client.received[0]).toBe(`{"jsonrpc":"2.0","result":1,"id":${index}}`);
    }
    expect(node?.asked).toEqual([["accountSubscribe", `["${address}",{"encoding":"base64"}]`]]);
    const result = account(7, "18446744073709551615");
    node?.notify("accountSubscribe", result);
    for (const client of clients) {
      await client.until(2);
      expect(client.received[1]).toBe(
        `{"jsonrpc":"2.0","method":"accountNotification","params":{"result":${result},"subscription":1}}`,
      );
    }
    for (const client of clients.slice(1)) client.socket.send(call(9, "accountUnsubscribe", [1]));
    for (const client of clients.slice(1)) await client.until(3);
    node?.notify("accountSubscribe", result);
    await clients[0]?.until(3);
    expect(clients.slice(1).map(({ received }) => received[2])).toEqual(
      Array.from({ length: 4 }, () => '{"jsonrpc":"2.0","result":true,"id":9}'),
    );
    expect(node?.ended).toEqual([]);
    for (const client of clients) client.socket.close();
    await until(() => node?.ended.length === 1);
    expect(node?.numbers("accountSubscribe")).toEqual([]);
  }));

test("what a client unsubscribes from twice, or has never had, is unknown to it; another's stays", () =>
  withNodes(1, async (booted) => {
    const [one, other] = [await connected(booted), await connected(booted)];
    for (const client of [one, other]) client.socket.send(call(1, "logsSubscribe", ["all"]));
    for (const client of [one, other]) await client.until(1);
    one.socket.send(call(2, "logsUnsubscribe", [1]));
    one.socket.send(call(3, "logsUnsubscribe", [1]));
    other.socket.send('{"jsonrpc":"2.0","id":4,"method":"logsUnsubscribe","params":[18446744073709551615]}');
    await one.until(3);
    await other.until(2);
    const unknown = (id: number): string =>
      `{"jsonrpc":"2.0","error":{"code":-32602,"message":"Invalid subscription id."},"id":${id}}`;
    expect(one.received.slice(1)).toEqual(['{"jsonrpc":"2.0","result":true,"id":2}', unknown(3)]);
    expect(other.received[1]).toBe(unknown(4));
    for (const client of [one, other]) client.socket.close();
  }));

test("what a node refuses is answered with the node's error, and asked again by the next", () =>
  withNodes(1, async (booted, [node]) => {
    const client = await connected(booted);
    const error = '{"code":-32601,"message":"Method not found","data":18446744073709551615}';
    node?.refuse("voteSubscribe", error);
    for (const id of [1, 2]) {
      client.socket.send(call(id, "voteSubscribe"));
      await client.until(id);
      expect(client.received[id - 1]).toBe(`{"jsonrpc":"2.0","error":${error},"id":${id}}`);
    }
    expect(node?.asked.length).toBe(2);
    client.socket.close();
  }));

test("a method that one node has switched off is asked of another", () =>
  withNodes(2, async (booted, nodes) => {
    const [first] = nodes;
    first?.refuse("blockSubscribe", '{"code":-32601,"message":"Method not found"}');
    const client = await connected(booted);
    client.socket.send(call(1, "blockSubscribe", ["all"]));
    await client.until(1);
    expect(client.received[0]).toBe('{"jsonrpc":"2.0","result":1,"id":1}');
    client.socket.close();
  }));

test("the answers of a batch come together, before what its subscriptions notify, and getVersion is a node's", () =>
  withNodes(1, async (booted, [node]) => {
    if (node !== undefined) node.stub.answer = ({ id }) => `{"jsonrpc":"2.0","result":{"solana-core":"9"},"id":${id}}`;
    const client = await connected(booted);
    client.socket.send(call(1, "logsSubscribe", ["all"]));
    await client.until(1);
    client.socket.send(
      `[${call(2, "logsSubscribe", ["all"])},${call(3, "getVersion")},${call(4, "accountSubscribe", ["x"])}]`,
    );
    await client.until(2);
    const answers = JSON.parse(String(client.received[1])) as Record<string, unknown>[];
    expect(answers).toMatchObject([
      { id: 2, result: 1 },
      { id: 3, result: { "solana-core": "9" } },
      { id: 4, error: { code: -32602 } },
    ]);
    client.socket.close();
  }));

test("a signature's subscription ends with its notification, and is not told again after a node was lost", () =>
  withNodes(2, async (booted, nodes) => {
    const client = await connected(booted);
    const config = { commitment: "confirmed", enableReceivedNotification: true };
    client.socket.send(call(1, "signatureSubscribe", [signature, config]));
    await client.until(1);
    const [on, other] = serving(nodes, "signatureSubscribe");
    const received = '{"context":{"slot":5},"value":"receivedSignature"}';
    on.notify("signatureSubscribe", received);
    await client.until(2);
    const statuses = `{"context":{"slot":9},"value":[{"slot":7,"confirmations":1,"err":{"InstructionError":[0,{"Custom":1}]},"confirmationStatus":"confirmed"}]}`;
    for (const { stub } of nodes) {
      stub.answer = ({ id }) => `{"jsonrpc":"2.0","result":${statuses},"id":${id}}`;
    }
    on.stub[Symbol.dispose]();
    await client.until(3);
    const told = '{"context":{"slot":9},"value":{"err":{"InstructionError":[0,{"Custom":1}]}}}';
    expect(client.received[2]).toContain(`"result":${told}`);
    other.notify("signatureSubscribe", received);
    other.notify("signatureSubscribe", told);
    client.socket.send(call(2, "signatureUnsubscribe", [1]));
    await client.until(4);
    expect(client.received[3]).toContain("Invalid subscription id.");
    client.socket.close();
  }));

test("after the loss of a node an account's final state is told where it differs, and never an older one", () =>
  withNodes(2, async (booted, nodes) => {
    const client = await connected(booted);
    client.socket.send(call(1, "accountSubscribe", [address, { encoding: "base64" }]));
    await client.until(1);
    const [on, other] = serving(nodes, "accountSubscribe");
    on.notify("accountSubscribe", account(50, "1"));
    await client.until(2);
    let state = account(60, "2");
    for (const { stub } of nodes) stub.answer = ({ id }) => `{"jsonrpc":"2.0","result":${state},"id":${id}}`;
    on.stub[Symbol.dispose]();
    await client.until(3);
    expect(client.received[2]).toContain(`"result":${account(60, "2")},"subscription":1`);
    const [question] = other.stub.calls;
    expect(JSON.parse(question?.text ?? "{}")).toMatchObject({
      method: "getAccountInfo",
      params: [address, { encoding: "base64", commitment: "finalized", minContextSlot: 100 }],
    });
    state = account(40, "0");
    other.notify("accountSubscribe", account(59, "1"));
    other.notify("accountSubscribe", account(61, "3"));
    await client.until(4);
    expect(client.received[3]).toContain(account(61, "3"));
    client.socket.close();
  }));

test("an account whose state is the same after the loss of a node is not told", () =>
  withNodes(2, async (booted, nodes) => {
    const client = await connected(booted);
    client.socket.send(call(1, "accountSubscribe", [address, { encoding: "base64" }]));
    await client.until(1);
    const [on, other] = serving(nodes, "accountSubscribe");
    on.notify("accountSubscribe", account(50, "1"));
    await client.until(2);
    for (const { stub } of nodes) {
      stub.answer = ({ id }) => `{"jsonrpc":"2.0","result":${account(100, "1")},"id":${id}}`;
    }
    on.stub[Symbol.dispose]();
    await until(() => other.stub.calls.length === 1);
    await Bun.sleep(10);
    other.notify("accountSubscribe", account(101, "2"));
    await client.until(3);
    expect(client.received[2]).toContain(account(101, "2"));
    client.socket.close();
  }));

test("after the loss of a node a program's accounts that are not known to be the same are told", () =>
  withNodes(2, async (booted, nodes) => {
    const client = await connected(booted);
    client.socket.send(call(1, "programSubscribe", [address, { encoding: "base64", filters: [{ dataSize: 0 }] }]));
    await client.until(1);
    const [on] = serving(nodes, "programSubscribe");
    const stateOf = (slot: number, lamports: string): string =>
      JSON.stringify(JSON.parse(account(slot, lamports)).value);
    const known = stateOf(50, "5");
    const told = (slot: number, pubkey: string, value: string): string =>
      `{"context":{"slot":${slot}},"value":{"pubkey":"${pubkey}","account":${value}}}`;
    on.notify("programSubscribe", told(50, address, known));
    await client.until(2);
    const changed = "11111111111111111111111111111111";
    const list = [
      [address, known],
      [changed, stateOf(60, "6")],
    ].map(([pubkey, value]) => `{"pubkey":"${pubkey}","account":${value}}`);
    for (const { stub } of nodes) {
      stub.answer = ({ id }) => `{"jsonrpc":"2.0","result":{"context":{"slot":60},"value":[${list}]},"id":${id}}`;
    }
    on.stub[Symbol.dispose]();
    await client.until(3);
    expect(client.received[2]).toContain(`"result":${told(60, changed, stateOf(60, "6"))},"subscription":1`);
    client.socket.close();
  }));

test("slots and roots go on from where they were at another node, and nothing goes back", () =>
  withNodes(2, async (booted, nodes) => {
    const client = await connected(booted);
    client.socket.send(call(1, "blockSubscribe", ["all"]));
    await client.until(1);
    const block = (slot: number): string =>
      `{"context":{"slot":${slot}},"value":{"slot":${slot},"block":null,"err":null}}`;
    const [on, other] = serving(nodes, "blockSubscribe");
    on.notify("blockSubscribe", block(10));
    await client.until(2);
    on.stub[Symbol.dispose]();
    await until(() => other.numbers("blockSubscribe").length === 1);
    await Bun.sleep(10);
    for (const slot of [9, 10, 11, 8]) other.notify("blockSubscribe", block(slot));
    await client.until(4);
    expect(client.received.slice(2).map((text) => JSON.parse(String(text)).params.result.context.slot)).toEqual([
      11, 8,
    ]);
    client.socket.close();
  }));

test("subscriptions leave a node that has fallen behind, though it speaks on", () =>
  withNodes(2, async (booted, nodes) => {
    const client = await connected(booted);
    client.socket.send(call(1, "logsSubscribe", ["all"]));
    await client.until(1);
    const [late, other] = serving(nodes, "logsSubscribe");
    // Further than a node may be behind, and no further than one node alone is believed.
    other.stub.announce(160);
    await until(() => other.numbers("logsSubscribe").length === 1);
    await Bun.sleep(10);
    late.notify("logsSubscribe", '{"value":"late"}');
    other.notify("logsSubscribe", '{"value":"near"}');
    await client.until(2);
    expect(client.received[1]).toContain('"near"');
    client.socket.close();
  }));

test("clients are closed with 4503 when no node can be reached any more", () =>
  withNodes(1, async (booted, [node]) => {
    const client = await connected(booted);
    client.socket.send(call(1, "logsSubscribe", ["all"]));
    await client.until(1);
    node?.stub[Symbol.dispose]();
    expect(await client.closed).toBe(4503);
  }));

test("a client has at most a thousand subscriptions, and those that it gives back make room", () =>
  withNodes(1, async (booted, [node]) => {
    const client = await connected(booted);
    let answered = 0;
    for (let from = 0; from < 1_025; from += 25) {
      const calls = Array.from({ length: 25 }, (_, at) =>
        call(from + at, "programSubscribe", [address, { filters: [{ dataSize: from + at }] }]),
      );
      client.socket.send(`[${calls}]`);
      answered += 1;
      await client.until(answered);
    }
    const last = JSON.parse(String(client.received.at(-1))) as { error?: { code: number; message: string } }[];
    expect(last.map(({ error }) => error?.code)).toEqual(Array.from({ length: 25 }, () => -32603));
    expect(node?.asked.length).toBe(1_000);
    client.socket.send(call(1, "programUnsubscribe", [1]));
    client.socket.send(call(2, "logsSubscribe", ["all"]));
    await client.until(answered + 2);
    expect(JSON.parse(String(client.received.at(-1))).result).toBeGreaterThan(1_000);
    client.socket.close();
  }));
