/** What is held of accounts, for how long, and what becomes of it: over a store in memory and a clock moved by hand. */
import { expect, test } from "bun:test";
import type { ManualClock } from "@sluice/lib";
import { bootCredits, lastSecondOfNovember, turn } from "./testing/booted-credits.ts";

const firstOfDecember = lastSecondOfNovember + 1_000;

/** Time goes on within the month. */
function elapse(clock: ManualClock, durationMs: number): void {
  clock.advance(durationMs);
  clock.jump(lastSecondOfNovember);
}

test("by itself an account's credits are swept each second, until the end", async () => {
  const { clock, credits, used, store } = bootCredits({}, 1_000, "by itself");
  expect(credits.take("a", null, 1)).toBe(true);
  await turn();
  expect(credits.take("a", null, 5)).toBe(true);
  clock.advance(999);
  await turn();
  expect(used.get("a 2026-11")).toBe(1n);
  clock.advance(1);
  await turn();
  expect(used.get("a 2026-11")).toBe(6n);
  await credits[Symbol.asyncDispose]();
  const calls = structuredClone(store.calls);
  clock.advance(60_000);
  await turn();
  expect(store.calls).toEqual(calls);
});

test("an idle lease is kept through ten sweeps and goes back with the next", async () => {
  const { credits, used, store, sweep } = bootCredits();
  await credits.take("a", 100_000n, 1);
  await sweep(10);
  expect(used.get("a 2026-11")).toBe(32n);
  await sweep();
  expect(used.get("a 2026-11")).toBe(1n);
  // Nothing of it is left here, and nothing is asked for before the next take.
  expect(credits.take("a", 100_000n, 0)).toBe(true);
  expect(store.calls.lease).toBe(1);
  expect(credits.take("a", 100_000n, 1)).toBeInstanceOf(Promise);
});

test("where few credits are left an idle lease is kept through two sweeps", async () => {
  const { credits, used, sweep } = bootCredits();
  await credits.take("a", 100n, 1);
  expect(used.get("a 2026-11")).toBe(12n);
  await sweep(2);
  expect(used.get("a 2026-11")).toBe(12n);
  await sweep();
  expect(used.get("a 2026-11")).toBe(1n);
});

test("an account that was used within these sweeps keeps its lease", async () => {
  const { credits, store, sweep } = bootCredits();
  await credits.take("a", 100_000n, 1);
  for (let round = 0; round < 3; round += 1) {
    await sweep(10);
    expect(credits.take("a", 100_000n, 1)).toBe(true);
  }
  expect(store.calls.settle).toBe(0);
});

test("what an account held when it turned unlimited goes back with the sweep after its usage was reported", async () => {
  const { credits, used, store, sweep } = bootCredits();
  await credits.take("a", 100_000n, 1);
  await sweep(2);
  expect([used.get("a 2026-11"), store.calls.settle]).toEqual([32n, 0]);
  expect(credits.take("a", null, 4)).toBe(true);
  await sweep();
  expect(used.get("a 2026-11")).toBe(36n);
  await sweep();
  expect(used.get("a 2026-11")).toBe(5n);
  expect(credits.take("a", null, 4)).toBe(true);
  await sweep(5);
  expect([used.get("a 2026-11"), store.calls.settle]).toEqual([9n, 1]);
});

test("a lease account in use is not exchanged while a lease, a report or a take is under way", async () => {
  const { clock, credits, hold, meter, store, sweep } = bootCredits({ leaseTimeoutMs: 60_000 });
  const release = hold();
  const waiting = credits.take("a", 100_000n, 1);
  for (let swept = 0; swept < 20; swept += 1) void credits.sweep();
  await turn();
  expect(store.calls).toMatchObject({ used: 1, settle: 0 });
  await release();
  expect(await waiting).toBe(true);
  const reported = hold();
  expect(credits.take("b", null, 3)).toBe(true);
  for (let swept = 0; swept < 20; swept += 1) void credits.sweep();
  await turn();
  // That of the account a alone, which is idle by now.
  expect(store.calls.settle).toBe(1);
  await reported();
  clock.advance(1);
  await sweep();
  await credits[Symbol.asyncDispose]();
  expect([meter.usedNow("a", "2026-11"), meter.usedNow("b", "2026-11")]).toEqual([1n, 3n]);
});

