import { afterEach, beforeEach, expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import type { LeaseRecord, LeaseStore } from "../../state/index.ts";
import { LeaseHolder, leaseMs, poolLeaseOf, renewMs } from "./lease-holder.ts";

/** A lease as the state's, which can be away. */
class MemoryLeases implements LeaseStore {
  isShared = true;
  isAway = false;
  record: LeaseRecord | null = null;
  takes = 0;

  async find(): Promise<LeaseRecord | null> {
    this.#reach();
    return this.record;
  }

  async take(name: string, holder: string, seen: LeaseRecord | null): Promise<LeaseRecord | null> {
    this.#reach();
    if (seen?.epoch !== this.record?.epoch || seen?.beats !== this.record?.beats) return null;
    this.takes += 1;
    this.record = { name, epoch: (seen?.epoch ?? 0n) + 1n, beats: 0n, holder };
    return this.record;
  }

  async beat({ epoch }: Pick<LeaseRecord, "epoch">): Promise<boolean> {
    this.#reach();
    if (this.record?.epoch !== epoch) return false;
    this.record = { ...this.record, beats: this.record.beats + 1n };
    return true;
  }

  async release({ epoch }: Pick<LeaseRecord, "epoch">): Promise<void> {
    this.#reach();
    if (this.record?.epoch === epoch) this.record = { ...this.record, holder: "" };
  }

  #reach(): void {
    if (this.isAway) throw new Error("the store is away");
  }
}

let store: MemoryLeases;
let clock: ManualClock;
let retryableError: string[];
beforeEach(() => {
  store = new MemoryLeases();
  clock = new ManualClock();
  retryableError = [];
});
afterEach(() => expect(retryableError).toEqual([]));

const holderOf = (holder: string): LeaseHolder =>
  new LeaseHolder(
    { lease: poolLeaseOf("mainnet") },
    { store, clock, holder, retryableError: (what) => void retryableError.push(what) },
  );

test("the first to look has the lease, the second while the first beats has not, however long", async () => {
  const [first, second] = [holderOf("first"), holderOf("second")];
  expect(await first.renew()).toMatchObject({ epoch: 1n });
  for (let round = 0; round < 50; round += 1) {
    expect(await second.renew()).toBeNull();
    clock.advance(renewMs);
    await first.renew();
    expect([first.isHeld, second.isHeld]).toEqual([true, false]);
  }
});

test("who stops beating is succeeded after the lease's time and no sooner, and has stopped believing before", async () => {
  const [first, second] = [holderOf("first"), holderOf("second")];
  await first.renew();
  clock.advance(1);
  await second.renew();
  for (let at = 1; at < leaseMs; at += renewMs) {
    expect(await second.renew()).toBeNull();
    clock.advance(renewMs);
  }
  expect(first.isHeld).toBe(false);
  expect(await second.renew()).toMatchObject({ epoch: 2n, holder: "second" });
  // The first wakes up: it holds nothing, and learns so at its next check.
  expect(await first.renew()).toBeNull();
  expect(await first.renew()).toBeNull();
  expect(store.takes).toBe(2);
});

test("at any interleaving of looks, pauses and absences of the store two never believe at the same time", async () => {
  for (let seed = 1; seed <= 300; seed += 1) {
    let state = seed * 2_654_435_761;
    const next = (below: number): number => {
      state = (Math.imul(state ^ (state >>> 15), 2_246_822_519) + 3_266_489_917) >>> 0;
      return state % below;
    };
    store = new MemoryLeases();
    clock = new ManualClock();
    const holders = ["a", "b", "c"].map(holderOf);
    for (let step = 0; step < 120; step += 1) {
      store.isAway = next(10) === 0;
      const chosen = holders[next(3)];
      if (next(40) === 0) await chosen?.release();
      else await chosen?.renew();
      expect(holders.filter(({ isHeld }) => isHeld).length).toBeLessThanOrEqual(1);
      clock.advance(next(8) === 0 ? next(2 * leaseMs) : next(renewMs));
      expect(holders.filter(({ isHeld }) => isHeld).length).toBeLessThanOrEqual(1);
    }
  }
  retryableError = [];
});

test("a holder that cannot reach the store stops believing in time, and goes on where no other took over", async () => {
  const only = holderOf("only");
  await only.renew();
  store.isAway = true;
  clock.advance(leaseMs - 1);
  expect(await only.renew()).toMatchObject({ epoch: 1n });
  expect(only.isHeld).toBe(true);
  clock.advance(1);
  expect(only.isHeld).toBe(false);
  store.isAway = false;
  expect(await only.renew()).toMatchObject({ epoch: 1n });
  expect(only.isHeld).toBe(true);
  expect(retryableError).toEqual(["the lease of the book"]);
  retryableError = [];
});

test("a lease that is given up is had at once, and so is one of a database that no other process uses", async () => {
  const [first, second, third] = [holderOf("first"), holderOf("second"), holderOf("third")];
  await first.renew();
  await first.release();
  expect(first.isHeld).toBe(false);
  expect(await second.renew()).toMatchObject({ epoch: 2n });
  expect(await third.renew()).toBeNull();
  store.isShared = false;
  expect(await third.renew()).toMatchObject({ epoch: 3n });
});

test("engines of two networks on one database each hold the lease of their own bundles", async () => {
  const records = new Map<string, LeaseRecord>();
  const leases: LeaseStore = {
    isShared: true,
    find: async (name) => records.get(name) ?? null,
    take: async (name, holder) => {
      const record = { name, epoch: 1n, beats: 0n, holder };
      records.set(name, record);
      return record;
    },
    beat: async () => true,
    release: async () => {},
  };
  const holders = (["mainnet", "testnet"] as const).map(
    (network) =>
      new LeaseHolder(
        { lease: poolLeaseOf(network) },
        { store: leases, clock, holder: network, retryableError: (what) => void what },
      ),
  );
  await Promise.all(holders.map((each) => each.renew()));
  expect(holders.map(({ isHeld }) => isHeld)).toEqual([true, true]);
});
