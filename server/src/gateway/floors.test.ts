import { expect, test } from "bun:test";
import { type StubCall, StubNode } from "../upstreams/testing/stub-node.ts";
import { type BootedGateway, bootGateway } from "./testing/booted-gateway.ts";

/** Of every slot one in ten has no block. */
const heightOf = (slot: number): number => slot - Math.floor(slot / 10);

/** Answers as a node does that is at its slot; a shred runs three slots ahead of what is processed. */
function answerAt(node: () => StubNode): (call: StubCall) => string {
  const resultOf = (method: string): string => {
    const { slot } = node();
    switch (method) {
      case "getSlot":
        return `${slot}`;
      case "getBlockHeight":
        return `${heightOf(slot)}`;
      case "getMaxShredInsertSlot":
      case "getMaxRetransmitSlot":
        return `${slot + 3}`;
      case "getEpochInfo":
        return `{"slotIndex":${slot},"epoch":0,"blockHeight":${heightOf(slot)},"absoluteSlot": ${slot},"slotsInEpoch":432000}`;
      default:
        return `{"context":{"apiVersion":"2.0.0","slot":${slot}},"value":1}`;
    }
  };
  return ({ method, id }) => `{"jsonrpc":"2.0","result":${resultOf(method)},"id":${id}}`;
}

/** A gateway before three nodes at slot 500, of which the first is 20 slots behind. */
async function bootLagging() {
  const stack = new AsyncDisposableStack();
  const nodes = Array.from({ length: 3 }, (): StubNode => {
    const node: StubNode = stack.use(new StubNode(answerAt(() => node)));
    return node;
  });
  for (const [index, node] of nodes.entries()) node.slot = index === 0 ? 480 : 500;
  // Calls that overlap are spread over the nodes.
  for (const node of nodes) {
    const { answer } = node;
    node.answer = (call) => Bun.sleep(3).then(() => answer(call));
  }
  const booted = stack.use(await bootGateway({ upstreams: { devnet: nodes } }));
  const until = async (holds: () => boolean) => {
    for (let turn = 0; turn < 2_000 && !holds(); turn += 1) await Bun.sleep(1);
    expect(holds()).toBe(true);
  };
  await until(() => nodes.every(({ sockets }) => sockets.size === 1) && booted.slotOf("processed") === 500n);
  return { booted, stack };
}

const resultOf = async (booted: BootedGateway, method: string, params: unknown) =>
  (await (await booted.post(JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }))).json()).result;

const statements: readonly (readonly [string, (result: never) => number])[] = [
  ["getSlot", (result: number) => result],
  ["getBlockHeight", (result: number) => result],
  ["getEpochInfo", (result: { absoluteSlot: number }) => result.absoluteSlot],
  ["getEpochInfo", (result: { blockHeight: number }) => result.blockHeight],
  ["getMaxShredInsertSlot", (result: number) => result],
  ["getMaxRetransmitSlot", (result: number) => result],
];

test.each(statements)(
  "no answer of %s to a key goes back, though one of three nodes is 20 slots behind",
  async (method, read) => {
    const { booted, stack } = await bootLagging();
    await using _ = stack;
    let newest = 0;
    for (let round = 0; round < 30; round += 1) {
      const calls = Array.from({ length: 6 }, async (_unused, index) => {
        // Each call is another one, so that none is answered by what was stored for the one before.
        const params = method.startsWith("getMax")
          ? []
          : [{ commitment: "processed", minContextSlot: round * 6 + index }];
        return read((await resultOf(booted, method, params)) as never);
      });
      const told = await Promise.all(calls);
      expect(Math.min(...told)).toBeGreaterThanOrEqual(newest);
      newest = Math.max(...told);
    }
    expect(booted.faults).toEqual([]);
  },
);

test("a slot, a height and a context are one view: after any of them no other answer is from before it", async () => {
  const { booted, stack } = await bootLagging();
  await using _ = stack;
  const address = "9B5XszUGdMaxCZ7uSQhPzdks5ZQSmWxrmzCSvtJ6Ns6g";
  for (let turn = 0; turn < 40; turn += 1) {
    const config = { commitment: "processed", minContextSlot: turn };
    if ((await resultOf(booted, "getSlot", [config])) === 500) break;
  }
  for (let turn = 0; turn < 20; turn += 1) {
    const config = { commitment: "processed", minContextSlot: turn + 100 };
    expect(await resultOf(booted, "getSlot", [config])).toBe(500);
    expect(await resultOf(booted, "getBlockHeight", [config])).toBe(heightOf(500));
    expect((await resultOf(booted, "getBalance", [address, config])).context.slot).toBe(500);
    expect((await resultOf(booted, "getEpochInfo", [config])).absoluteSlot).toBe(500);
  }
});

test("a slot that no node can have reached is passed on and is no floor", async () => {
  using node: StubNode = new StubNode(answerAt(() => node));
  await using booted = await bootGateway({ upstreams: { devnet: node } });
  const config = (turn: number) => [{ commitment: "processed", minContextSlot: turn }];
  const honest = node.answer;
  node.answer = ({ id }) => `{"jsonrpc":"2.0","result":900000,"id":${id}}`;
  expect(await resultOf(booted, "getSlot", config(1))).toBe(900_000);
  expect(await resultOf(booted, "getBlockHeight", config(1))).toBe(900_000);
  node.answer = honest;
  const startedAt = performance.now();
  for (const turn of [2, 3, 4, 5, 6]) expect(await resultOf(booted, "getSlot", config(turn))).toBe(100);
  expect(await resultOf(booted, "getBlockHeight", config(2))).toBe(heightOf(100));
  // A floor that nothing reaches makes each call wait for 400 ms.
  expect(performance.now() - startedAt).toBeLessThan(1_500);
});
