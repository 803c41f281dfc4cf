import { expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import type { ReputationRecord } from "../../state/index.ts";
import type { ReputationOutcome } from "./reputation.ts";
import { Reputations, type ReputationsOptions, ReputationTracker } from "./reputation-tracker.ts";

const landed: ReputationOutcome = { kind: "landed", tip: 1n, medianTip: 1n };

/** A store in memory whose failures and slowness the test decides. */
class MemoryStore {
  readonly stored = new Map<string, ReputationRecord>();
  isDown = false;
  gets = 0;
  puts = 0;
  gate: Promise<void> = Promise.resolve();

  async get(searcherId: string): Promise<ReputationRecord | null> {
    this.gets += 1;
    await this.gate;
    if (this.isDown) throw new Error("the store is down");
    return this.stored.get(searcherId) ?? null;
  }

  async put(records: readonly ReputationRecord[]): Promise<void> {
    this.puts += 1;
    await this.gate;
    if (this.isDown) throw new Error("the store is down");
    for (const record of records) this.stored.set(record.searcherId, JSON.parse(JSON.stringify(record)));
  }
}

function open(store: MemoryStore, options: Partial<ReputationsOptions> = {}) {
  const lost: string[] = [];
  const damaged: string[] = [];
  const events = {
    outcomeLost: (searcherId: string) => void lost.push(searcherId),
    reputationDamaged: (searcherId: string) => void damaged.push(searcherId),
  };
  return { pool: new Reputations(options, { store, events, now: () => 1_000 }), lost, damaged };
}

test("what was flushed is there in another process, and goes on from there", async () => {
  const store = new MemoryStore();
  const { pool } = open(store);
  for (let count = 0; count < 30; count += 1) await pool.record("one", landed);
  await pool.flush();
  const { pool: next } = open(store);
  expect((await next.figures("one")).landed).toBe(30n);
  await next.record("one", landed);
  expect((await next.figures("one")).landed).toBe(31n);
});

test("outcomes that come while a record is read are all counted, after one look at the store", async () => {
  const store = new MemoryStore();
  const gate = Promise.withResolvers<void>();
  store.gate = gate.promise;
  const { pool } = open(store);
  const all = Promise.all(Array.from({ length: 50 }, () => pool.record("one", landed)));
  gate.resolve();
  await all;
  expect(store.gets).toBe(1);
  expect((await pool.figures("one")).landed).toBe(50n);
});

test("memory holds a bounded number of searchers, and none of their outcomes is lost", async () => {
  const store = new MemoryStore();
  const { pool, lost } = open(store, { searchersMax: 10, batchMax: 3 });
  for (let count = 0; count < 200; count += 1) await pool.record(`searcher-${count % 40}`, landed);
  await pool.flush();
  expect(lost).toEqual([]);
  for (let which = 0; which < 40; which += 1) expect((await pool.figures(`searcher-${which}`)).landed).toBe(5n);
});

test("an outcome that is counted while its record is being stored is stored with the next flush", async () => {
  const store = new MemoryStore();
  const { pool } = open(store);
  await pool.record("one", landed);
  const gate = Promise.withResolvers<void>();
  store.gate = gate.promise;
  const flushing = pool.flush();
  await pool.record("one", landed);
  gate.resolve();
  await flushing;
  await pool.flush();
  const { pool: next } = open(store);
  expect((await next.figures("one")).landed).toBe(2n);
});

test("a store that is down costs what it alone knows, is reported, and what is in memory survives it", async () => {
  const store = new MemoryStore();
  const { pool, lost } = open(store);
  await pool.record("known", landed);
  store.isDown = true;
  await pool.record("unknown", landed);
  await pool.record("known", landed);
  expect(lost).toEqual(["unknown"]);
  await expect(pool.flush()).rejects.toThrow("the store is down");
  store.isDown = false;
  await pool.flush();
  expect((await open(store).pool.figures("known")).landed).toBe(2n);
});

test("a damaged record is reported and begins anew", async () => {
  const store = new MemoryStore();
  store.stored.set("one", { searcherId: "one", version: 1, value: { at: "?" } });
  const { pool, damaged } = open(store);
  expect((await pool.figures("one")).score).toBe(0);
  expect(damaged).toEqual(["one"]);
});

test("a tier is answered at once: bronze until the record has been read", async () => {
  const store = new MemoryStore();
  const { pool } = open(store);
  for (let count = 0; count < 400; count += 1) {
    await pool.record("one", { kind: "simulated", ok: true });
    await pool.record("one", landed);
  }
  expect(pool.tierNow("one")).toBe("platinum");
  await pool.flush();
  const { pool: next } = open(store);
  expect(next.tierNow("one")).toBe("bronze");
  await next.figures("one");
  expect(next.tierNow("one")).toBe("platinum");
});

test("readings beyond the bound are refused and reported", async () => {
  const store = new MemoryStore();
  const gate = Promise.withResolvers<void>();
  store.gate = gate.promise;
  const { pool, lost } = open(store, { readingMax: 2 });
  const all = Promise.all(["a", "b", "c"].map((id) => pool.record(id, landed)));
  gate.resolve();
  await all;
  expect(lost).toEqual(["c"]);
});

test("the end stores what is counted, and reports a store that takes nothing instead of rejecting", async () => {
  for (const isDown of [false, true]) {
    const store = new MemoryStore();
    const errors: string[] = [];
    const tracker = new ReputationTracker({
      store,
      pool: { onChange: () => ({ [Symbol.dispose]: () => {} }) },
      clock: new ManualClock(),
      medianTip: () => 0n,
      retryableError: (what, error) => errors.push(`${what}: ${String(error)}`),
    });
    await tracker.reputations.record("one", landed);
    store.isDown = isDown;
    await tracker[Symbol.asyncDispose]();
    expect([...store.stored.keys()]).toEqual(isDown ? [] : ["one"]);
    expect(errors).toEqual(isDown ? ["reputations: Error: the store is down"] : []);
  }
});
