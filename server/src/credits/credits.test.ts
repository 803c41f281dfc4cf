import { expect, test } from "bun:test";
import { SluiceError } from "@sluice/contract/errors";
import { CurrentMonth, monthOf } from "./account-credits.ts";
import { leaseSize, nextBlock } from "./leasing.ts";
import { bootCredits, lastSecondOfNovember } from "./testing/booted-credits.ts";

test("the first take waits for a lease and the next ones are answered at once", async () => {
  const { credits, store } = bootCredits();
  const first = credits.take("a", 100_000n, 1);
  expect(first).toBeInstanceOf(Promise);
  expect(await first).toBe(true);
  expect(credits.take("a", 100_000n, 10)).toBe(true);
  expect(store.leases).toEqual([32n]);
});

test("each sweep tells what is leased and not spent, over all accounts", async () => {
  const { credits, held } = bootCredits();
  await credits.take("a", 100_000n, 1);
  await credits.take("b", 100_000n, 10);
  await credits.take("c", null, 5);
  await credits.sweep();
  await credits.take("a", 100_000n, 1);
  await credits.sweep();
  expect(held).toEqual([31 + 22, 30 + 22]);
});

test("below the watermark the next lease comes before the last one is spent", async () => {
  const { clock, credits, store } = bootCredits();
  await credits.take("a", 100_000n, 1);
  await credits.sweep();
  clock.advance(100);
  for (let index = 0; index < 20; index += 1) expect(credits.take("a", 100_000n, 1)).toBe(true);
  await credits.sweep();
  expect(store.leases).toEqual([32n, 64n]);
  for (let index = 0; index < 70; index += 1) expect(credits.take("a", 100_000n, 1)).toBe(true);
});

test("the allowance is used to the last credit and no further, and a smaller call may still fit", async () => {
  const { credits, used } = bootCredits();
  let taken = 0;
  while (await credits.take("a", 100n, 3)) taken += 3;
  expect(taken).toBe(99);
  expect(await credits.take("a", 100n, 1)).toBe(true);
  expect(await credits.take("a", 100n, 1)).toBe(false);
  expect(used.get("a 2026-11")).toBe(100n);
});

test("an exhausted account is refused at once for a while, without the store being asked", async () => {
  const { clock, credits, store } = bootCredits();
  expect(await credits.take("a", 0n, 1)).toBe(false);
  const asked = store.leases.length;
  for (let index = 0; index < 100; index += 1) expect(credits.take("a", 0n, 1)).toBe(false);
  expect(store.leases.length).toBe(asked);
  clock.advance(1_000);
  clock.jump(lastSecondOfNovember);
  expect(credits.take("a", 0n, 1)).toBeInstanceOf(Promise);
});

test("a larger allowance counts at once", async () => {
  const { credits } = bootCredits();
  expect(await credits.take("a", 0n, 1)).toBe(false);
  expect(await credits.take("a", 10n, 1)).toBe(true);
});

test("takes that arrive together share leases and are served in order", async () => {
  const { credits, store } = bootCredits();
  const outcomes = await Promise.all([10, 10, 10, 10, 1].map((cost) => credits.take("a", 31n, cost)));
  expect(outcomes).toEqual([true, true, true, false, true]);
  expect(store.leases.length).toBeLessThanOrEqual(3);
});

test("at the turn of the month the old lease goes back and the new month is charged", async () => {
  const { clock, credits, used } = bootCredits();
  await credits.take("a", 100_000n, 7);
  clock.advance(1_000);
  await credits.take("a", 100_000n, 2);
  await credits[Symbol.asyncDispose]();
  expect(used).toEqual(
    new Map([
      ["a 2026-11", 7n],
      ["a 2026-12", 2n],
    ]),
  );
});

test("a refund goes to the month that was charged", async () => {
  const { clock, credits, used } = bootCredits();
  const takenAtMs = clock.now();
  await credits.take("a", 100_000n, 7);
  clock.advance(1_000);
  await credits.take("a", 100_000n, 9);
  credits.refund("a", 7, takenAtMs);
  credits.refund("a", 9, clock.now());
  await credits[Symbol.asyncDispose]();
  expect(used.get("a 2026-11")).toBe(0n);
  expect(used.get("a 2026-12")).toBe(0n);
});

