/** What is asked of the store while no caller waits: settling for the dead, closing old books, reading counts. */
import { expect, test } from "bun:test";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ManualClock } from "@sluice/lib";
import { Reconciler } from "./reconciler.ts";
import { settleHolder } from "./settle-holder.ts";
import { StoreWork } from "./store-work.ts";
import { LeftTally } from "./tally.ts";
import { createTally } from "./tally-file.ts";
import { turn } from "./testing/booted-credits.ts";
import { MeterInMemory } from "./testing/meter-in-memory.ts";

const month = "2026-11";

test("every lease account of the dead is settled, also where there are more than are asked for at once", async () => {
  const meter = new MeterInMemory();
  const cells = new Float64Array(2 * 1_201);
  for (let number = 1; number <= 1_201; number += 1) {
    await meter.lease("a", month, 3n, null, { holder: "dead", number });
    cells.set([number, 1], (number - 1) * 2);
  }
  const asked: number[] = [];
  const store = {
    openBooks: (holder: string, limit: number) => {
      asked.push(limit);
      return meter.openBooks(holder, limit);
    },
    settle: meter.settle.bind(meter),
    bookAdvance: meter.bookAdvance.bind(meter),
  };
  const settlement = await settleHolder("dead", { left: LeftTally.read(cells), advances: [] }, store);
  expect(settlement).toEqual({ books: 1_201, returned: 2_402n, unproved: 0n, advanced: 0n });
  expect([asked, meter.usedNow("a", month)]).toEqual([[500, 500, 500, 500], 1_201n]);
});

test("a store that never ends to name lease accounts is asked a thousand times at most", async () => {
  let settled = 0;
  const book = { accountId: "a", month, holder: "dead", number: 1, leased: 1n };
  const store = {
    openBooks: async () => [book],
    settle: async () => {
      settled += 1;
      return null;
    },
    bookAdvance: async () => false,
  };
  const remains = { left: null, advances: [] };
  expect(await settleHolder("dead", remains, store)).toEqual({ books: 0, returned: 0n, unproved: 0n, advanced: 0n });
  expect(settled).toBe(1_000);
});

test("one lease account that cannot be settled keeps none of the others from it, and is told", async () => {
  const meter = new MeterInMemory();
  for (let number = 1; number <= 3; number += 1) await meter.lease("a", month, 5n, null, { holder: "dead", number });
  const store = {
    openBooks: meter.openBooks.bind(meter),
    settle: async (...settlement: Parameters<MeterInMemory["settle"]>) => {
      if (settlement[2].number === 2) throw new Error("store down");
      return await meter.settle(...settlement);
    },
    bookAdvance: meter.bookAdvance.bind(meter),
  };
  const left = LeftTally.read(Float64Array.from([1, 0, 2, 0, 3, 0]));
  await expect(settleHolder("dead", { left, advances: [] }, store)).rejects.toThrow("store down");
  expect(meter.usedNow("a", month)).toBe(5n);
});

test("the advances of the dead are charged by what was spent of each, all of it where nothing proves that, and once", async () => {
  const advance = (number: number) => ({ accountId: "a", month, number, credits: 100 });
  const advances = [1, 2, 3].map(advance);
  for (const [left, first] of [
    [LeftTally.read(Float64Array.from([1, 30, 2, 0, 3, 5])), { unproved: 0n, advanced: 35n }],
    [null, { unproved: 300n, advanced: 300n }],
  ] as const) {
    const meter = new MeterInMemory();
    const none = { books: 0, returned: 0n, unproved: 0n, advanced: 0n };
    expect(await settleHolder("dead", { left, advances }, meter)).toEqual({ ...none, ...first });
    expect(await settleHolder("dead", { left, advances }, meter)).toEqual(none);
    expect(meter.usedNow("a", month)).toBe(first.advanced);
  }
});

/** A reconciler of a directory of its own, over a store that a test holds back or fails. */
function boot(intervalMs?: null) {
  const directory = mkdtempSync(join(tmpdir(), "sluice-settlement-"));
  const clock = new ManualClock(Date.UTC(2026, 10, 22));
  const meter = new MeterInMemory();
  const closed: string[] = [];
  const warnings: object[] = [];
  const reported: string[] = [];
  const store = Object.assign(meter, {
    gate: null as Promise<void> | null,
    isDown: false,
    closeBooksBefore: async (before: string) => {
      if (store.gate !== null) await store.gate;
      if (store.isDown) throw new Error("store down");
      closed.push(before);
      return 0;
    },
  });
  const place = { directory, meter: "credits", bootId: "here" };
  const reconciler = new Reconciler(
    { place, own: "f".repeat(24), ...(intervalMs === undefined ? {} : { intervalMs }) },
    {
      clock,
      store,
      log: { warn: (fields) => void warnings.push(fields) },
      events: { creditsReconciled: (ofMeter) => void reported.push(ofMeter) },
    },
  );
  return {
    clock,
    closed,
    directory,
    meter,
    place,
    reconciler,
    reported,
    store,
    warnings,
    [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }),
  };
}

