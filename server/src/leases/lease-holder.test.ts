import { afterEach, beforeEach, expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import type { LeaseRecord, LeaseStore } from "../state/index.ts";
import type { LeaseEvents } from "./events.ts";
import { LeaseHolder, leaseTimesOf } from "./lease-holder.ts";

const leaseMs = 2_500;
const { beatMs } = leaseTimesOf(leaseMs);

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
let told: string[];
const events: LeaseEvents = {
  held: (isHeld) => void told.push(isHeld ? "held" : "standing by"),
  beatSeen: (epoch, atMs) => void told.push(`epoch ${epoch}, beat ${atMs}`),
  takenOver: (epoch) => void told.push(`taken over in epoch ${epoch}`),
};
beforeEach(() => {
  told = [];
  store = new MemoryLeases();
  clock = new ManualClock();
  retryableError = [];
});
afterEach(() => expect(retryableError).toEqual([]));

const holderOf = (holder: string): LeaseHolder =>
  new LeaseHolder(
    { network: "mainnet", job: "engine-book", leaseMs },
    { store, clock, holder, events, retryableError: (what) => void retryableError.push(what) },
  );

test("the first to look has the lease, the second while the first beats has not, however long", async () => {
  const [first, second] = [holderOf("first"), holderOf("second")];
  expect(await first.renew()).toMatchObject({ epoch: 1n });
  for (let round = 0; round < 50; round += 1) {
    expect(await second.renew()).toBeNull();
    clock.advance(beatMs);
    await first.renew();
    expect([first.isHeld, second.isHeld]).toEqual([true, false]);
  }
});

test("who stops beating is succeeded after the lease's time and no sooner, and has stopped believing before", async () => {
  const [first, second] = [holderOf("first"), holderOf("second")];
  await first.renew();
  clock.advance(1);
  await second.renew();
  for (let at = 1; at < leaseMs; at += beatMs) {
    expect(await second.renew()).toBeNull();
    clock.advance(beatMs);
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
      clock.advance(next(8) === 0 ? next(2 * leaseMs) : next(beatMs));
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
  expect(retryableError).toEqual(["the lease of engine-book"]);
  retryableError = [];
});

test("what cannot be given up is reported, believed no more, and does not reject", async () => {
  const only = holderOf("only");
  await only.renew();
  store.isAway = true;
  await only.release();
  expect(only.isHeld).toBe(false);
  expect(retryableError).toEqual(["giving up the lease of engine-book"]);
  retryableError = [];
});

test("silence counts while a beat could have been seen: a store that was away for all leaves the lease where it is", async () => {
  const [first, second] = [holderOf("first"), holderOf("second")];
  await first.renew();
  await second.renew();
  store.isAway = true;
  for (let at = 0; at < 3 * leaseMs; at += beatMs) {
    clock.advance(beatMs);
    expect(await second.renew()).toBeNull();
  }
  store.isAway = false;
  // Whoever asks first.
  expect(await second.renew()).toBeNull();
  expect(await first.renew()).toMatchObject({ epoch: 1n });
  expect([first.isHeld, store.takes]).toEqual([true, 1]);
  // A holder that died meanwhile is succeeded after the time of a lease.
  for (let at = 0; at < leaseMs; at += beatMs) {
    clock.advance(beatMs);
    await second.renew();
  }
  clock.advance(beatMs);
  expect(await second.renew()).toMatchObject({ epoch: 2n });
  // An outage is told once, however often the lease was asked for.
  expect(retryableError).toEqual(["the lease of engine-book"]);
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
        { network, job: "engine-book", leaseMs },
        { store: leases, clock, holder: network, events, retryableError: (what) => void what },
      ),
  );
  await Promise.all(holders.map((each) => each.renew()));
  expect(holders.map(({ isHeld }) => isHeld)).toEqual([true, true]);
});

test("who holds it, in which epoch, its last beat, and each take-over from a silent holder are told", async () => {
  const [first, second] = [holderOf("first"), holderOf("second")];
  await first.renew();
  await second.renew();
  const now = clock.monotonic();
  expect(told).toEqual(["held", `epoch 1, beat ${now}`, "standing by", `epoch 1, beat ${now}`]);
  for (let at = 0; at < leaseMs; at += beatMs) {
    clock.advance(beatMs);
    told = [];
    await second.renew();
  }
  const later = clock.monotonic();
  expect(told).toEqual(["taken over in epoch 2", "held", `epoch 2, beat ${later}`]);
  told = [];
  await second.release();
  await first.renew();
  await first.renew();
  // What was given up is taken, and not from somebody who went silent.
  expect(told.filter((each) => each.startsWith("taken over"))).toEqual([]);
  expect(told.at(-1)).toBe(`epoch 3, beat ${later}`);
});

test("another process is known to have it while its beats are seen, and nobody is when they end or the store is away", async () => {
  const [first, second] = [holderOf("first"), holderOf("second")];
  expect(second.isElsewhere).toBe(false);
  await first.renew();
  await second.renew();
  for (let round = 0; round < 20; round += 1) {
    clock.advance(beatMs);
    await first.renew();
    await second.renew();
    expect([first.isElsewhere, second.isElsewhere]).toEqual([false, true]);
  }
  store.isAway = true;
  for (let at = 0; at < leaseMs; at += beatMs) {
    clock.advance(beatMs);
    await second.renew();
  }
  expect([first.isElsewhere, second.isElsewhere]).toEqual([false, false]);
  retryableError = [];
});

test("a lease of any length has five beats or more, and is looked at often", () => {
  for (const each of [1_000, 2_500, 4_000, 60_000]) {
    const times = leaseTimesOf(each);
    expect(times.beatMs * 5).toBeLessThanOrEqual(each);
    expect(times.lookMs).toBeLessThanOrEqual(100);
  }
});
