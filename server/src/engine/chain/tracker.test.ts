import { expect, test } from "bun:test";
import { ManualClock, seededRandom } from "@sluice/lib";
import type { Slot } from "@sluice/wire/identifiers";
import type { BundleRecord } from "../model/bundle.ts";
import { EngineChainError } from "../model/chain-port.ts";
import { acceptedBundle } from "../testing/accepted-bundle.ts";
import { TipAccounts } from "./node-answers.ts";
import { addressNamed, signatureNamed } from "./testing/names.ts";
import { ScriptedChain } from "./testing/scripted-chain.ts";
import { child, type SimulatedBlock, SimulatedChain } from "./testing/simulated-chain.ts";
import { SimulatedPool } from "./testing/simulated-pool.ts";
import { readCursor, Tracker, writeCursor } from "./tracker.ts";
import { TrackerPace } from "./tracker-pace.ts";

/** A chain of empty blocks up to a slot, whose newest block is final. */
function chainTo(slot: bigint, fork = "main") {
  let block: SimulatedBlock = child(null, 0n, [], fork);
  for (let at = 1n; at <= slot; at += 1n) block = child(block, at, [], fork);
  const chain = new SimulatedChain(seededRandom(5), child(null, 0n, [], fork));
  chain.moveTo({ processed: block, confirmed: block, finalized: block });
  return { chain, block };
}

const named = (id: string, changes: Partial<BundleRecord> = {}): BundleRecord =>
  acceptedBundle({ id, signatures: [signatureNamed(id)], expiresAt: 1e15, ...changes });
const landed = { slot: 40n as Slot, blockhash: "of before", index: 0 };

function tracking(chain: SimulatedChain, pool: SimulatedPool, place: { text: string | null }) {
  const left: string[] = [];
  const events = {
    blockSeen: () => {},
    blockLost: () => {},
    blockRead: () => {},
    placeLeft: (why: string) => void left.push(why),
  };
  const state = { confirmed: () => {}, lost: () => {}, forget: () => {} };
  const stored = {
    load: async () => place.text,
    save: async (text: string) => {
      place.text = text;
    },
  };
  const tips = new TipAccounts([]);
  const clock = new ManualClock(0);
  const dependencies = { chain, tips, flow: null, pool, state, place: stored, clock, events };
  return { tracker: new Tracker({ catchUpSlotsMax: 20n }, dependencies), left };
}

async function follow(tracker: Tracker): Promise<void> {
  for (let steps = 0; steps < 50 && (await tracker.step()); steps += 1);
}

/** A pool with one bundle of each live state, and the place of a tracker that followed a chain to slot 50. */
async function before() {
  const pool = new SimulatedPool();
  const place: { text: string | null } = { text: null };
  await follow(tracking(chainTo(50n).chain, pool, place).tracker);
  for (const record of [named("waits"), named("in", { state: "included", landed })]) pool.add(record);
  return { pool, place };
}

const endsOf = (pool: SimulatedPool) =>
  Object.fromEntries([...pool.records.values()].map(({ id, state, reason }) => [id, reason ?? state]));

test("bundles in flight end with the chain that they were meant for, by its past or by its genesis", async () => {
  const changed = { waits: "chain_changed", in: "chain_changed" } as const;
  // Begun anew, and already further than the old one was; or far further; or another genesis over the same blocks.
  for (const [slot, fork] of [
    [55n, "anew"],
    [500n, "anew"],
  ] as const) {
    const { pool, place } = await before();
    const { tracker, left } = tracking(chainTo(slot, fork).chain, pool, place);
    await follow(tracker);
    expect([left, endsOf(pool)]).toEqual([["another chain"], changed]);
  }
  const { pool, place } = await before();
  const { chain } = chainTo(3n);
  chain.genesisHash = addressNamed("another genesis");
  const { tracker, left } = tracking(chain, pool, place);
  await follow(tracker);
  expect([left, endsOf(pool)]).toEqual([["another chain"], changed]);
  expect(readCursor(place.text ?? "")?.genesis).toBe(chain.genesisHash);
});