test("one report of unlimited usage is under way at a time; what came meanwhile goes with the next", async () => {
  const { credits, hold, store, sweep, used } = bootCredits();
  const release = hold();
  expect(credits.take("a", null, 3)).toBe(true);
  expect(credits.take("a", null, 4)).toBe(true);
  for (let swept = 0; swept < 3; swept += 1) void credits.sweep();
  await turn();
  expect(store.calls.lease).toBe(1);
  await release();
  expect(used.get("a 2026-11")).toBe(3n);
  await sweep();
  expect(used.get("a 2026-11")).toBe(7n);
  await sweep(5);
  expect(store.calls.lease).toBe(2);
});

test("a report that failed goes with the next one, whole", async () => {
  const { credits, store, sweep, used, warnings } = bootCredits();
  store.failing = { name: "lease", times: 2 };
  expect(credits.take("a", null, 3)).toBe(true);
  await turn();
  expect(credits.take("a", null, 4)).toBe(true);
  expect(await credits.spent("a")).toEqual({ month: "2026-11", used: 7n });
  await sweep();
  await sweep();
  expect(used.get("a 2026-11")).toBe(7n);
  // A store that fails is told of once.
  expect(warnings).toEqual(["usage could not be reported"]);
});

test("an account that holds nothing is forgotten after 120 sweeps without a take", async () => {
  const { credits, sweep } = bootCredits({}, 1);
  expect(await credits.take("a", 0n, 1)).toBe(false);
  await sweep(120);
  await expect(credits.take("b", 100n, 1)).rejects.toMatchObject({ code: "OVERLOADED" });
  await sweep();
  expect(await credits.take("b", 100n, 1)).toBe(true);
});

test("an account with usage that the store does not take is not forgotten", async () => {
  const { credits, store, sweep, used } = bootCredits();
  store.isDown = true;
  expect(credits.take("a", null, 3)).toBe(true);
  await sweep(200);
  store.isDown = false;
  await sweep(2);
  expect(used.get("a 2026-11")).toBe(3n);
});

test("room is made for a new account by the oldest that is at rest, whose lease goes back", async () => {
  const { credits, hold, used } = bootCredits({ accountsMax: 2 });
  const release = hold();
  const waiting = credits.take("busy", 100_000n, 1);
  expect(credits.take("unlimited", null, 1)).toBe(true);
  // One waits and the other is being reported.
  await expect(credits.take("new", 100_000n, 1)).rejects.toMatchObject({ code: "OVERLOADED" });
  expect(credits.take("new", null, 1)).toBe(true);
  await release();
  expect(await waiting).toBe(true);
  expect(await credits.take("new", 100_000n, 2)).toBe(true);
  await credits.sweep();
  expect([used.get("busy 2026-11"), used.get("new 2026-11")]).toEqual([1n, 32n]);
  expect(credits.take("new", 100_000n, 1)).toBe(true);
  await credits[Symbol.asyncDispose]();
});

test("room is looked for among 64 accounts", async () => {
  for (const [busy, hasRoom] of [
    [63, true],
    [64, false],
  ] as const) {
    const { credits, hold } = bootCredits({ accountsMax: busy + 1, leaseTimeoutMs: 60_000 });
    const release = hold();
    const waiting = Array.from({ length: busy }, (_, index) => credits.take(`busy ${index}`, 100_000n, 1));
    // Refused without a report: nothing of it is under way.
    expect(credits.take("idle", null, 0)).toBe(true);
    const outcome = Promise.resolve(credits.take("new", 100_000n, 1)).catch(({ code }) => code);
    await release();
    expect(await outcome).toBe(hasRoom ? true : "OVERLOADED");
    await Promise.all(waiting);
  }
});

test("while there is room no account gives way", async () => {
  const { credits, store } = bootCredits({ accountsMax: 2 });
  await credits.take("a", 100_000n, 1);
  await credits.take("b", 100_000n, 1);
  await credits.sweep();
  expect(store.calls.settle).toBe(0);
});