test("books of months before the last are closed, once a month, and again after a failure", async () => {
  using booted = boot(null);
  const { clock, closed, reconciler, store, warnings } = booted;
  store.isDown = true;
  await reconciler.run();
  expect([closed, warnings]).toEqual([[], [expect.objectContaining({ meter: "credits" })]]);
  store.isDown = false;
  for (let run = 0; run < 2; run += 1) await reconciler.run();
  expect(closed).toEqual(["2026-10"]);
  clock.jump(Date.UTC(2026, 11, 1));
  await reconciler.run();
  clock.jump(Date.UTC(2027, 0, 31));
  await reconciler.run();
  expect(closed).toEqual(["2026-10", "2026-11", "2026-12"]);
});

test("by itself it looks every twenty seconds, until its end", async () => {
  using booted = boot();
  const { clock, closed, reconciler } = booted;
  clock.advance(19_999);
  await turn();
  expect(closed).toEqual([]);
  clock.advance(1);
  await turn();
  expect(closed).toEqual(["2026-10"]);
  await reconciler[Symbol.asyncDispose]();
  expect(clock.pendingTimers).toBe(0);
});

test("one look is under way at a time, and the end waits for it", async () => {
  using booted = boot(null);
  const { closed, reconciler, store } = booted;
  const gate = Promise.withResolvers<void>();
  store.gate = gate.promise;
  const looks = [reconciler.run(), reconciler.run()];
  const ended = reconciler[Symbol.asyncDispose]();
  const isOver = (work: Promise<unknown>) => Promise.race([work.then(() => true), turn().then(() => false)]);
  expect([await isOver(looks[0] ?? ended), await isOver(ended)]).toEqual([false, false]);
  gate.resolve();
  await Promise.all([...looks, ended]);
  expect(closed).toEqual(["2026-10"]);
});

test("a look is over when all it found is settled; a tally without lease accounts is not reported, and goes as well", async () => {
  using booted = boot(null);
  const { clock, directory, meter, place, reconciler, reported } = booted;
  const [spender, idle] = ["1".repeat(24), "2".repeat(24)];
  const own = createTally(place, spender);
  const entry = own.tally.open();
  await meter.lease("a", month, 9n, null, { holder: spender, number: entry?.number ?? 0 });
  entry?.spend(4);
  own.release(false);
  createTally(place, idle).release(false);
  clock.advance(5_000);
  const gate = Promise.withResolvers<void>();
  const { openBooks } = meter;
  meter.openBooks = async (...asked) => {
    await gate.promise;
    return await openBooks.apply(meter, asked);
  };
  const looked = reconciler.run();
  expect(await Promise.race([looked.then(() => "over"), turn().then(() => "under way")])).toBe("under way");
  gate.resolve();
  await looked;
  expect([meter.usedNow("a", month), reported]).toEqual([4n, ["credits"]]);
  clock.advance(59_999);
  await reconciler.run();
  expect(readdirSync(directory)).not.toEqual([]);
  clock.advance(1);
  await reconciler.run();
  expect(readdirSync(directory)).toEqual([]);
});

/** Work at a store whose answers a test counts. */
function bootWork() {
  const asked: string[] = [];
  const meter = new MeterInMemory();
  const onUsed = { run: (): void => {} };
  const store = Object.assign(meter, {
    used: async (accountId: string) => {
      asked.push(accountId);
      onUsed.run();
      return BigInt(asked.length);
    },
  });
  return { asked, onUsed, work: new StoreWork({ store, log: { warn: () => undefined } }) };
}

test("a count is read once when nothing is under way, and after five times it is taken as it is", async () => {
  const { asked, onUsed, work } = bootWork();
  expect(await work.usedWhenQuiet("a", month)).toBe(1n);
  onUsed.run = () => work.follow(turn());
  expect(await work.usedWhenQuiet("b", month)).toBe(6n);
  expect(asked).toEqual(["a", "b", "b", "b", "b", "b"]);
});

test("a count is not read before all that is under way is over", async () => {
  const { asked, work } = bootWork();
  const gate = Promise.withResolvers<void>();
  work.follow(gate.promise);
  const used = work.usedWhenQuiet("a", month);
  const settled = work.settled().then(() => asked.push("settled"));
  await turn();
  expect(asked).toEqual([]);
  gate.resolve();
  await Promise.all([used, settled]);
  expect(asked.toSorted()).toEqual(["a", "settled"]);
});