test("a refund without its time goes to the month before when this one has not taken as much", async () => {
  const { clock, credits, used } = bootCredits();
  await credits.take("a", 100_000n, 7);
  clock.advance(1_000);
  await credits.take("a", 100_000n, 2);
  credits.refund("a", 7);
  await credits[Symbol.asyncDispose]();
  expect(used.get("a 2026-11")).toBe(0n);
  expect(used.get("a 2026-12")).toBe(2n);
});

test("unlimited usage never waits, not even for a store that is down, and is counted in full", async () => {
  const { clock, credits, used, store } = bootCredits();
  store.isDown = true;
  for (let index = 0; index < 1_000; index += 1) expect(credits.take("a", null, 5)).toBe(true);
  await credits.sweep();
  store.isDown = false;
  credits.refund("a", 5, clock.now());
  await credits.sweep();
  expect(used.get("a 2026-11")).toBe(4_995n);
  credits.refund("a", 10, clock.now());
  await credits[Symbol.asyncDispose]();
  expect(used.get("a 2026-11")).toBe(4_985n);
});

test("an idle lease goes back, and so does what remains on disposal", async () => {
  const { credits, used } = bootCredits();
  await credits.take("idle", 100_000n, 1);
  expect(used.get("idle 2026-11")).toBe(32n);
  for (let sweep = 0; sweep < 12; sweep += 1) {
    await credits.take("busy", 100_000n, 1);
    await credits.sweep();
  }
  expect(used.get("idle 2026-11")).toBe(1n);
  expect(used.get("busy 2026-11")).toBeGreaterThan(12n);
  await credits[Symbol.asyncDispose]();
  expect(used.get("busy 2026-11")).toBe(12n);
  await expect(credits.take("busy", 100_000n, 1)).rejects.toMatchObject({ code: "OVERLOADED" });
});

