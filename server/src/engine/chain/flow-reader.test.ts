import { expect, test } from "bun:test";
import { ManualClock, seededRandom } from "@sluice/lib";
import type { Slot } from "@sluice/wire/identifiers";
import type { LogEvent } from "../../log/index.ts";
import { acceptedBundle } from "../testing/accepted-bundle.ts";
import { FlowReader } from "./flow-reader.ts";
import { TipAccounts } from "./node-answers.ts";
import { signatureNamed } from "./testing/names.ts";
import { child, type SimulatedBlock, SimulatedChain } from "./testing/simulated-chain.ts";
import { type FlowFaults, SimulatedIngest } from "./testing/simulated-ingest.ts";
import { SimulatedPool } from "./testing/simulated-pool.ts";
import { Tracker } from "./tracker.ts";

const calm: FlowFaults = { lag: 0, outages: 0, gaps: 0, lacking: 0, trims: 0 };
const tips = new TipAccounts([]);

/** A chain whose blocks a test makes, told by a flow, and the calls that its nodes get for blocks. */
async function followed(faults: Partial<FlowFaults> = {}, { hasFlow = true } = {}) {
  const random = seededRandom(7);
  const genesis = child(null, 0n, [], "main");
  const chain = new SimulatedChain(random, genesis);
  const ingest = await SimulatedIngest.open(random, { ...calm, ...faults });
  const pool = new SimulatedPool();
  const calls: string[] = [];
  const from: string[] = [];
  const lost: bigint[] = [];
  const counted = {
    newestSlot: chain.newestSlot.bind(chain),
    genesis: () => chain.genesis(),
    onSlot: chain.onSlot.bind(chain),
    send: () => chain.send(),
    read: (...[method, params, options]: Parameters<SimulatedChain["read"]>) => {
      if (method.startsWith("getBlock")) calls.push(method);
      return chain.read(method, params, options);
    },
  };
  const failures: unknown[] = [];
  const reader = new FlowReader({
    flow: { current: () => ingest.log },
    tips,
    events: { flowFailed: (error) => void failures.push(error) },
  });
  const tracker = new Tracker(
    { catchUpSlotsMax: 1_500n },
    {
      chain: counted,
      tips,
      flow: hasFlow ? reader : null,
      pool,
      state: { confirmed: () => {}, lost: () => {}, forget: () => {} },
      place: { load: async () => null, save: async () => undefined },
      clock: new ManualClock(0),
      events: {
        blockSeen: () => {},
        blockLost: (slot) => void lost.push(slot),
        blockRead: (each) => void from.push(each),
        placeLeft: () => {},
      },
    },
  );
  let tip: SimulatedBlock = genesis;
  const step = async (): Promise<void> => {
    for (let steps = 0; steps < 20 && (await tracker.step()); steps += 1);
  };
  /** The chain goes on by a block after `parent`; finality follows two blocks behind. */
  const grow = async (slot: bigint, parent = tip, transactions: SimulatedBlock["transactions"] = []) => {
    tip = child(parent, slot, transactions, `after ${parent.slot}`);
    const finalized = tip.parent?.parent ?? genesis;
    chain.moveTo({ processed: tip, confirmed: tip, finalized });
    await ingest.tick(chain.heads);
    await step();
    return tip;
  };
  const end = async (): Promise<void> => {
    reader[Symbol.dispose]();
    await ingest[Symbol.asyncDispose]();
  };
  return {
    chain,
    ingest,
    pool,
    tracker,
    reader,
    calls,
    from,
    lost,
    failures,
    grow,
    step,
    end,
    [Symbol.asyncDispose]: end,
  };
}

test("a flow that tells every block leaves nothing to ask nodes for, over skipped slots, to the end of a bundle", async () => {
  await using followedChain = await followed();
  const { pool, calls, from, grow, tracker } = followedChain;
  await grow(1n);
  await grow(2n);
  calls.length = 0;
  from.length = 0;
  pool.add(acceptedBundle({ id: "told", signatures: [signatureNamed("told")], expiresAt: 1e15 }));
  for (let slot = 4n; slot < 60n; slot += 2n) {
    const transactions = slot === 20n ? [{ signature: signatureNamed("told"), failed: false }] : [];
    await grow(slot, undefined, transactions);
    expect(tracker.settledThrough()).toBe(slot as Slot);
  }
  expect(pool.history.get("told")).toEqual(["accepted", "included", "finalized"]);
  expect(calls).toEqual([]);
  expect(new Set(from)).toEqual(new Set(["flow"]));
});

test("without a flow a slot with a block takes four calls: two for the block, two for finality", async () => {
  await using followedChain = await followed({}, { hasFlow: false });
  const { calls, grow, tracker } = followedChain;
  for (let slot = 1n; slot <= 10n; slot += 1n) await grow(slot);
  calls.length = 0;
  for (let slot = 11n; slot <= 60n; slot += 1n) await grow(slot);
  expect([tracker.settledThrough(), calls.length]).toEqual([60n as Slot, 50 * 4]);
});

