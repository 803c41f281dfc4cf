/** What becomes of credits that are taken back: over a store in memory and a clock moved by hand. */
import { expect, test } from "bun:test";
import { bootCredits, lastSecondOfNovember, turn } from "./testing/booted-credits.ts";

const firstOfDecember = lastSecondOfNovember + 1_000;

test("a refund of all that was taken can be taken again at once", async () => {
  const { credits, store } = bootCredits();
  expect(await credits.take("a", 100_000n, 3)).toBe(true);
  const { remaining } = credits.balance("a");
  credits.refund("a", 3);
  expect(credits.balance("a").remaining).toBe(remaining + 3);
  expect(store.calls.giveBack).toBe(0);
});

test("a refund of what was taken on a lease that went back since goes to the store", async () => {
  const { credits, store, sweep, used } = bootCredits();
  await credits.take("a", 100_000n, 3);
  await sweep(11);
  credits.refund("a", 3);
  await sweep();
  expect([used.get("a 2026-11"), store.calls.giveBack]).toEqual([0n, 1]);
});

test("a refund of a single credit counts, and one of nothing or less is none", async () => {
  const { credits, store, used } = bootCredits();
  await credits.take("a", 100_000n, 3);
  credits.refund("a", 0);
  credits.refund("a", -5);
  credits.refund("unknown", 0);
  credits.refund("a", 1);
  await credits[Symbol.asyncDispose]();
  expect([used.get("a 2026-11"), store.calls.giveBack]).toEqual([2n, 0]);
});

test("a refund after the end, or of an account that is not known, goes to the month of its take", async () => {
  const { clock, credits, used } = bootCredits();
  await credits.take("a", 100_000n, 3);
  const takenAtMs = clock.now();
  await credits[Symbol.asyncDispose]();
  clock.jump(firstOfDecember);
  credits.refund("a", 1, takenAtMs);
  await turn();
  expect(used.get("a 2026-11")).toBe(2n);
});

test("a refund that the store does not take is told in the log and not tried again", async () => {
  const { credits, store, sweep, warnings } = bootCredits();
  store.failing = { name: "giveBack", times: 1 };
  credits.refund("a", 1);
  await sweep(3);
  expect([warnings, store.calls.giveBack]).toEqual([["credits could not be given back"], 1]);
});

test("more refunds than usage leave nothing spent, not less", async () => {
  const { credits } = bootCredits();
  expect(credits.take("a", null, 3)).toBe(true);
  await credits.sweep();
  credits.refund("a", 3);
  expect(await credits.spent("a")).toEqual({ month: "2026-11", used: 0n });
});
