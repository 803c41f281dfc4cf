/** What a process asks of a shared bucket, when, and what it makes of the answers: the store is played by hand. */
import { expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import type { LimitDecision } from "./limits.ts";
import type { SharedLimitsOptions } from "./shared-interfaces.ts";
import { createSharedLimits } from "./shared-limits.ts";
import { type AskedLease, PlayedStore, turn } from "./testing/played-store.ts";

function boot(options: Partial<SharedLimitsOptions> = {}) {
  const clock = new ManualClock(1_800_000_000_000);
  const store = new PlayedStore();
  const reported: string[] = [];
  const events = {
    sharingLost: (replicas: number) => void reported.push(`lost ${replicas}`),
    sharingRestored: (replicas: number) => void reported.push(`restored ${replicas}`),
    replicasCounted: () => {},
  };
  const limits = createSharedLimits({ holder: "me", tickIntervalMs: null, ...options }, { clock, store, events });
  /** The lease that was asked for last, which is the `count`th of all. */
  const lease = (count: number): AskedLease => {
    expect(store.leases).toHaveLength(count);
    const last = store.leases.at(-1);
    if (last === undefined) throw new Error("no lease was asked for");
    return last;
  };
  const sweep = async (count = 1): Promise<void> => {
    for (let swept = 0; swept < count; swept += 1) void limits.tick();
    await turn();
  };
  /** Takes from a bucket of 1,000 a second, whose first lease is for 16 tokens beyond what waits. */
  const take = (cost?: number, name = "a") => limits.take(name, 1_000, 2_000, cost);
  /** Takes that are answered at once and allowed, until one is not. */
  const takesAtOnce = (max = 100): number => {
    for (let taken = 0; taken < max; taken += 1) {
      const decision = take();
      if (decision instanceof Promise || !decision.allowed) return taken;
    }
    return max;
  };
  return { clock, store, reported, limits, lease, sweep, take, takesAtOnce };
}

/** Holds 16 tokens of the bucket a, leased at the moment 0. */
async function bootHolding(options: Partial<SharedLimitsOptions> = {}) {
  const booted = boot(options);
  const first = booted.take();
  await booted.lease(1).grant(17, 1_983);
  expect(await first).toMatchObject({ allowed: true, remaining: 1_999 });
  return booted;
}

const isPending = async (promise: unknown): Promise<boolean> =>
  (await Promise.race([promise, turn().then(() => "pending")])) === "pending";

test("a take without tokens asks for its cost and a block ahead, under the name of its process", async () => {
  const { lease, take } = boot();
  expect(take(3, "a")).toBeInstanceOf(Promise);
  expect(lease(1)).toMatchObject({
    key: "a",
    request: {
      rate: 1_000,
      burst: 2_000,
      holder: "me",
      held: 0,
      needed: 3,
      want: 19,
      owed: 0,
      lifeMs: 4_000,
    },
  });
});

test("the next lease is fetched once, ahead of need, when less than half of the last is left", async () => {
  const { lease, store, take, takesAtOnce } = await bootHolding();
  expect(takesAtOnce(8)).toBe(8);
  expect(store.leases).toHaveLength(1);
  expect(take()).toMatchObject({ allowed: true });
  const next = lease(2);
  // The last lease was spent at once, so the block is twice as large; what is left is leased anew beside it.
  expect(next.request).toMatchObject({ held: 7, needed: 0, want: 39 });
  expect(next.request.sequence).toBeGreaterThan(store.leases[0]?.request.sequence ?? 0);
  expect(takesAtOnce(7)).toBe(7);
  expect(store.leases).toHaveLength(2);
});

test("the last token held is taken at once, and one more has to wait", async () => {
  const { take } = await bootHolding();
  expect(take(16)).toMatchObject({ allowed: true });
  expect(take()).toBeInstanceOf(Promise);
  expect(take(0)).toMatchObject({ allowed: true });
});

test("while what is shared is out of reach, what is held is spent and no lease is asked for", async () => {
  const { store, sweep, takesAtOnce } = await bootHolding();
  store.isLost = true;
  await sweep();
  expect(takesAtOnce(16)).toBe(16);
  expect(store.leases).toHaveLength(1);
});

test("takes that come while a lease is asked for are served by it in their order, or by one for all that still wait", async () => {
  const { lease, take, store } = boot();
  const takes = [1, 4, 2, 5].map((cost) => take(cost) as Promise<LimitDecision>);
  expect(lease(1).request).toMatchObject({ needed: 1, want: 17 });
  await lease(1).grant(7, 0);
  expect(await Promise.all(takes.slice(0, 3))).toMatchObject([{ allowed: true }, { allowed: true }, { allowed: true }]);
  expect(lease(2).request).toMatchObject({ held: 0, needed: 5, want: 37 });
  await lease(2).grant(5, 0);
  expect(await takes[3]).toMatchObject({ allowed: true });
  expect(store.leases).toHaveLength(2);
});

test("what is held counts beside a grant: a take that both cover is allowed, and one that came later waits for more", async () => {
  const { lease, take } = await bootHolding();
  expect(take(13)).toMatchObject({ allowed: true });
  await lease(2).grant(0, 0);
  const [first, second] = [take(5) as Promise<LimitDecision>, take(4) as Promise<LimitDecision>];
  expect(lease(3).request).toMatchObject({ held: 3, needed: 5 });
  await lease(3).grant(2, 0);
  expect(await first).toMatchObject({ allowed: true });
  expect(lease(4).request).toMatchObject({ held: 0, needed: 4 });
  await lease(4).grant(4, 0);
  expect(await second).toMatchObject({ allowed: true });
});

test("a lease that does not cover what is needed refuses it, and as much or more again until it may be there", async () => {
  const { clock, lease, store, take } = boot();
  const refused = take(100);
  await lease(1).grant(40, 0);
  expect(await refused).toMatchObject({ allowed: false, remaining: 40, retryAfterSeconds: 1 });
  // Sixty more flow in within 60 ms.
  clock.advance(59);
  expect(take(100)).toMatchObject({ allowed: false });
  expect(take(101)).toMatchObject({ allowed: false });
  expect(store.leases).toHaveLength(1);
  expect(take(99)).toBeInstanceOf(Promise);
});

test("after the time in which it cannot be there, what was refused is asked for again", async () => {
  const { clock, lease, take } = boot();
  const refused = take(100);
  await lease(1).grant(40, 0);
  await refused;
  clock.advance(60);
  expect(take(100)).toBeInstanceOf(Promise);
});

test("of several refused by one lease the cheapest is what is refused at once afterwards", async () => {
  const { lease, take, store } = boot();
  const refused = [take(100), take(50), take(70)];
  await lease(1).grant(0, 0);
  expect((await Promise.all(refused)).map(({ allowed }) => allowed)).toEqual([false, false, false]);
  expect(take(50)).toMatchObject({ allowed: false });
  expect(store.leases).toHaveLength(1);
  expect(take(49)).toBeInstanceOf(Promise);
});

test("a take over the burst is refused without asking, one of the burst is not", async () => {
  const { store, take } = boot();
  expect(take(2_001)).toMatchObject({ allowed: false });
  expect(store.leases).toHaveLength(0);
  expect(take(2_000)).toBeInstanceOf(Promise);
});

test("takes that wait are bounded: the ten thousand and first is refused at once", () => {
  const { take } = boot();
  for (let waiting = 0; waiting < 10_000; waiting += 1) expect(take()).toBeInstanceOf(Promise);
  expect(take()).toMatchObject({ allowed: false });
});

test("what was leased is not spent any more three seconds after it was asked for", async () => {
  const { clock, lease, take } = await bootHolding();
  clock.advance(2_999);
  expect(take()).toMatchObject({ allowed: true });
  clock.advance(1);
  expect(take()).toBeInstanceOf(Promise);
  expect(lease(2).request).toMatchObject({ held: 0, needed: 1 });
});

test("a grant that comes three seconds after it was asked for is worth nothing, one millisecond before it is", async () => {
  for (const [lateMs, allowed] of [
    [2_999, true],
    [3_000, false],
  ] as const) {
    const { clock, lease, store, take } = boot({ waitMs: 60_000 });
    const taken = take();
    clock.advance(lateMs);
    await lease(1).grant(17, 0);
    expect(await isPending(taken)).toBe(!allowed);
    expect(store.leases).toHaveLength(allowed ? 1 : 2);
  }
});

test("what was held stays beside a new grant unless its own time has ended before the answer", async () => {
  for (const [answeredAtMs, spendable] of [
    [2_999, 16 + 5],
    [3_000, 5],
  ] as const) {
    const { clock, lease, sweep, takesAtOnce } = await bootHolding();
    clock.advance(1_600);
    await sweep();
    const renewal = lease(2);
    expect(renewal.request).toMatchObject({ held: 16, needed: 0 });
    clock.advance(answeredAtMs - 1_600);
    await renewal.grant(5, 100);
    expect(takesAtOnce()).toBe(spendable);
  }
});

test("a lease in use is renewed when less than half of its time is left", async () => {
  const { clock, lease, store, sweep, take } = await bootHolding();
  clock.advance(1_500);
  expect(take()).toMatchObject({ allowed: true });
  await sweep();
  expect(store.leases).toHaveLength(1);
  clock.advance(1);
  await sweep();
  expect(lease(2).request).toMatchObject({ held: 15, needed: 0, want: 15 + 8 });
  await sweep();
  expect(store.leases).toHaveLength(2);
});

test("what lies idle for more than four sweeps goes back, once", async () => {
  const { lease, store, sweep, limits } = await bootHolding();
  await sweep(4);
  expect(store.leases).toHaveLength(1);
  await sweep();
  expect(lease(2).request).toMatchObject({ held: 16, needed: 0, want: 0 });
  await lease(2).grant(0, 2_000);
  await sweep(10);
  await limits[Symbol.asyncDispose]();
  expect(store.leases).toHaveLength(2);
});

test("what is given back is not spent meanwhile: a take waits for the answer", async () => {
  const { lease, sweep, take } = await bootHolding();
  await sweep(5);
  const waiting = take();
  expect(waiting).toBeInstanceOf(Promise);
  await lease(2).grant(0, 2_000);
  expect(lease(3).request).toMatchObject({ held: 0, needed: 1 });
  await lease(3).grant(17, 1_983);
  expect(await waiting).toMatchObject({ allowed: true });
});

test("a lease that ran out in an idle bucket is not given back", async () => {
  const { clock, store, sweep } = await bootHolding();
  clock.advance(3_000);
  await sweep(10);
  expect(store.leases).toHaveLength(1);
});

test("one sweep gives back what 500 buckets hold, and the next one the rest", async () => {
  const { store, sweep, take } = boot();
  for (let bucket = 0; bucket < 501; bucket += 1) void take(1, `b${bucket}`);
  for (const asked of store.leases) void asked.grant(17, 0);
  await turn();
  await sweep(5);
  expect(store.leases).toHaveLength(501 + 500);
  await sweep();
  expect(store.leases).toHaveLength(501 + 501);
});

test("the end gives back what is held, also by a lease that was under way, and then removes the process's presence", async () => {
  const { limits, lease, store, take } = await bootHolding();
  const other = take(1, "b");
  const ended = limits[Symbol.asyncDispose]();
  expect(take()).toMatchObject({ allowed: true });
  await turn();
  expect(store.leases).toHaveLength(2);
  await lease(2).grant(10, 0);
  expect(await other).toMatchObject({ allowed: true });
  await turn();
  expect(store.leases.slice(2).map(({ key, request }) => [key, request.held, request.want])).toEqual([
    ["a", 16, 0],
    ["b", 9, 0],
  ]);
  expect(store.beats).toEqual([]);
  const answerBeats = store.holdBeats();
  for (const asked of store.leases.slice(2)) void asked.grant(0, 0);
  expect(await isPending(ended)).toBe(true);
  expect(store.beats).toEqual([0]);
  await answerBeats();
  await ended;
});

test("the end gives back what 500 buckets hold and leaves the rest to run out", async () => {
  const { limits, store, take } = boot();
  for (let bucket = 0; bucket < 502; bucket += 1) void take(1, `b${bucket}`);
  for (const asked of store.leases) void asked.grant(17, 0);
  await turn();
  const ended = limits[Symbol.asyncDispose]();
  await turn();
  expect(store.leases).toHaveLength(502 + 500);
  for (const asked of store.leases.slice(502)) void asked.grant(0, 0);
  await ended;
});

test("the end asks nothing of a store that is out of reach", async () => {
  const { limits, store, sweep } = await bootHolding();
  store.isLost = true;
  await sweep();
  await limits[Symbol.asyncDispose]();
  expect(store.leases).toHaveLength(1);
});

test("after the end its own share decides, at once", async () => {
  const { limits, store } = boot();
  await limits[Symbol.asyncDispose]();
  expect(limits.take("a", 10, 20, 20)).toMatchObject({ allowed: true });
  expect(limits.take("a", 10, 20)).toMatchObject({ allowed: false });
  expect(store.leases).toHaveLength(0);
});

test("a process beats at its start, at each of its first sweeps and then at every fourth", async () => {
  const { limits, store } = boot();
  const beating: number[] = [];
  for (let sweep = 1; sweep <= 20; sweep += 1) {
    const before = store.beats.length;
    await limits.tick();
    if (store.beats.length > before) beating.push(sweep);
  }
  expect(beating).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 13, 17]);
  expect(new Set(store.beats)).toEqual(new Set([10_000]));
});