test("while the store fails the lease is still spent; after that takes are refused as such and never given", async () => {
  const { clock, credits, store } = bootCredits();
  await credits.take("a", 100_000n, 1);
  store.isDown = true;
  for (let index = 0; index < 31; index += 1) expect(await credits.take("a", 100_000n, 1)).toBe(true);
  await expect(credits.take("a", 100_000n, 1)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  store.isDown = false;
  clock.advance(1_000);
  clock.jump(lastSecondOfNovember);
  expect(await credits.take("a", 100_000n, 1)).toBe(true);
});

test("a store that leases no credits is known as failing until it leases again, also when nobody takes any more", async () => {
  const { clock, credits, store } = bootCredits();
  expect(credits.isFailing).toBe(false);
  await credits.take("a", 100_000n, 1);
  store.isDown = true;
  // What is leased is still spent.
  expect(credits.take("a", 100_000n, 1)).toBe(true);
  expect(credits.isFailing).toBe(false);
  await expect(credits.take("b", 100_000n, 1)).rejects.toThrow();
  expect(credits.isFailing).toBe(true);
  for (let second = 0; second < 300; second += 1) {
    clock.advance(1_000);
    await credits.sweep();
    expect(credits.isFailing).toBe(true);
  }
  store.isDown = false;
  clock.advance(1_000);
  await credits.sweep();
  expect(credits.isFailing).toBe(false);
  expect(await credits.take("b", 100_000n, 1)).toBe(true);
});

test("an account that has none left is no failure of the store", async () => {
  const { credits } = bootCredits();
  expect(await credits.take("a", 0n, 1)).toBe(false);
  expect(credits.isFailing).toBe(false);
});

test("a take gives up on a silent store, and a lease that comes late is spent and not lost", async () => {
  const { clock, credits, used, store } = bootCredits({ leaseTimeoutMs: 5 });
  const gate = Promise.withResolvers<void>();
  store.gate = gate.promise;
  const waiting = credits.take("a", 100_000n, 1);
  clock.advance(5);
  await expect(waiting).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  gate.resolve();
  store.gate = null;
  await credits.sweep();
  clock.advance(1_000);
  clock.jump(lastSecondOfNovember);
  expect(credits.take("a", 100_000n, 1)).toBe(true);
  await credits[Symbol.asyncDispose]();
  expect(used.get("a 2026-11")).toBe(1n);
});

test("a take that waits when its account turns unlimited is served and counted in full", async () => {
  const { credits, used, store } = bootCredits();
  const gate = Promise.withResolvers<void>();
  store.gate = gate.promise;
  const waiting = credits.take("a", 3n, 7);
  expect(credits.take("a", null, 5)).toBe(true);
  gate.resolve();
  store.gate = null;
  expect(await waiting).toBe(true);
  expect(await credits.spent("a")).toEqual({ month: "2026-11", used: 12n });
  await credits[Symbol.asyncDispose]();
  expect(used.get("a 2026-11")).toBe(12n);
});

test("every take that waits is refused as soon as the store fails, and none hangs", async () => {
  const { credits, store } = bootCredits();
  store.isDown = true;
  const refusals = Promise.all(
    [1, 2, 3].map((cost) => credits.take("a", 100n, cost)).map((take) => Promise.resolve(take).catch((error) => error)),
  );
  const outcomes = await Promise.race([refusals, Bun.sleep(1_000).then(() => "hangs")]);
  expect(outcomes).toMatchObject(Array.from({ length: 3 }, () => ({ code: "STORE_UNAVAILABLE" })));
});

test("a store that has too much to do is told as such: the caller may try again at once", async () => {
  const { credits, store } = bootCredits();
  store.fault = new SluiceError("OVERLOADED");
  store.isDown = true;
  await expect(credits.take("a", 100_000n, 1)).rejects.toMatchObject({ code: "OVERLOADED" });
  await expect(credits.take("a", 100_000n, 1)).rejects.toMatchObject({ code: "OVERLOADED" });
});

test("waiting takes and accounts in memory are bounded", async () => {
  const { credits, store, used } = bootCredits({ waitersMax: 2, accountsMax: 2 });
  const gate = Promise.withResolvers<void>();
  store.gate = gate.promise;
  const waiting = [credits.take("a", 100n, 1), credits.take("a", 100n, 1)];
  await expect(credits.take("a", 100n, 1)).rejects.toMatchObject({ code: "OVERLOADED" });
  gate.resolve();
  expect(await Promise.all(waiting)).toEqual([true, true]);
  await credits.sweep();
  await credits.take("b", 100n, 1);
  await credits.take("c", 100n, 1);
  await credits.sweep();
  expect(used.get("a 2026-11")).toBe(2n);
});

test("a cost that is no whole number is a fault of the caller, and nothing costs nothing", () => {
  const { credits } = bootCredits();
  expect(() => credits.take("a", 1n, -1)).toThrow(RangeError);
  expect(() => credits.take("a", 1n, 1.5)).toThrow(RangeError);
  expect(credits.take("a", 0n, 0)).toBe(true);
});

test("leases grow while they are gone at once, shrink while they lie about, and end as single credits", () => {
  const bounds = { blockMin: 32, blockMax: 1_000 };
  expect([
    nextBlock(32, 100, bounds),
    nextBlock(800, 100, bounds),
    nextBlock(64, 5_000, bounds),
    nextBlock(64, 60_000, bounds),
    nextBlock(32, 60_000, bounds),
    nextBlock(64, 1_999, bounds),
    nextBlock(64, 2_000, bounds),
    nextBlock(64, 15_000, bounds),
    nextBlock(64, 15_001, bounds),
  ]).toEqual([64, 1_000, 64, 32, 32, 128, 64, 64, 32]);
  expect(leaseSize(1_000, 1, 1_000_000n)).toEqual({ want: 1_000, isScarce: false });
  expect(leaseSize(1_000, 1, 800n)).toEqual({ want: 100, isScarce: true });
  expect(leaseSize(1_000, 25, 5n)).toEqual({ want: 25, isScarce: true });
  expect(leaseSize(1_000, 1, 0n)).toEqual({ want: 1, isScarce: true });
  expect(leaseSize(1_000, 0, 5n)).toEqual({ want: 1, isScarce: true });
  expect(leaseSize(100, 1, 800n)).toEqual({ want: 100, isScarce: false });
});

test("the month is the calendar month in UTC, also after the clock has gone back", () => {
  const current = new CurrentMonth();
  expect(current.at(lastSecondOfNovember)).toBe("2026-11");
  expect(current.at(lastSecondOfNovember + 999)).toBe("2026-11");
  expect(current.at(lastSecondOfNovember + 1_000)).toBe("2026-12");
  expect(current.at(lastSecondOfNovember + 999)).toBe("2026-11");
  expect(current.at(lastSecondOfNovember + 1_000)).toBe("2026-12");
  expect(current.at(Date.UTC(2027, 0, 1))).toBe("2027-01");
  expect(current.at(lastSecondOfNovember)).toBe("2026-11");
  expect(monthOf(Date.UTC(2024, 1, 29))).toBe("2024-02");
});

test("a lease whose answer was lost comes back while the account goes on, and what was lost at last at the end", async () => {
  const { clock, credits, meter, store } = bootCredits();
  store.isForgetful = true;
  await expect(credits.take("a", 100_000n, 1)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  store.isForgetful = false;
  clock.advance(1_000);
  clock.jump(lastSecondOfNovember);
  expect(await credits.take("a", 100_000n, 1)).toBe(true);
  expect(meter.usedNow("a", "2026-11")).toBe(96n);
  for (let sweep = 0; sweep < 2; sweep += 1) await credits.sweep();
  expect(meter.usedNow("a", "2026-11")).toBe(1n);
  store.isForgetful = true;
  await expect(credits.take("b", 100_000n, 1)).rejects.toMatchObject({ code: "STORE_UNAVAILABLE" });
  store.isForgetful = false;
  await credits[Symbol.asyncDispose]();
  expect([meter.usedNow("a", "2026-11"), meter.usedNow("b", "2026-11")]).toEqual([1n, 0n]);
  expect(credits.isSettled).toBe(true);
});

test("a lease that the store carries out after its lease was settled comes back at the end", async () => {
  const { credits, meter } = bootCredits();
  await credits.take("a", 100_000n, 1);
  for (let sweep = 0; sweep < 12; sweep += 1) await credits.sweep();
  expect(meter.usedNow("a", "2026-11")).toBe(1n);
  await meter.lease("a", "2026-11", 50n, null, { holder: "holder", number: 1 });
  await credits[Symbol.asyncDispose]();
  expect(meter.usedNow("a", "2026-11")).toBe(1n);
});

test("what cannot be settled is tried again by each sweep, and said to be open when it is not done at the end", async () => {
  const { credits, meter, store } = bootCredits();
  await credits.take("a", 100_000n, 5);
  store.isDown = true;
  for (let sweep = 0; sweep < 12; sweep += 1) await credits.sweep();
  expect(meter.usedNow("a", "2026-11")).toBe(32n);
  store.isDown = false;
  await credits.sweep();
  expect(meter.usedNow("a", "2026-11")).toBe(5n);
  await credits.take("a", 100_000n, 5);
  store.isDown = true;
  await credits[Symbol.asyncDispose]();
  expect(credits.isSettled).toBe(false);
});

test("without room in the tally nothing is given that could not be counted", async () => {
  const { clock, credits, meter } = bootCredits({}, 1);
  expect(await credits.take("a", 100_000n, 1)).toBe(true);
  await expect(credits.take("b", 100_000n, 1)).rejects.toMatchObject({ code: "OVERLOADED" });
  clock.advance(1_000);
  await expect(credits.take("a", 100_000n, 1)).rejects.toMatchObject({ code: "OVERLOADED" });
  await credits[Symbol.asyncDispose]();
  expect(meter.months).toEqual(new Map([["a 2026-11", 1n]]));
});

test("what an account has spent is reported exactly, whatever is leased and however it is counted", async () => {
  const { credits } = bootCredits();
  for (let take = 0; take < 7; take++) await credits.take("limited", 1_000n, 3);
  credits.refund("limited", 3);
  for (let take = 0; take < 5; take++) await credits.take("unlimited", null, 10);
  expect(await credits.spent("limited")).toEqual({ month: "2026-11", used: 18n });
  expect(await credits.spent("unlimited")).toEqual({ month: "2026-11", used: 50n });
  expect(await credits.spent("nobody")).toEqual({ month: "2026-11", used: 0n });
  await credits[Symbol.asyncDispose]();
});

test("after a refusal the balance is what is left of the allowance, until the month ends", async () => {
  const { clock, credits } = bootCredits();
  const resetsAtMs = Date.UTC(2026, 11, 1);
  expect(credits.balance("a")).toEqual({ remaining: 0, resetsAtMs });
  for (let take = 0; take < 32; take += 1) expect(await credits.take("a", 100n, 3)).toBe(true);
  expect(await credits.take("a", 100n, 5)).toBe(false);
  expect(credits.balance("a")).toEqual({ remaining: 4, resetsAtMs });
  expect(await credits.take("a", 100n, 4)).toBe(true);
  expect(await credits.take("a", 100n, 1)).toBe(false);
  expect(credits.balance("a")).toEqual({ remaining: 0, resetsAtMs });
  credits.refund("a", 4);
  clock.advance(1_000);
  expect(credits.balance("a")).toEqual({ remaining: 0, resetsAtMs: Date.UTC(2027, 0, 1) });
  await credits[Symbol.asyncDispose]();
});
