import { expect, test } from "bun:test";
import { engineLimits } from "@sluice/contract/engine";
import { until } from "@sluice/lib/testing";
import { LedgerQueryError, LedgerUnavailableError } from "../../ledger/index.ts";
import type { BundleRecord } from "../model/bundle.ts";
import { acceptedBundle } from "../testing/accepted-bundle.ts";
import type { DurableBundlePool } from "./bundle-pool.ts";
import { poolLimits } from "./pool-options.ts";
import { addressOf, bundleNamed, slotOf } from "./testing/bundles.ts";
import { Gate, PoolStand } from "./testing/pool-stand.ts";

const expired = { to: "expired", reason: "blockhash_expired" } as const;
const at = { slot: slotOf(11), leader: addressOf("leader") };

/** Accepts and ends bundles of these names, one after the other, and gives their ids. */
async function ended(pool: DurableBundlePool, ...names: readonly string[]): Promise<string[]> {
  const ids = names.map((name) => bundleNamed(name).id);
  for (const name of names) await pool.accept(bundleNamed(name));
  for (const id of ids) await pool.change(id, expired);
  return ids;
}

/** Whether the promise has not settled after all that can go on by itself. */
async function isPending(promise: Promise<unknown>): Promise<boolean> {
  let isSettled = false;
  const settled = (): void => {
    isSettled = true;
  };
  promise.then(settled, settled);
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
  return !isSettled;
}

test("an outcome is reported within a second of the end, and what an earlier process left within a second of the start", async () => {
  await using stand = await PoolStand.open();
  const { clock, ledger } = stand;
  // Left as by a kill: closing in order would report.
  const killed = await stand.pool({ unreported: async () => [] });
  const [left] = await ended(killed, "left");
  await using pool = await stand.pool();
  clock.advance(999);
  expect(ledger.rows).toEqual([]);
  clock.advance(1);
  await until(() => ledger.rows.length === 1);
  const [own] = await ended(pool, "own");
  clock.advance(1_000);
  await until(() => ledger.rows.length === 2);
  expect(ledger.rows.map((row) => row["id"])).toEqual([left, own]);
});

test("while the ledger is away outcomes are tried again every five seconds, also one by one", async () => {
  await using stand = await PoolStand.open();
  const { clock, ledger, events } = stand;
  await using pool = await stand.pool();
  const ids = await ended(pool, "one", "two");
  ledger.fail = () => new LedgerUnavailableError("it is away");
  await pool.reportOutcomes();
  expect(events.waits).toBe(1);
  // A batch that the ledger cannot take is reported one by one, and it goes away meanwhile.
  ledger.fail = (rows) =>
    rows.length > 1 ? new LedgerQueryError(27, "cannot parse") : new LedgerUnavailableError("it is away");
  clock.advance(5_000);
  await until(() => events.waits === 2);
  ledger.fail = null;
  await until(async () => (await stand.store.unreported(10)).length === 2 && clock.pendingTimers === 2);
  clock.advance(4_999);
  expect(clock.pendingTimers).toBe(2);
  clock.advance(1);
  await until(() => ledger.rows.length === 2);
  expect([events.refused, ledger.rows.map((row) => String(row["id"])).toSorted()]).toEqual([[], ids.toSorted()]);
});

test("outcomes are tried again every five seconds while the store is away, though no other bundle ends", async () => {
  await using stand = await PoolStand.open();
  const { clock, ledger, store } = stand;
  let [isAway, asked] = [false, 0];
  const away = async (): Promise<void> => {
    asked += 1;
    if (isAway) throw new Error("the store is away");
  };
  await using pool = await stand.pool({
    unreported: async (count) => {
      await away();
      return await store.unreported(count);
    },
    markReported: async (ids) => {
      await away();
      await store.markReported(ids);
    },
  });
  const [id] = await ended(pool, "one");
  isAway = true;
  clock.advance(1_000);
  await until(() => asked === 1 && clock.pendingTimers === 2);
  clock.advance(5_000);
  await until(() => asked === 2 && clock.pendingTimers === 2);
  isAway = false;
  clock.advance(5_000);
  await until(async () => (await store.unreported(10)).length === 0);
  expect(ledger.rows.map((row) => row["id"])).toEqual([id]);
});

test("an outcome that the ledger refuses for good is not tried again, and the others are not late for it", async () => {
  await using stand = await PoolStand.open();
  const { clock, ledger, events } = stand;
  await using pool = await stand.pool();
  const ids = await ended(pool, "good", "bad", "good too");
  ledger.fail = (rows) => (rows.some((row) => row["id"] === ids[1]) ? new LedgerQueryError(27, "cannot parse") : null);
  clock.advance(1_000);
  await until(async () => (await stand.store.unreported(10)).length === 0);
  await pool.reportOutcomes();
  expect([events.refused, ledger.rows.length]).toEqual([[ids[1] ?? ""], 2]);
  // The deletion of old bundles is all that waits.
  expect(clock.pendingTimers).toBe(1);
});

