import { expect, test } from "bun:test";
import { type BootedGateway, bootGateway, testKey } from "../../gateway/testing/booted-gateway.ts";
import { blockOfHeader, blockRecord } from "../../history/testing/blocks.ts";
import type { ChainIdentity, ChainLog, ChainLogListener } from "../../log/index.ts";
import { chain, headerOf, stageOf } from "../../log/testing/chain-model.ts";
import { openMemoryLog } from "../../log/testing/memory-log.ts";
import { createLog, createMetrics } from "../../observe/index.ts";
import { createStreamsEvents } from "../events.ts";
import { Flows } from "../flow/flows.ts";
import { PubSubClient } from "./testing/pubsub-client.ts";
import { SubscribedNode } from "./testing/subscribed-node.ts";

interface Told {
  readonly booted: BootedGateway;
  readonly node: SubscribedNode;
  readonly client: PubSubClient;
  /** Adds blocks to the log, confirmed. */
  confirm(from: number, to: number): Promise<void>;
  finalize(slot: number): Promise<void>;
  /** The log closes. */
  close(): Promise<void>;
  /** Subscribes and gives the number. */
  subscribe(method: string, params?: readonly unknown[]): Promise<number>;
  /** The results of a subscription, once there are so many. */
  results(subscription: number, count: number): Promise<string[]>;
}

/** A gateway whose log holds blocks 90 to 100, with a node that is at slot 100. */
async function withFlow(use: (told: Told) => Promise<void>): Promise<void> {
  const node = new SubscribedNode(100);
  node.stub.answer = ({ id }) => `{"jsonrpc":"2.0","result":{"context":{"slot":100},"value":[null]},"id":${id}}`;
  const { log } = await openMemoryLog(chain);
  const listeners: ChainLogListener[] = [];
  const tell = (open: ChainLog | null, of: ChainIdentity = chain) =>
    Promise.all(listeners.map((listener) => listener("devnet", open, of)));
  using flows = new Flows({
    events: createStreamsEvents({ log: createLog({ level: "silent" }), metrics: createMetrics() }),
    past: null,
  });
  await flows.follow({
    networks: ["devnet"],
    follow: async (listener) => {
      listeners.push(listener);
      return { [Symbol.dispose]: () => undefined };
    },
  });
  await tell(log);
  const confirm = async (from: number, to: number): Promise<void> => {
    for (let slot = from; slot <= to; slot += 1) await log.append(blockRecord(headerOf(slot)));
  };
  const finalize = async (slot: number) => void (await log.append(stageOf(headerOf(slot), "finalized")));
  await confirm(90, 100);
  await finalize(90);
  await using booted = await bootGateway({ upstreams: { devnet: node.stub }, flow: () => flows.network("devnet") });
  const client = new PubSubClient(`${booted.ws}/rpc?api-key=${testKey}`);
  await client.opened;
  let calls = 0;
  const resultsNow = (subscription: number): string[] =>
    client.received.flatMap((text) => {
      const found = /"params":\{"result":(.*),"subscription":(\d+)\}\}$/s.exec(String(text));
      return found?.[1] !== undefined && Number(found[2]) === subscription ? [found[1]] : [];
    });
  await use({
    booted,
    node,
    client,
    confirm,
    finalize,
    close: async () => void (await tell(null)),
    subscribe: async (method, params = []) => {
      calls += 1;
      const id = calls;
      client.socket.send(JSON.stringify({ jsonrpc: "2.0", id, method, params }));
      const answer = () => client.received.find((text) => String(text).endsWith(`"id":${id}}`));
      while (answer() === undefined) await Bun.sleep(1);
      return JSON.parse(String(answer())).result;
    },
    results: async (subscription, count) => {
      while (resultsNow(subscription).length < count) await Bun.sleep(1);
      return resultsNow(subscription);
    },
  });
  client.socket.close();
  node.stub[Symbol.dispose]();
  await log[Symbol.asyncDispose]();
  expect(booted.faults).toEqual([]);
}

const confirmed = { commitment: "confirmed" };
const signatureIn = (slot: number, index: number): string =>
  blockOfHeader(headerOf(slot)).transactions[index]?.signature ?? "";
const slotsOf = (results: readonly string[]): number[] => results.map((text) => JSON.parse(text).context.slot);

test("roots, blocks, logs and signatures are told from the blocks of the log, and no node is asked for them", () =>
  withFlow(async ({ node, confirm, finalize, subscribe, results }) => {
    const root = await subscribe("rootSubscribe");
    const logs = await subscribe("logsSubscribe", ["all", confirmed]);
    const signatures = await subscribe("blockSubscribe", ["all", { ...confirmed, transactionDetails: "signatures" }]);
    const signature = await subscribe("signatureSubscribe", [signatureIn(102, 1), confirmed]);
    await confirm(101, 102);
    for (let slot = 91; slot <= 93; slot += 1) await finalize(slot);
    const told = await results(logs, (101 % 7) + (102 % 7));
    expect(slotsOf(told)).toEqual([...Array(101 % 7).fill(101), ...Array(102 % 7).fill(102)]);
    expect(JSON.parse(told[0] ?? "").value).toMatchObject({ signature: signatureIn(101, 0), err: null });
    expect(await results(root, 3)).toEqual(["91", "92", "93"]);
    expect(await results(signature, 1)).toEqual(['{"context":{"slot":102},"value":{"err":null}}']);
    const blocks = (await results(signatures, 2)).map((text) => JSON.parse(text).value.block.signatures.length);
    expect(blocks).toEqual([101 % 7, 102 % 7]);
    expect(node.asked).toEqual([]);
  }));

