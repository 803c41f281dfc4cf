import { expect, setDefaultTimeout, test } from "bun:test";
import { ManualClock, seededRandom, systemClock } from "@sluice/lib";
import { eventually } from "@sluice/lib/testing";
import { BlockReader } from "../../events/index.ts";
import { blockOf, chain, headerOf } from "../../log/testing/chain-model.ts";
import { oneChain } from "../../log/testing/one-chain.ts";
import { createLog, createMetrics } from "../../observe/index.ts";
import type { LeaseStore } from "../../state/index.ts";
import { BlockMemory } from "../bodies/block-memory.ts";
import { ScheduledChain } from "../testing/scheduled-chain.ts";
import { createSchedulingEvents } from "./events.ts";
import { WebhookSchedulers } from "./webhook-schedulers.ts";

// A lease ends after a second of silence, and a busy machine takes its time.
setDefaultTimeout(60_000);

const databaseUrl = Bun.env["DATABASE_URL"] ?? "";
if (databaseUrl === "") console.warn("NOT RUN: schedulers that succeed each other (DATABASE_URL is not set)");

/** A process with the role, whose beats may fail while all else goes on. */
async function startProcess(world: ScheduledChain, processId: string) {
  const observe = { log: createLog({ level: "silent" }), metrics: createMetrics() };
  const { state, memory } = world;
  let isSilent = false;
  const leases: LeaseStore = {
    isShared: state.leases.isShared,
    find: (name) => state.leases.find(name),
    take: (name, holder, seen) => state.leases.take(name, holder, seen),
    beat: (lease) => (isSilent ? Promise.reject(new Error("the beat is lost")) : state.leases.beat(lease)),
    release: (lease) => state.leases.release(lease),
  };
  const made: string[] = [];
  const schedulers = new WebhookSchedulers(
    { shards: 1, leaseMs: 1_000 },
    {
      ...observe,
      chainLogs: oneChain("devnet", memory.log, chain),
      leases,
      schedule: state.webhookSchedule,
      webhooks: state.webhooks,
      past: null,
      reader: new BlockReader(),
      memory: new BlockMemory(),
      prices: { at: async () => null },
      listener: { committed: ({ deliveries }) => void made.push(...deliveries.map(({ deliveryId }) => deliveryId)) },
      observe: () => undefined,
      clock: systemClock,
      random: seededRandom(1),
      processId,
      events: createSchedulingEvents(observe),
      internalError: (_, error) => {
        throw error;
      },
    },
  );
  await schedulers.begin();
  return {
    made,
    silence: () => {
      isSilent = true;
    },
    [Symbol.asyncDispose]: () => schedulers[Symbol.asyncDispose](),
  };
}

const blocks = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => blockOf(headerOf(from + index)));

test.skipIf(databaseUrl === "")(
  "of two schedulers one makes deliveries, and the other goes on where it was when it falls silent",
  async () => {
    await using world = await ScheduledChain.open({ clock: new ManualClock(1_790_000_000_000), databaseUrl });
    await world.append(blocks(100, 100));
    await using first = await startProcess(world, "first");
    await using second = await startProcess(world, "second");
    await eventually("the shard has cursors", () => world.hasCursors());
    const id = await world.create(["block.confirmed", "transaction.confirmed"]);
    await world.append(blocks(101, 105));
    const count = (from: number, to: number): number =>
      Array.from({ length: to - from + 1 }, (_, at) => 1 + ((from + at) % 7)).reduce((sum, each) => sum + each, 0);
    await eventually("all is made", () => first.made.length === count(101, 105));
    first.silence();
    for (let slot = 106; slot <= 130; slot += 1) {
      await world.append(blocks(slot, slot));
      await Bun.sleep(100);
    }
    await eventually("the second goes on", async () => (await world.stored(id)).length === count(101, 130));
    const made = [...first.made, ...second.made];
    expect(second.made.length).toBeGreaterThan(0);
    expect(new Set(made).size).toBe(made.length);
    expect(new Set(await world.stored(id))).toEqual(new Set(made));
    expect(await world.waiting(id)).toBe(made.length);
  },
);