test("by itself it beats at once and sweeps four times a second, until its end", async () => {
  const clock = new ManualClock(1_800_000_000_000);
  const store = new PlayedStore();
  const events = { sharingLost: () => {}, sharingRestored: () => {}, replicasCounted: () => {} };
  const limits = createSharedLimits({ holder: "me" }, { clock, store, events });
  expect(store.beats).toHaveLength(1);
  await turn();
  for (let second = 0; second < 2; second += 1) {
    for (let sweep = 0; sweep < 4; sweep += 1) {
      clock.advance(250);
      await turn();
    }
  }
  expect(store.beats).toHaveLength(1 + 8);
  await limits[Symbol.asyncDispose]();
  clock.advance(10_000);
  await turn();
  expect(store.beats).toHaveLength(1 + 8 + 1);
});

test("a tick lasts until its heartbeat and its leases are answered", async () => {
  const { clock, lease, limits, store } = await bootHolding();
  const answerBeats = store.holdBeats();
  const beating = limits.tick();
  expect(await isPending(beating)).toBe(true);
  await answerBeats();
  expect(await isPending(beating)).toBe(false);
  clock.advance(1_600);
  const leasing = limits.tick();
  expect(await isPending(leasing)).toBe(true);
  await lease(2).grant(16, 0);
  expect(await isPending(leasing)).toBe(false);
});