test("the loss of every node leaves no gap in what blocks say", () =>
  withFlow(async ({ node, confirm, subscribe, results }) => {
    const blocks = await subscribe("blockSubscribe", ["all", { ...confirmed, transactionDetails: "none" }]);
    await confirm(101, 101);
    node.stub[Symbol.dispose]();
    await confirm(102, 110);
    expect(slotsOf(await results(blocks, 10))).toEqual(Array.from({ length: 10 }, (_, index) => 101 + index));
  }));

test("a mention selects transactions, and a block without one is not told", () =>
  withFlow(async ({ confirm, subscribe, results }) => {
    const payer = JSON.parse((await mentionedIn()).value) as string;
    const logs = await subscribe("logsSubscribe", [{ mentions: [payer] }, confirmed]);
    const blocks = await subscribe("blockSubscribe", [{ mentionsAccountOrProgram: payer }, confirmed]);
    await confirm(101, 108);
    expect(JSON.parse((await results(logs, 1))[0] ?? "").value.signature).toBe(signatureIn(106, 0));
    expect(slotsOf(await results(blocks, 1))).toEqual([106]);
  }));

/** The account that pays for the first transaction of slot 106 alone. */
async function mentionedIn(): Promise<{ readonly value: string }> {
  const { TransactionView } = await import("@sluice/parser");
  const [transaction] = blockOfHeader(headerOf(106)).transactions;
  if (transaction === undefined) throw new Error("the block has no transaction");
  return { value: JSON.stringify(new TransactionView(transaction).keys[0]) };
}

test("a signature that was confirmed before is told at once, also where the first node asked is behind the blocks", () =>
  withFlow(async ({ node, subscribe, results }) => {
    let asked = 0;
    node.stub.answer = ({ id, params }) => {
      asked += 1;
      const [signatures] = params as [string[]];
      const settled = asked === 1 ? "processed" : "confirmed";
      const status = `{"slot":99,"confirmations":3,"err":{"InsufficientFundsForRent":{"account_index":1}},"confirmationStatus":"${settled}"}`;
      const value = signatures.map(() => status).join(",");
      return `{"jsonrpc":"2.0","result":{"context":{"slot":100},"value":[${value}]},"id":${id}}`;
    };
    const signature = await subscribe("signatureSubscribe", [signatureIn(99, 0), confirmed]);
    expect(await results(signature, 1)).toEqual([
      '{"context":{"slot":100},"value":{"err":{"InsufficientFundsForRent":{"account_index":1}}}}',
    ]);
    expect(asked).toBe(2);
  }));

test("what needs a node is asked of a node: processed, slots, accounts, and what a node has received", () =>
  withFlow(async ({ node, subscribe }) => {
    await subscribe("logsSubscribe", ["all", { commitment: "processed" }]);
    await subscribe("slotsUpdatesSubscribe").catch(() => 0);
    await subscribe("accountSubscribe", ["11111111111111111111111111111111"]);
    await subscribe("signatureSubscribe", [signatureIn(101, 0), { ...confirmed, enableReceivedNotification: true }]);
    expect(node.asked.map(([method]) => method)).toEqual(["logsSubscribe", "accountSubscribe", "signatureSubscribe"]);
  }));

test("when the log closes, nodes go on where it ended, and nothing is told again", () =>
  withFlow(async ({ node, confirm, close, subscribe, results }) => {
    const blocks = await subscribe("blockSubscribe", ["all", { ...confirmed, transactionDetails: "none" }]);
    await confirm(101, 102);
    await results(blocks, 2);
    await close();
    while (node.numbers("blockSubscribe").length === 0) await Bun.sleep(1);
    await Bun.sleep(5);
    for (const slot of [102, 103]) node.notify("blockSubscribe", `{"context":{"slot":${slot}},"value":{}}`);
    expect(slotsOf(await results(blocks, 3))).toEqual([101, 102, 103]);
  }));

test("a log that is far behind the nodes is not followed by new subscriptions", () =>
  withFlow(async ({ booted, node, subscribe }) => {
    node.stub.announce(133);
    while (booted.slotOf("confirmed") !== 133n) await Bun.sleep(1);
    await subscribe("logsSubscribe", ["all", confirmed]);
    expect(node.asked.map(([method]) => method)).toEqual(["logsSubscribe"]);
  }));
