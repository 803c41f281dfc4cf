import { describe, expect, test } from "bun:test";
import type { Address, Slot } from "@sluice/wire/identifiers";
import { EngineChainError } from "../model/chain-port.ts";
import { LeaderSchedule } from "./leader-schedule.ts";
import { addressNamed } from "./testing/names.ts";
import { ScriptedChain } from "./testing/scripted-chain.ts";

const [ann, bea, cid] = [addressNamed("ann"), addressNamed("bea"), addressNamed("cid")];
const epochSlots = 16n;

/** Epochs of 16 slots; leaders take turns of four, beginning with another one in each epoch. */
function leaderOf(slot: bigint): Address {
  const order = [ann, bea, cid];
  return order[Number((slot / epochSlots + slot / 4n) % 3n)] ?? ann;
}

function scheduleOf(firstSlot: bigint): Record<string, bigint[]> {
  const schedule: Record<string, bigint[]> = {};
  for (let index = 0n; index < epochSlots; index += 1n) {
    const leader = leaderOf(firstSlot + index);
    schedule[leader] = [...(schedule[leader] ?? []), index];
  }
  return schedule;
}

function world(options: { readonly knownFrom?: bigint } = {}) {
  const chain = new ScriptedChain();
  const faults: unknown[] = [];
  chain.on("getEpochInfo", () => {
    const slot: bigint = chain.newestSlot("processed") ?? 0n;
    return { absoluteSlot: slot, slotIndex: slot % epochSlots, slotsInEpoch: epochSlots, epoch: slot / epochSlots };
  });
  chain.on("getLeaderSchedule", ([first]) => {
    if (typeof first !== "bigint") throw new Error("no slot was named");
    const newest: bigint = chain.newestSlot("processed") ?? 0n;
    const next = first > newest;
    return next && newest % epochSlots < (options.knownFrom ?? 0n) ? null : scheduleOf(first);
  });
  const schedule = new LeaderSchedule({ chain, events: { scheduleFailed: (error) => void faults.push(error) } });
  const at = async (slot: bigint): Promise<void> => {
    chain.slot("processed", slot);
    await schedule.settled();
  };
  return { chain, schedule, faults, at };
}

describe("the leader schedule", () => {
  test("knows every slot of this epoch and the next, and none beyond", async () => {
    const { schedule, at } = world();
    expect(schedule.leaderAt(33n)).toBeNull();
    await at(33n);
    for (let slot = 32n; slot < 64n; slot += 1n) expect(schedule.leaderAt(slot)).toBe(leaderOf(slot));
    expect(schedule.leaderAt(31n)).toBeNull();
    expect(schedule.leaderAt(64n)).toBeNull();
    expect(schedule.isScheduled(ann)).toBe(true);
    expect(schedule.isScheduled(addressNamed("nobody"))).toBe(false);
  });
  test("goes into the next epoch without a moment in which it does not know who leads", async () => {
    const { chain, schedule, at } = world();
    await at(33n);
    for (let slot = 34n; slot < 120n; slot += 1n) {
      chain.slot("processed", slot);
      expect(schedule.leaderAt(slot)).toBe(leaderOf(slot));
      await schedule.settled();
      expect(schedule.leaderAt(slot + epochSlots)).toBe(leaderOf(slot + epochSlots));
    }
    // One call for each epoch that came into sight, and none for slots within one.
    expect(chain.countOf("getLeaderSchedule")).toBe(7);
    expect(chain.countOf("getEpochInfo")).toBe(1);
  });
  test("lists an identity's slots over the epoch's end, bounded", async () => {
    const { schedule, at } = world();
    await at(40n);
    const expected: bigint[] = [];
    for (let slot = 41n; slot < 64n; slot += 1n) if (leaderOf(slot) === bea) expected.push(slot);
    expect(schedule.slotsOf(bea, 41n, 100) as bigint[]).toEqual(expected);
    expect(schedule.slotsOf(bea, 41n, 3) as bigint[]).toEqual(expected.slice(0, 3));
    expect(schedule.slotsOf(addressNamed("nobody"), 41n, 3)).toEqual([]);
  });
  test("finds the next slot of any of some leaders", async () => {
    const { schedule, at } = world();
    await at(40n);
    for (let from = 40n; from < 60n; from += 1n) {
      let slot = from;
      while (slot < 64n && leaderOf(slot) === cid) slot += 1n;
      const expected = slot < 64n ? { slot: slot as Slot, identity: leaderOf(slot) } : null;
      expect(schedule.nextOf([ann, bea], from)).toEqual(expected);
    }
    expect(schedule.nextOf([], 40n)).toBeNull();
    expect(schedule.nextOf([addressNamed("nobody")], 40n)).toBeNull();
  });
  test("asks again, ever less often, while the next epoch's is not known", async () => {
    const { chain, schedule, at } = world({ knownFrom: 12n });
    for (let slot = 32n; slot < 44n; slot += 1n) await at(slot);
    expect(schedule.leaderAt(47n)).toBe(leaderOf(47n));
    expect(schedule.leaderAt(48n)).toBeNull();
    expect(chain.countOf("getLeaderSchedule")).toBeLessThan(7);
    for (let slot = 44n; slot < 48n; slot += 1n) await at(slot);
    for (let slot = 48n; slot < 70n; slot += 1n) {
      await at(slot);
      expect(schedule.leaderAt(slot)).toBe(leaderOf(slot));
    }
  });
  test("reports failures and comes to know in spite of them", async () => {
    const { chain, schedule, faults, at } = world();
    const sound = chain.answers.get("getEpochInfo");
    chain.on("getEpochInfo", () => {
      throw new EngineChainError("no node answers", null);
    });
    await at(33n);
    chain.on("getEpochInfo", () => ({ absoluteSlot: "x" }));
    await at(34n);
    await at(35n);
    expect(faults.length).toBe(2);
    if (sound !== undefined) chain.on("getEpochInfo", sound);
    for (let slot = 36n; slot < 40n; slot += 1n) await at(slot);
    expect(schedule.leaderAt(40n)).toBe(leaderOf(40n));
  });
  test("does not believe a schedule with two leaders of one slot, or with a hole", async () => {
    for (const wrong of [{ [ann]: [0n, 1n], [bea]: [1n] }, { [ann]: [0n, 3n] }, { [ann]: [] }, { ann: [0n] }, [1n]]) {
      const { chain, schedule, faults, at } = world();
      chain.on("getLeaderSchedule", () => wrong);
      await at(33n);
      expect(faults.length).toBe(1);
      expect(schedule.leaderAt(33n)).toBeNull();
    }
  });
  test("follows a chain that jumps over epochs, and one that is begun anew", async () => {
    const { schedule, at } = world();
    await at(33n);
    await at(500n);
    expect(schedule.leaderAt(500n)).toBe(leaderOf(500n));
    await at(3n);
    expect(schedule.leaderAt(3n)).toBe(leaderOf(3n));
    expect(schedule.leaderAt(500n)).toBeNull();
  });
});