test("a take waits for no longer than was set; then its own share decides, and what was given out is owed", async () => {
  const { clock, lease, reported, sweep, take } = boot({ waitMs: 100 });
  const waiting = take(7);
  clock.advance(99);
  expect(await isPending(waiting)).toBe(true);
  clock.advance(1);
  expect(await waiting).toMatchObject({ allowed: true });
  expect(reported).toEqual(["lost 1"]);
  expect(take(3)).toMatchObject({ allowed: true });
  await lease(1).fail();
  await sweep();
  expect(reported).toEqual(["lost 1", "restored 1"]);
  await sweep(4);
  expect(lease(2).request).toMatchObject({ owed: 10, held: 0, want: 0 });
  await lease(2).grant(0, 1_990);
  await sweep(10);
  lease(2);
});

test("what was owed when a lease was asked for is settled by its answer, and what came since is still owed", async () => {
  const { lease, store, sweep, take } = boot({ waitMs: 60_000 });
  store.isLost = true;
  await sweep();
  expect(take(7)).toMatchObject({ allowed: true });
  store.isLost = false;
  await sweep();
  void take(1_999);
  expect(lease(1).request).toMatchObject({ owed: 7 });
  store.isLost = true;
  await sweep();
  expect(take(5)).toMatchObject({ allowed: true });
  store.isLost = false;
  await sweep();
  await lease(1).grant(0, 0);
  await sweep(6);
  expect(lease(2).request).toMatchObject({ owed: 5 });
});