test("a run reports full batches one after the other, a hundred at most, and what is left a second later", async () => {
  await using stand = await PoolStand.open();
  const row = { ...bundleNamed("any"), changedAt: 0, landed: null, forwarded: null } as unknown as BundleRecord;
  const batch = Array.from({ length: poolLimits.outcomesBatch }, () => row);
  let batches = 0;
  stand.ledger.insert = async (_table, rows) => {
    expect(rows.length).toBe(poolLimits.outcomesBatch);
    batches += 1;
  };
  let rest = 0;
  await using pool = await stand.pool({
    unreported: async () => (rest > 0 ? batch : []),
    markReported: async () => {
      rest -= 1;
    },
  });
  // What opening asked for is over.
  stand.clock.advance(1_000);
  await pool.reportOutcomes();
  rest = 150;
  await pool.reportOutcomes();
  expect(batches).toBe(100);
  stand.clock.advance(1_000);
  await until(() => batches === 150);
  await pool.reportOutcomes();
  expect(batches).toBe(150);
});

test("forwarded counts are written within a second, and again five seconds after a write that failed", async () => {
  await using stand = await PoolStand.open();
  const { clock } = stand;
  let isAway = false;
  await using pool = await stand.pool({
    noteForwarded: async (notes) => {
      if (isAway) throw new Error("away");
      await stand.store.noteForwarded(notes);
    },
  });
  const [one, two] = [bundleNamed("one"), bundleNamed("two")];
  const timesOf = async ({ id }: typeof one) => (await stand.store.get(id))?.forwarded?.times ?? null;
  for (const bundle of [one, two]) await pool.accept(bundle);
  const idle = clock.pendingTimers;
  pool.forwarded(["00".repeat(32)], at);
  expect(clock.pendingTimers).toBe(idle);
  pool.forwarded([one.id], at);
  clock.advance(1_000);
  await until(async () => (await timesOf(one)) === 1);
  isAway = true;
  pool.forwarded([one.id, two.id], at);
  clock.advance(1_000);
  await until(() => stand.events.faults.length === 1);
  await pool.change(two.id, expired);
  isAway = false;
  expect(await timesOf(one)).toBe(1);
  clock.advance(5_000);
  await until(async () => (await timesOf(one)) === 2);
});

test("forwarded counts are on disk when a write of them is over", async () => {
  await using stand = await PoolStand.open();
  await using pool = await stand.pool();
  const bundles = Array.from({ length: poolLimits.forwardedBatch + 1 }, (_, index) => bundleNamed(`bundle ${index}`));
  await Promise.all(bundles.map((bundle) => pool.accept(bundle)));
  const ids = bundles.map(({ id }) => id);
  pool.forwarded(ids, at);
  await pool.writeForwarded();
  const stored = await Promise.all(ids.map((id) => stand.store.get(id)));
  expect(stored.filter((record) => record?.forwarded?.times === 1).length).toBe(ids.length);
});

test("closing waits a bounded time for a store that answers neither acceptances nor forwarded counts", async () => {
  await using stand = await PoolStand.open();
  const { clock } = stand;
  const [accepting, noting] = [new Gate(), new Gate()];
  const [known, late] = [bundleNamed("known"), bundleNamed("late")];
  const pool = await stand.pool({
    accept: async (bundle) => {
      if (bundle.id === late.id) await accepting.wait();
      return await stand.store.accept(bundle);
    },
    noteForwarded: () => noting.wait(),
  });
  await pool.accept(known);
  pool.forwarded([known.id], at);
  const accepted = pool.accept(late);
  await accepting.reached;
  const closing = pool[Symbol.asyncDispose]();
  expect(await isPending(closing)).toBe(true);
  clock.advance(poolLimits.closeMsMax);
  await noting.reached;
  expect(await isPending(closing)).toBe(true);
  clock.advance(poolLimits.closeMsMax);
  await closing;
  accepting.open();
  noting.open();
  await accepted;
});