test("an undo takes back what stood on the fork, before anything comes in its place", async () => {
  await using followedChain = await followed();
  const { grow, lost, calls, tracker } = followedChain;
  await grow(1n);
  const parent = await grow(2n);
  await grow(3n, parent);
  calls.length = 0;
  await grow(5n, parent);
  expect([lost, tracker.settledThrough()]).toEqual([[3n], 5n as Slot]);
  expect(calls).toEqual([]);
});

test("a flow that stands still is passed by nodes, and is followed again where it goes on", async () => {
  await using followedChain = await followed({ lag: 30 });
  const { ingest, grow, calls, from, tracker } = followedChain;
  for (let slot = 1n; slot <= 20n; slot += 1n) await grow(slot);
  expect(tracker.settledThrough()).toBe(20n as Slot);
  expect(new Set(from)).toEqual(new Set(["node"]));
  ingest.faults = calm;
  for (let slot = 21n; slot <= 60n; slot += 1n) await grow(slot);
  calls.length = 0;
  from.length = 0;
  for (let slot = 61n; slot <= 80n; slot += 1n) await grow(slot);
  expect([tracker.settledThrough(), calls.length, new Set(from)]).toEqual([80n as Slot, 0, new Set(["flow"])]);
});

test("what the flow has lost, trimmed or never held is read from nodes, and blocks that lack what is needed too", async () => {
  await using followedChain = await followed({ lacking: 0.3, trims: 0.1, outages: 0.05, gaps: 1 });
  const { grow, from, tracker, ingest } = followedChain;
  for (let slot = 1n; slot <= 200n; slot += 1n) await grow(slot);
  ingest.faults = calm;
  for (let slot = 201n; slot <= 260n; slot += 1n) await grow(slot);
  expect(tracker.settledThrough()).toBe(260n as Slot);
  // Each block was taken once, whoever brought it.
  expect(from.length).toBe(260);
  expect([ingest.gaps > 0, ingest.trims > 0, new Set(from).size]).toEqual([true, true, 2]);
});

test("a log that is closed leaves the engine with its nodes", async () => {
  await using followedChain = await followed();
  const { grow, ingest, from, failures, tracker } = followedChain;
  await grow(1n);
  await grow(2n);
  await ingest.log[Symbol.asyncDispose]();
  from.length = 0;
  for (let slot = 3n; slot <= 9n; slot += 1n) await grow(slot);
  expect([tracker.settledThrough(), new Set(from)]).toEqual([9n as Slot, new Set(["node"])]);
  expect(failures.length).toBeGreaterThan(0);
});

test("a flow of another chain with the same genesis changes nothing of what nodes show", async () => {
  await using followedChain = await followed();
  const { grow, chain, tracker, step, lost } = followedChain;
  await grow(1n);
  const parent = await grow(2n);
  // The flow is told one chain, the nodes show another: from the next block on they differ.
  await followedChain.ingest.tick({
    processed: child(parent, 3n, [], "elsewhere"),
    confirmed: child(child(parent, 3n, [], "elsewhere"), 4n, [], "elsewhere"),
    finalized: parent,
  });
  let tip = parent;
  for (let slot = 3n; slot <= 30n; slot += 1n) {
    tip = child(tip, slot, [], "here");
    chain.moveTo({ processed: tip, confirmed: tip, finalized: tip.parent?.parent ?? parent });
    await step();
  }
  expect(tracker.settledThrough()).toBe(30n as Slot);
  expect(lost.every((slot) => slot <= 4n)).toBe(true);
});

test("what is told ahead of the tracker is bounded, and a flow that waits goes on where it was left", async () => {
  let asked = 0;
  const undo = (slot: number): LogEvent => {
    const place = { slot: BigInt(slot) as Slot, blockhash: `block ${slot}` };
    return { type: "undo", undo: place, back: place, cursor: "" };
  };
  const follower = {
    cursor: () => "",
    next: async () => {
      asked += 1;
      return asked > 500 ? { done: true as const, value: undefined } : { done: false as const, value: undo(asked) };
    },
    return: async () => ({ done: true as const, value: undefined }),
    [Symbol.asyncIterator]() {
      return this;
    },
    [Symbol.asyncDispose]: async () => undefined,
  };
  const log = { follow: () => ({ ok: true as const, follower }), latest: () => null };
  const flow = { current: () => log };
  using reader = new FlowReader({ flow, tips, events: { flowFailed: () => {} } });
  reader.begin(0n as Slot, null);
  const turn = () => new Promise((resolve) => setImmediate(resolve));
  await turn();
  expect(asked).toBe(64);
  const slots: bigint[] = [];
  for (let told = reader.peek(); told !== null; told = reader.peek()) {
    slots.push(told.slot);
    reader.shift();
    await turn();
  }
  expect(slots).toEqual(Array.from({ length: 500 }, (_, index) => BigInt(index + 1)));
  expect(reader.isFollowing).toBe(false);
});