test("a process never owes more than the bucket holds", async () => {
  const { clock, lease, store, sweep, limits } = boot();
  store.isLost = true;
  await sweep();
  for (let second = 0; second < 10; second += 1) {
    expect(limits.take("a", 10, 20, 10)).toMatchObject({ allowed: true });
    clock.advance(1_000);
  }
  expect(limits.take("a", 10, 20, 20)).toMatchObject({ allowed: true });
  store.isLost = false;
  await sweep();
  await sweep(5);
  expect(lease(1).request).toMatchObject({ owed: 20 });
  await lease(1).grant(0, 0);
  await sweep(10);
  lease(1);
});

test("a store that fails a lease is lost until the next heartbeat, and the wait for that lease says it no second time", async () => {
  const { clock, lease, reported, sweep, take } = boot({ waitMs: 100 });
  const waiting = take();
  await lease(1).fail();
  expect(await waiting).toMatchObject({ allowed: true });
  await sweep();
  clock.advance(1_000);
  expect(reported).toEqual(["lost 1", "restored 1"]);
  expect(take()).toBeInstanceOf(Promise);
  await lease(2).grant(17, 0);
  clock.advance(1_000);
  expect(reported).toEqual(["lost 1", "restored 1"]);
});

test("a single token that was granted is used from this process's own share as well", async () => {
  const { lease, limits, store, sweep } = boot();
  const taken = limits.take("a", 1, 2);
  await lease(1).grant(1, 0);
  expect(await taken).toMatchObject({ allowed: true });
  store.isLost = true;
  await sweep();
  expect(limits.take("a", 1, 2)).toMatchObject({ allowed: true });
  expect(limits.take("a", 1, 2)).toMatchObject({ allowed: false });
});