test("old bundles are deleted every minute, in at most twenty steps, and none before its thirty days are over", async () => {
  await using stand = await PoolStand.open();
  const { clock } = stand;
  const asked: number[] = [];
  let left = 0;
  await using pool = await stand.pool({
    forget: async (endedBefore) => {
      asked.push(endedBefore);
      left -= 1;
      return left >= 0 ? 1 : stand.store.forget(endedBefore);
    },
  });
  const [id = ""] = await ended(pool, "ended");
  await pool.reportOutcomes();
  await pool.forgetOld();
  expect(asked).toEqual([clock.now() - engineLimits.keptMs]);
  expect(await stand.store.get(id)).toMatchObject({ state: "expired" });
  left = 30;
  clock.advance(60_000);
  await until(() => stand.events.forgotten === 20);
  expect(asked.length).toBe(21);
  clock.advance(60_000);
  await until(() => stand.events.forgotten === 30);
  expect(asked.length).toBe(32);
});

test("closing waits for a write of counts, a report and a deletion under way, and leaves no timer", async () => {
  for (const [method, begin] of [
    ["noteForwarded", (pool: DurableBundlePool) => pool.writeForwarded()],
    ["markReported", (pool: DurableBundlePool) => pool.reportOutcomes()],
    ["forget", (pool: DurableBundlePool) => pool.forgetOld()],
  ] as const) {
    await using stand = await PoolStand.open();
    const gate = new Gate();
    const pool = await stand.pool({
      [method]: async (asked: never) => {
        await gate.wait();
        return stand.store[method](asked);
      },
    });
    await ended(pool, "ended");
    const bundle = bundleNamed("forwarded");
    await pool.accept(bundle);
    pool.forwarded([bundle.id], at);
    const working = begin(pool);
    await gate.reached;
    const closed = pool[Symbol.asyncDispose]();
    expect([method, await isPending(closed)]).toEqual([method, true]);
    gate.open();
    await Promise.all([working, closed]);
    expect([method, stand.clock.pendingTimers]).toEqual([method, 0]);
    expect((await stand.store.get(bundle.id))?.forwarded).toEqual({ times: 1, ...at });
  }
});

test("closing writes the counts that are not on disk, and ends when they are", async () => {
  await using stand = await PoolStand.open();
  const gate = new Gate();
  const pool = await stand.pool({
    noteForwarded: async (notes) => {
      await gate.wait();
      await stand.store.noteForwarded(notes);
    },
  });
  const bundle = bundleNamed("forwarded");
  await pool.accept(bundle);
  pool.forwarded([bundle.id], at);
  const closed = pool[Symbol.asyncDispose]();
  await gate.reached;
  expect(await isPending(closed)).toBe(true);
  gate.open();
  await closed;
  expect((await stand.store.get(bundle.id))?.forwarded).toEqual({ times: 1, ...at });
});

test("every page of live bundles is loaded, full ones too", async () => {
  await using stand = await PoolStand.open();
  for (const count of [poolLimits.loadPage, poolLimits.loadPage * 2 + 1]) {
    const records = Array.from({ length: count }, (_, index) => acceptedBundle({ id: `bundle ${index}` }));
    await using pool = await stand.pool({
      live: async (after, limit) => {
        const begin = after === null ? 0 : records.findIndex(({ id }) => id === after.id) + 1;
        return records.slice(begin, begin + limit);
      },
    });
    expect([pool.liveCount, stand.events.loaded]).toEqual([count, count]);
    expect([...pool.everyLive()].map(({ id }) => id)).toEqual(records.map(({ id }) => id));
  }
});

test("closing waits for acceptances and steps under way", async () => {
  await using stand = await PoolStand.open();
  const [accepting, stepping] = [new Gate(), new Gate()];
  const pool = await stand.pool({
    accept: async (bundle) => {
      if (bundle.id === late.id) await accepting.wait();
      return stand.store.accept(bundle);
    },
    step: async (step) => {
      await stepping.wait();
      return stand.store.step(step);
    },
  });
  const [bundle, late] = [bundleNamed("live"), bundleNamed("late")];
  await pool.accept(bundle);
  const work = [pool.accept(late), pool.change(bundle.id, expired)];
  await Promise.all([accepting.reached, stepping.reached]);
  const closed = pool[Symbol.asyncDispose]();
  accepting.open();
  await work[0];
  expect(await isPending(closed)).toBe(true);
  stepping.open();
  expect(await work[1]).toMatchObject({ state: "expired" });
  await closed;
  const early = await stand.pool({ accept: (each) => gated.wait().then(() => stand.store.accept(each)) });
  const gated = new Gate();
  const accepted = early.accept(bundleNamed("another"));
  await gated.reached;
  const earlyClosed = early[Symbol.asyncDispose]();
  expect(await isPending(earlyClosed)).toBe(true);
  gated.open();
  expect(await accepted).toMatchObject({ fresh: true });
  await earlyClosed;
});
