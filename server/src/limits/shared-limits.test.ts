import { expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import type { LimitDecision } from "./limits.ts";
import { groupOf, type ReplicaGroup } from "./replica-groups.ts";
import { createSharedLimits } from "./shared-limits.ts";
import { SimulatedStore } from "./testing/simulated-store.ts";

function boot() {
  const clock = new ManualClock(1_800_000_000_000);
  const store = new SimulatedStore(clock);
  const reported: string[] = [];
  const events = {
    sharingLost: (replicas: number) => void reported.push(`lost ${replicas}`),
    sharingRestored: (replicas: number) => void reported.push(`restored ${replicas}`),
    replicasCounted: () => {},
  };
  const gateway = (holder: string, waitMs = 60_000) =>
    createSharedLimits({ holder, waitMs, tickIntervalMs: null }, { clock, store, events });
  const process = (holder: string, groups: readonly ReplicaGroup[]) =>
    createSharedLimits({ holder, groups, tickIntervalMs: null }, { clock, store, events });
  return { clock, store, reported, gateway, process };
}

async function countAllowed(takes: readonly (LimitDecision | Promise<LimitDecision>)[]): Promise<number> {
  return (await Promise.all(takes)).filter(({ allowed }) => allowed).length;
}

test("two processes together give the burst at once and the rate after that, to the token", async () => {
  const { clock, gateway } = boot();
  const [first, second] = [gateway("first"), gateway("second")];
  const both = async (count: number): Promise<number> => {
    let allowed = 0;
    for (let index = 0; index < count; index += 1) {
      allowed += await countAllowed([first.take("a", 10, 20), second.take("a", 10, 20)]);
    }
    return allowed;
  };
  expect(await both(40)).toBe(20);
  let after = 0;
  for (let step = 0; step < 1_000; step += 1) {
    clock.advance(10);
    after += await both(1);
  }
  expect(after).toBeGreaterThanOrEqual(99);
  expect(after).toBeLessThanOrEqual(100);
});

test("while a lease lasts the decision is synchronous, and a bucket known to be empty is not asked again", async () => {
  const { clock, store, gateway } = boot();
  const limits = gateway("first");
  expect(limits.take("a", 1_000, 2_000)).toBeInstanceOf(Promise);
  await limits.tick();
  for (let index = 0; index < 5; index += 1) {
    expect(limits.take("a", 1_000, 2_000)).toMatchObject({ allowed: true, limit: 1_000, burst: 2_000 });
  }
  await limits.take("b", 1, 2, 2);
  expect((await limits.take("b", 1, 2)).allowed).toBe(false);
  const asked = store.leases;
  for (let index = 0; index < 100; index += 1) {
    expect(limits.take("b", 1, 2)).toMatchObject({ allowed: false, retryAfterSeconds: 1, remaining: 0 });
  }
  expect(store.leases).toBe(asked);
  clock.advance(1_000);
  expect((await limits.take("b", 1, 2)).allowed).toBe(true);
});

test("what a decision reports counts down as in a bucket of one's own", async () => {
  const { gateway } = boot();
  const limits = gateway("first");
  for (let left = 19; left >= 0; left -= 1) {
    expect(await limits.take("a", 10, 20)).toMatchObject({ allowed: true, remaining: left });
  }
  expect(await limits.take("a", 10, 20)).toMatchObject({
    allowed: false,
    remaining: 0,
    resetAt: 1_800_000_002,
    retryAfterSeconds: 1,
  });
});

test("without Redis each process serves its share, the debt is reported afterwards, and both are logged", async () => {
  const { clock, store, reported, gateway } = boot();
  const [first, second] = [gateway("first"), gateway("second")];
  await Promise.all([first.tick(), second.tick()]);
  for (let sweep = 0; sweep < 4; sweep += 1) await Promise.all([first.tick(), second.tick()]);
  store.isLost = true;
  const takes = (count: number) => Array.from({ length: count }, () => first.take("a", 10, 20));
  expect(await countAllowed(takes(50))).toBe(10);
  clock.advance(1_000);
  expect(await countAllowed(takes(50))).toBe(5);
  expect(await countAllowed([second.take("a", 10, 20, 11)])).toBe(0);
  expect(reported).toEqual(["lost 2", "lost 2"]);
  store.isLost = false;
  for (let sweep = 0; sweep < 4; sweep += 1) await first.tick();
  expect(reported.at(-1)).toBe("restored 2");
  expect(await countAllowed(takes(50))).toBe(20 - 10);
});

test("losing Redis again and again gives no process a new burst", async () => {
  const { store, gateway } = boot();
  const limits = gateway("first");
  let allowed = 0;
  for (let loss = 0; loss < 20; loss += 1) {
    store.isLost = true;
    for (let sweep = 0; sweep < 4; sweep += 1) await limits.tick();
    allowed += await countAllowed(Array.from({ length: 30 }, () => limits.take("a", 10, 20)));
    store.isLost = false;
    for (let sweep = 0; sweep < 4; sweep += 1) await limits.tick();
    allowed += await countAllowed(Array.from({ length: 30 }, () => limits.take("a", 10, 20)));
  }
  expect(allowed).toBeLessThanOrEqual(40);
});

test("a Redis that hangs is waited for once and not longer than the wait that was set", async () => {
  const { clock, store, reported, gateway } = boot();
  const limits = gateway("first", 1);
  store.isHanging = true;
  const waiting = limits.take("a", 10, 20);
  clock.advance(1);
  expect(await waiting).toMatchObject({ allowed: true });
  expect(reported).toEqual(["lost 1"]);
  expect(limits.take("a", 10, 20)).toMatchObject({ allowed: true });
  store.release();
});

test("what an idle process holds goes back, and what a killed one held is there again when its lease is over", async () => {
  const { clock, store, gateway } = boot();
  const [idle, killed, taker] = [gateway("idle"), gateway("killed"), gateway("taker")];
  await idle.take("a", 100, 200);
  for (let sweep = 0; sweep < 6; sweep += 1) await idle.tick();
  expect(store.heldBy("a", "idle")).toBe(0);
  await killed.take("b", 100, 200, 100);
  const left = store.heldBy("b", "killed");
  expect(left).toBeGreaterThan(0);
  clock.advance(2_000);
  expect(await countAllowed(Array.from({ length: 250 }, () => taker.take("b", 100, 200)))).toBe(200 - left);
  clock.advance(6_000);
  expect(await countAllowed(Array.from({ length: 250 }, () => taker.take("b", 100, 200)))).toBe(200);
});

test("tokens that were leased before Redis was lost are spent from this process's share as well", async () => {
  const { store, gateway } = boot();
  const [first, second] = [gateway("first"), gateway("second")];
  for (let sweep = 0; sweep < 3; sweep += 1) await Promise.all([first.tick(), second.tick()]);
  // A take of 99 leases a block ahead of need, up to the share of 100 of a burst of 200.
  expect((await first.take("a", 100, 200, 99)).allowed).toBe(true);
  const held = store.heldBy("a", "first");
  expect(held).toBeGreaterThan(0);
  store.isLost = true;
  expect(await countAllowed(Array.from({ length: 300 }, () => first.take("a", 100, 200)))).toBeLessThanOrEqual(
    Math.max(held, 1),
  );
});

test("a share grows only after ten heartbeats in a row that counted fewer, and shrinks with the first that counts more", async () => {
  const { clock, store, reported, gateway } = boot();
  const [first, second] = [gateway("first"), gateway("second")];
  for (let sweep = 0; sweep < 3; sweep += 1) await Promise.all([first.tick(), second.tick()]);
  /** The share of a fresh bucket's burst of 20 that the first process serves alone. */
  let bucket = 0;
  const shareOf = async (): Promise<number> => {
    store.isLost = true;
    bucket += 1;
    const allowed = await countAllowed(Array.from({ length: 30 }, () => first.take(`b${bucket}`, 10, 20)));
    store.isLost = false;
    return allowed;
  };
  /** Beats until the process has had one that succeeded: each fourth sweep, after the first eight. */
  const beat = async (): Promise<void> => {
    for (let sweep = 0; sweep < 4; sweep += 1) await first.tick();
  };
  for (let sweep = 0; sweep < 8; sweep += 1) await Promise.all([first.tick(), second.tick()]);
  await second[Symbol.asyncDispose]();
  clock.advance(11_000);
  for (let missed = 1; missed < 10; missed += 1) await beat();
  expect(await shareOf()).toBe(10);
  expect(reported).toEqual(["lost 2"]);
  // The loss has ended the row: it takes ten heartbeats again.
  await beat();
  expect(reported.at(-1)).toBe("restored 2");
  for (let missed = 1; missed < 10; missed += 1) await beat();
  expect(await shareOf()).toBe(20);
  await beat();
  const third = gateway("third");
  await third.tick();
  await beat();
  expect(await shareOf()).toBe(10);
});

test("a debt of a single token is told when Redis is back", async () => {
  const { store, gateway } = boot();
  const first = gateway("first");
  await first.tick();
  store.isLost = true;
  expect((await first.take("a", 1, 2, 1)).allowed).toBe(true);
  store.isLost = false;
  // An idle bucket is settled after five sweeps.
  for (let sweep = 0; sweep < 6; sweep += 1) await first.tick();
  const taker = gateway("taker");
  expect(await countAllowed([taker.take("a", 1, 2), taker.take("a", 1, 2)])).toBe(1);
});

test("a share is of the processes that take from the same bucket, whatever other roles run elsewhere", async () => {
  const { store, process } = boot();
  const gateway = process("gateway", ["gateways", "senders"]);
  const others = [process("engine", ["engines", "senders"]), process("oracle", ["oracles"])];
  for (const each of [gateway, ...others, gateway]) await each.tick();
  store.isLost = true;
  const allowed = (bucket: string, count: number) =>
    countAllowed(Array.from({ length: count }, () => gateway.take(bucket, 10, 20)));
  expect(await allowed("requests:account", 40)).toBe(20);
  // The engine's endpoint takes transactions as well.
  expect(await allowed("send:account", 40)).toBe(10);
});

test("the group of a bucket is told by its name", () => {
  const names = ["requests:a", "messages:a", "send:a", "bundles:a", "engine-grpc:k", "engine-address:h", "oracle-v1:a"];
  expect(names.map(groupOf)).toEqual(["gateways", "gateways", "senders", "engines", "engines", "engines", "oracles"]);
});