test("the failing of a store is not known any more when the account that showed it is gone", async () => {
  const { credits, store } = bootCredits({ accountsMax: 1 });
  store.isDown = true;
  await expect(credits.take("a", 100_000n, 1)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  expect(credits.isFailing).toBe(true);
  expect(credits.take("b", null, 0)).toBe(true);
  expect(credits.isFailing).toBe(false);
});

test("the first account that showed it is what shows that the store works again", async () => {
  const { clock, credits, store, sweep } = bootCredits();
  store.isDown = true;
  for (const account of ["a", "b"]) await expect(credits.take(account, 100_000n, 1)).rejects.toThrow();
  await sweep(200);
  expect(credits.isFailing).toBe(true);
  store.isDown = false;
  // Its memo of the failure lasts a second.
  await sweep();
  expect(credits.isFailing).toBe(true);
  clock.advance(1_000);
  await sweep();
  expect(credits.isFailing).toBe(false);
  expect(store.leases).toHaveLength(1);
});

test("a new month begins with nothing held, taken or refused", async () => {
  const { clock, credits, store, used } = bootCredits();
  expect(await credits.take("a", 6n, 6)).toBe(true);
  expect(await credits.take("a", 6n, 1)).toBe(false);
  clock.jump(firstOfDecember);
  expect(credits.balance("a").remaining).toBe(0);
  expect(await credits.spent("a")).toEqual({ month: "2026-12", used: 0n });
  const first = credits.take("a", 6n, 6);
  expect(first).toBeInstanceOf(Promise);
  expect(await first).toBe(true);
  // Seven were not taken this month, so the seven come back to the one before.
  credits.refund("a", 6);
  credits.refund("a", 1);
  await credits.sweep();
  expect([used.get("a 2026-11"), store.calls.giveBack]).toEqual([5n, 1]);
  await credits[Symbol.asyncDispose]();
  expect([used.get("a 2026-11"), used.get("a 2026-12")]).toEqual([5n, 0n]);
});

test("unlimited usage is never refused, also without room for the account and after the end", async () => {
  const { credits } = bootCredits({}, 1);
  expect(credits.take("a", null, 1)).toBe(true);
  expect(credits.take("b", null, 1)).toBe(true);
  await expect(credits.take("b", 10n, 1)).rejects.toMatchObject({ code: "OVERLOADED" });
  await credits[Symbol.asyncDispose]();
  expect(credits.take("a", null, 1)).toBe(true);
});

test("to take nothing asks the store for nothing", async () => {
  const { credits, store } = bootCredits();
  expect(credits.take("a", 10n, 0)).toBe(true);
  expect(credits.take("b", null, 0)).toBe(true);
  await credits.sweep();
  await credits[Symbol.asyncDispose]();
  expect(store.calls).toEqual({ lease: 0, giveBack: 0, settle: 0, bookAdvance: 0, openBooks: 1, used: 0 });
});

test("that leases cannot be settled is told once for as long as it lasts", async () => {
  const { credits, store, sweep, warnings } = bootCredits();
  for (const account of ["a", "b", "c"]) await credits.take(account, 100_000n, 1);
  store.failing = { name: "settle", times: 1_000 };
  await sweep(11);
  expect(warnings).toEqual(["leased credits could not be settled"]);
  await sweep();
  expect(warnings).toHaveLength(1);
  store.failing.times = 0;
  await sweep();
  expect(store.calls.settle).toBe(9);
  await credits.take("a", 100_000n, 1);
  store.failing.times = 1;
  await sweep(11);
  expect(warnings).toHaveLength(2);
});

test("what an account has spent is read when nothing is under way at the store, if that comes", async () => {
  const { credits, hold } = bootCredits();
  const release = hold();
  const waiting = credits.take("a", 100_000n, 7);
  const spent = credits.spent("a");
  await release();
  expect(await waiting).toBe(true);
  expect(await spent).toEqual({ month: "2026-11", used: 7n });
});

test("the next lease is fetched when less than half of the last is left", async () => {
  const { clock, credits, store } = bootCredits();
  await credits.take("a", 100_000n, 1);
  elapse(clock, 5_000);
  expect(credits.take("a", 100_000n, 15)).toBe(true);
  await turn();
  expect(store.leases).toEqual([32n]);
  expect(credits.take("a", 100_000n, 1)).toBe(true);
  await turn();
  expect(store.leases).toEqual([32n, 32n]);
});

test("a lease covers what is waited for beyond what is held, and an eighth of what is left of the allowance at most", async () => {
  const { clock, credits, store } = bootCredits();
  await credits.take("a", 1_000n, 1);
  elapse(clock, 5_000);
  expect(await credits.take("a", 1_000n, 200)).toBe(true);
  elapse(clock, 5_000);
  expect(await credits.take("a", 1_000n, 700)).toBe(true);
  // Of the 99 that are left: an eighth.
  elapse(clock, 5_000);
  expect(await credits.take("a", 1_000n, 1)).toBe(true);
  expect(store.leases).toEqual([32n, 169n, 700n, 12n]);
});

test("a take that comes while a lease is on its way, and is not covered by it, is served by the next", async () => {
  const { credits, hold, store } = bootCredits();
  const readCount = hold();
  const first = credits.take("a", 100_000n, 1);
  const grant = hold();
  await readCount();
  expect(store.calls).toMatchObject({ used: 1, lease: 1 });
  const second = credits.take("a", 100_000n, 40);
  await grant();
  expect(await Promise.all([first, second])).toEqual([true, true]);
  expect(store.leases).toEqual([32n, 64n]);
});

test("usage that could not be reported before the turn of the month is charged to its month alone", async () => {
  const { clock, credits, hold, store, used } = bootCredits();
  const release = hold();
  expect(credits.take("a", null, 5)).toBe(true);
  clock.jump(firstOfDecember);
  expect(credits.take("a", null, 3)).toBe(true);
  // What is under way on the closed lease account is waited for.
  expect(store.calls.settle).toBe(0);
  store.isDown = true;
  await release();
  store.isDown = false;
  expect(await credits.spent("a")).toEqual({ month: "2026-12", used: 3n });
  await credits[Symbol.asyncDispose]();
  expect([used.get("a 2026-11"), used.get("a 2026-12")]).toEqual([5n, 3n]);
});

test("a take that waits over the turn of the month is charged to the new one", async () => {
  const { clock, credits, hold, used } = bootCredits();
  const release = hold();
  const before = credits.take("a", 100_000n, 5);
  clock.jump(firstOfDecember);
  const after = credits.take("a", 100_000n, 3);
  await release();
  expect(await Promise.all([before, after])).toEqual([true, true]);
  await credits[Symbol.asyncDispose]();
  expect([used.get("a 2026-11") ?? 0n, used.get("a 2026-12")]).toEqual([0n, 8n]);
});

test("usage of an account that had none left when it turned unlimited is charged", async () => {
  const { credits, store, used } = bootCredits();
  expect(await credits.take("a", 0n, 1)).toBe(false);
  expect(credits.take("a", null, 5)).toBe(true);
  await credits[Symbol.asyncDispose]();
  expect([used.get("a 2026-11"), store.calls.settle]).toEqual([5n, 1]);
});

test("an account that had none left is settled without another lease", async () => {
  const { credits, store } = bootCredits();
  expect(await credits.take("a", 0n, 1)).toBe(false);
  await credits[Symbol.asyncDispose]();
  expect(store.calls).toMatchObject({ lease: 1, settle: 1 });
});

test("room in the tally comes back, of accounts that took nothing and of leases that went back", async () => {
  const { credits } = bootCredits({ accountsMax: 1 }, 1);
  for (const account of ["a", "b", "c"]) expect(credits.take(account, 10n, 0)).toBe(true);
  const other = bootCredits({}, 2);
  for (let round = 0; round < 4; round += 1) {
    expect(await other.credits.take("a", 100_000n, 1)).toBe(true);
    await other.sweep(11);
  }
});

test("an account whose store fails is asked for again a second later, also when it was exhausted before", async () => {
  const { clock, credits, store } = bootCredits();
  store.isDown = true;
  await expect(credits.take("a", 100n, 1)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  store.isDown = false;
  elapse(clock, 999);
  await expect(credits.take("a", 100n, 1)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  elapse(clock, 1);
  expect(await credits.take("a", 100n, 100)).toBe(true);
  expect(await credits.take("a", 100n, 1)).toBe(false);
});
