/** How an end settles what is held: over a store in memory and a clock moved by hand. */
import { expect, test } from "bun:test";
import { bootCredits, turn } from "./testing/booted-credits.ts";

test("a take that is waiting at the end is answered and charged before the leases go back", async () => {
  const { credits, hold, used } = bootCredits();
  const release = hold();
  const waiting = credits.take("a", 100_000n, 7);
  const ended = credits[Symbol.asyncDispose]();
  await release();
  expect(await waiting).toBe(true);
  await ended;
  expect([used.get("a 2026-11"), credits.isSettled]).toEqual([7n, true]);
});

test("the end settles all before it is over, and a second end does nothing more", async () => {
  const { credits, hold, store } = bootCredits();
  await credits.take("a", 100_000n, 7);
  const release = hold();
  let isOver = false;
  const ended = credits[Symbol.asyncDispose]().then(() => {
    isOver = true;
  });
  await turn();
  expect([isOver, store.calls.settle]).toEqual([false, 1]);
  await release();
  await ended;
  const calls = structuredClone(store.calls);
  await credits[Symbol.asyncDispose]();
  expect(store.calls).toEqual(calls);
});

test("the end tries three times to settle, and what is left is left to the next start", async () => {
  for (const [failures, isSettled, charged] of [
    [2, true, 7n],
    [3, false, 32n],
  ] as const) {
    const { credits, store, used, warnings } = bootCredits();
    await credits.take("a", 100_000n, 7);
    store.failing = { name: "settle", times: failures };
    await credits[Symbol.asyncDispose]();
    expect([credits.isSettled, used.get("a 2026-11"), store.calls.settle]).toEqual([isSettled, charged, 3]);
    expect(warnings.length).toBeGreaterThan(0);
  }
});

test("what the store has open beyond what is known here is tried once at the end, and a failure of it told", async () => {
  const { credits, meter, store, warnings } = bootCredits();
  await meter.lease("a", "2026-11", 50n, null, { holder: "holder", number: 77 });
  store.failing = { name: "settle", times: 1 };
  await credits[Symbol.asyncDispose]();
  expect([credits.isSettled, warnings]).toEqual([false, ["leased credits could not be settled"]]);
});

test("a thousand leases that are not known here may be some of more, so that the tally stays", async () => {
  for (const [count, isSettled] of [
    [999, true],
    [1_000, false],
  ] as const) {
    const { credits, meter } = bootCredits();
    for (let number = 1; number <= count; number += 1) {
      await meter.lease("a", "2026-11", 1n, null, { holder: "holder", number: 5_000 + number });
    }
    await credits[Symbol.asyncDispose]();
    expect([credits.isSettled, meter.usedNow("a", "2026-11")]).toEqual([isSettled, 0n]);
  }
});