test("buckets are bounded: while all are in use a new name is decided by this process's own share, and no longer", async () => {
  const { lease, store, sweep, take } = await bootHolding({ bucketsMax: 1 });
  expect(take(2_000, "b")).toMatchObject({ allowed: true });
  expect(take(1, "b")).toMatchObject({ allowed: false });
  expect(store.leases).toHaveLength(1);
  await sweep(5);
  await lease(2).grant(0, 2_000);
  expect(take(1, "b")).toBeInstanceOf(Promise);
});

test("numbers that are no whole tokens are a fault of the caller", async () => {
  const { limits } = boot();
  for (const [rate, burst, cost] of [
    [0, 2, 1],
    [-1, 2, 1],
    [1.5, 3, 1],
    [1, 0, 1],
    [1, 0.5, 1],
    [1, 2, -1],
    [1, 2, 0.5],
    [1, 2, Number.NaN],
  ] as const) {
    expect(() => limits.take(`${rate} ${burst}`, rate, burst, cost)).toThrow(RangeError);
  }
});

test("to take nothing is allowed without asking, and keeps no bucket in use", () => {
  const { limits, store } = boot({ bucketsMax: 1 });
  expect(limits.take("a", 1, 1, 0)).toMatchObject({ allowed: true, remaining: 1 });
  expect(store.leases).toHaveLength(0);
  expect(limits.take("b", 1, 1)).toBeInstanceOf(Promise);
});