test("bundles in flight go on where the chain is the same, read on or too far ahead to be", async () => {
  for (const slot of [52n, 500n]) {
    const { pool, place } = await before();
    const { chain } = chainTo(slot);
    await follow(tracking(chain, pool, place).tracker);
    expect(pool.records.get("waits")?.state).toBe("accepted");
  }
});

test("a bundle that was accepted on the new chain before the tracker saw it goes on", async () => {
  const { pool, place } = await before();
  const { tracker } = tracking(chainTo(55n, "anew").chain, pool, place);
  pool.add(named("new"));
  await follow(tracker);
  expect(endsOf(pool)).toEqual({ waits: "chain_changed", in: "chain_changed", new: "accepted" });
});

test("a chain that is begun anew under a running tracker ends what it followed", async () => {
  const pool = new SimulatedPool();
  const place: { text: string | null } = { text: null };
  const { chain, block } = chainTo(50n);
  const { tracker } = tracking(chain, pool, place);
  await follow(tracker);
  pool.add(named("waits"));
  const anew = chainTo(60n, "anew").block;
  chain.moveTo({ processed: anew, confirmed: anew, finalized: anew });
  for (let tries = 0; tries < 4; tries += 1)
    await follow(tracker).catch((error) => expect(error).toBeInstanceOf(EngineChainError));
  expect(block.slot).toBe(50n);
  expect(endsOf(pool)).toEqual({ waits: "chain_changed" });
});

test("a place is read as it was written, with and without a genesis, and one of the first version has none", () => {
  const cursor = { slot: 7n as Slot, blockhash: addressNamed("b"), time: 5, genesis: addressNamed("g") };
  for (const each of [cursor, { ...cursor, genesis: null }, { ...cursor, time: null }]) {
    expect(readCursor(writeCursor(each))).toEqual(each);
  }
  expect(readCursor(`1 7 ${cursor.blockhash} 5`)).toEqual({ ...cursor, genesis: null });
  for (const wrong of ["", "3 7 b 5", `2 7 ${cursor.blockhash} 5 notBase58!`, `${writeCursor(cursor)} more`]) {
    expect(readCursor(wrong)).toBeNull();
  }
});

/** A pace over steps that end when the test says. */
function paced() {
  const chain = new ScriptedChain();
  const clock = new ManualClock(0);
  const steps: PromiseWithResolvers<boolean>[] = [];
  let underWay = 0;
  let most = 0;
  const tracker = {
    step: async () => {
      const step = Promise.withResolvers<boolean>();
      steps.push(step);
      underWay += 1;
      most = Math.max(most, underWay);
      try {
        return await step.promise;
      } finally {
        underWay -= 1;
      }
    },
  };
  const failed: number[] = [];
  const events = { stepFailed: (_error: unknown, failures: number) => void failed.push(failures) };
  const pace = new TrackerPace(tracker as unknown as Tracker, {
    chain,
    flow: null,
    clock,
    random: seededRandom(1),
    events,
  });
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  return { chain, clock, steps, pace, failed, settled, mostAtOnce: () => most };
}

test("steps of the tracker never overlap, however many notices come while one is under way", async () => {
  const { chain, clock, steps, settled, mostAtOnce } = paced();
  for (let slot = 1n; slot < 5n; slot += 1n) chain.slot("confirmed", slot);
  expect(steps).toHaveLength(1);
  steps[0]?.resolve(false);
  await settled();
  clock.advance(0);
  await settled();
  expect(steps).toHaveLength(2);
  chain.slot("finalized", 5n);
  steps[1]?.resolve(false);
  await settled();
  clock.advance(0);
  expect([steps.length, mostAtOnce()]).toEqual([3, 1]);
});

test("a notice does not begin a step before the wait after a failure is over", async () => {
  const { chain, clock, steps, failed, settled } = paced();
  steps[0]?.reject(new Error("no node"));
  await settled();
  chain.slot("confirmed", 9n);
  await settled();
  expect([steps.length, failed]).toEqual([1, [1]]);
  clock.advance(5_000);
  await settled();
  expect(steps).toHaveLength(2);
});
