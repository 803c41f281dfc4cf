import { afterAll, beforeEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { engineLimits } from "@sluice/contract/engine";
import { SluiceError } from "@sluice/contract/errors";
import { ManualClock, systemRandom } from "@sluice/lib";
import { LedgerQueryError, LedgerUnavailableError } from "../../ledger/index.ts";
import { type BundleStore, openState } from "../../state/index.ts";
import type { BundleChange, BundleRecord } from "../model/bundle.ts";
import { type DurableBundlePool, openBundlePool } from "./bundle-pool.ts";
import { type PoolOptions, poolLimits } from "./pool-options.ts";
import {
  addressOf,
  anyChain,
  bundleNamed,
  KeptLedger,
  SeenEvents,
  signatureOf,
  slotOf,
  startMs,
  withoutTimers,
} from "./testing/bundles.ts";
import { changedStore } from "./testing/changed-store.ts";

const directory = mkdtempSync(join(tmpdir(), "sluice-pool-"));
const clock = new ManualClock(startMs);
const state = await openState(
  { directory, databaseUrl: null },
  { clock, random: systemRandom, log: { info: () => {}, warn: () => {} } },
);
afterAll(async () => {
  await state[Symbol.asyncDispose]();
  rmSync(directory, { recursive: true });
});

const included: BundleChange = { to: "included", slot: slotOf(11), blockhash: "hash", index: 0, tip: 6_000n };
const lost: BundleChange = { to: "dropped", reason: "fork" };
const expired: BundleChange = { to: "expired", reason: "blockhash_expired" };

let events = new SeenEvents();
let ledger = new KeptLedger();
let created = 0;
/** A name that no other test has. */
function named(): string {
  created += 1;
  return `bundle ${created}`;
}

const open = (
  options: PoolOptions = {},
  store: BundleStore = state.engine.of("mainnet").bundles,
): Promise<DurableBundlePool> =>
  openBundlePool(options, { store, ...anyChain, ledger, clock: withoutTimers(clock), events });

/** Ends whatever an earlier test left in flight, so that each begins with an empty pool. */
beforeEach(async () => {
  events = new SeenEvents();
  ledger = new KeptLedger();
  await using pool = await open();
  for (const { id, state: at } of [...pool.everyLive()]) await pool.change(id, at === "included" ? lost : expired);
  await pool.reportOutcomes();
  events = new SeenEvents();
  ledger = new KeptLedger();
});

const storeWith = (changes: Partial<BundleStore>): BundleStore =>
  changedStore(state.engine.of("mainnet").bundles, changes);

describe("a bundle that another searcher submits again", () => {
  test("is one bundle of both: in flight for each, reported to each, also after a restart", async () => {
    const bundle = bundleNamed(named(), { searcherId: "acct_first" });
    const told: string[] = [];
    {
      await using pool = await open();
      using _ = pool.follow("acct_second", ({ state: now }) => told.push(now));
      await pool.accept(bundle);
      expect(pool.liveOf("acct_second")).toEqual([]);
      const again = await pool.accept({ ...bundle, searcherId: "acct_second" });
      expect(again).toMatchObject({ fresh: false, record: { searcherId: "acct_first", followers: ["acct_second"] } });
      await pool.accept({ ...bundle, searcherId: "acct_second" });
      await pool.accept(bundle);
      expect(pool.live(bundle.id)?.followers).toEqual(["acct_second"]);
      expect([pool.liveCountOf("acct_first"), pool.liveCountOf("acct_second")]).toEqual([1, 1]);
    }
    await using pool = await open();
    using _ = pool.follow("acct_second", ({ state: now }) => told.push(now));
    expect(pool.liveOf("acct_second").map(({ id }) => id)).toEqual([bundle.id]);
    await pool.change(bundle.id, included);
    await pool.change(bundle.id, { to: "finalized" });
    expect(told).toEqual(["accepted", "included", "finalized"]);
    expect([pool.liveCountOf("acct_first"), pool.liveCountOf("acct_second")]).toEqual([0, 0]);
    expect(await pool.get(bundle.id)).toMatchObject({ followers: ["acct_second"], landed: { index: 0 } });
  });

  test("has so many followers at most, and is not theirs before that is on disk", async () => {
    let isAway = false;
    const store = storeWith({
      setFollowers: async (id, followers) => {
        if (isAway) throw new SluiceError("OVERLOADED");
        return state.engine.of("mainnet").bundles.setFollowers(id, followers);
      },
    });
    await using pool = await open({}, store);
    const bundle = bundleNamed(named(), { searcherId: "acct_first" });
    await pool.accept(bundle);
    isAway = true;
    await expect(pool.addFollower(bundle.id, "acct_0")).rejects.toMatchObject({ code: "OVERLOADED" });
    expect(pool.liveOf("acct_0")).toEqual([]);
    isAway = false;
    for (let index = 0; index < 64; index += 1) await pool.addFollower(bundle.id, `acct_${index}`);
    await expect(pool.addFollower(bundle.id, "acct_64")).rejects.toMatchObject({ code: "OVERLOADED" });
    expect(await pool.addFollower(bundle.id, "acct_63")).toMatchObject({ id: bundle.id });
    expect(await pool.addFollower(signatureOf("none"), "acct_1")).toBeNull();
  });
});

describe("acceptance", () => {
  test("what is accepted is on disk, in memory by id, signature and searcher, and reported once", async () => {
    await using pool = await open();
    const reported: string[] = [];
    using _ = pool.onChange((record, before) => reported.push(`${before} ${record.state}`));
    const bundle = bundleNamed(named(), { searcherId: "acct_7" });
    const { fresh, record } = await pool.accept(bundle);
    expect([fresh, record.state, reported]).toEqual([true, "accepted", ["null accepted"]]);
    expect(await state.engine.of("mainnet").bundles.get(bundle.id)).toMatchObject({ ...bundle, state: "accepted" });
    expect(pool.live(bundle.id)).toBe(record);
    expect(pool.holding(bundle.signatures[0] ?? signatureOf(""))).toEqual([record]);
    expect(pool.liveOf("acct_7")).toEqual([record]);
    expect([...pool.everyLive()]).toEqual([record]);
    expect(pool.holding(signatureOf("another"))).toEqual([]);
  });

  test("the same id at once and again is one bundle, fresh once, and reported once", async () => {
    await using pool = await open();
    let reported = 0;
    using _ = pool.onChange(() => (reported += 1));
    const bundle = bundleNamed(named());
    const results = await Promise.all([1, 2, 3].map(() => pool.accept(bundle)));
    results.push(await pool.accept(bundle));
    expect(results.map(({ fresh }) => fresh)).toEqual([true, false, false, false]);
    expect([pool.liveCount, reported]).toEqual([1, 1]);
    await pool.change(bundle.id, expired);
    expect(await pool.accept(bundle)).toMatchObject({ fresh: false, record: { state: "expired" } });
    expect(pool.liveCount).toBe(0);
  });

  test("a full pool refuses with OVERLOADED and takes in again when something has ended", async () => {
    await using pool = await open({ liveMax: 2 });
    const bundles = [named(), named(), named()].map((name) => bundleNamed(name));
    const results = await Promise.allSettled(bundles.map((bundle) => pool.accept(bundle)));
    expect(results.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected"]);
    const [first, , third] = bundles;
    if (first === undefined || third === undefined) throw new Error("three were made");
    await expect(pool.accept(third)).rejects.toMatchObject({ code: "OVERLOADED" });
    expect(await pool.accept(first)).toMatchObject({ fresh: false });
    expect(await state.engine.of("mainnet").bundles.get(third.id)).toBeNull();
    await pool.change(first.id, expired);
    expect(await pool.accept(third)).toMatchObject({ fresh: true });
  });

  test("an acceptance whose answer was lost is adopted, and reported, when it is tried again", async () => {
    const store = storeWith({
      accept: async (bundle) => {
        await state.engine.of("mainnet").bundles.accept(bundle);
        throw new SluiceError("OVERLOADED");
      },
    });
    await using first = await open({}, store);
    const bundle = bundleNamed(named());
    await expect(first.accept(bundle)).rejects.toMatchObject({ code: "OVERLOADED" });
    expect(first.liveCount).toBe(0);
    await using pool = await openBundlePool(
      {},
      { store: storeWith({ live: async () => [] }), ...anyChain, ledger, clock: withoutTimers(clock), events },
    );
    const reported: (string | null)[] = [];
    using _ = pool.onChange((record) => reported.push(record.state));
    expect(await pool.accept(bundle)).toMatchObject({ fresh: false, record: { state: "accepted" } });
    expect([reported, pool.liveCount]).toEqual([["accepted"], 1]);
  });
});

describe("steps", () => {
  test("go through the lifecycle, are reported in order, and end in an outcome for the ledger", async () => {
    await using pool = await open();
    const reported: string[] = [];
    using _ = pool.onChange((record, before) => reported.push(`${before} > ${record.state}`));
    const bundle = bundleNamed(named());
    await pool.accept(bundle);
    clock.advance(400);
    expect(await pool.change(bundle.id, included)).toMatchObject({ state: "included", tipSeen: 6_000n });
    expect(await pool.change(bundle.id, expired)).toBeNull();
    expect(await pool.change(bundle.id, { to: "finalized" })).toMatchObject({ state: "finalized" });
    expect(await pool.change(bundle.id, lost)).toBeNull();
    expect(reported).toEqual(["null > accepted", "accepted > included", "included > finalized"]);
    expect(await pool.get(bundle.id)).toMatchObject({ state: "finalized", landed: { slot: 11n }, transactions: [] });
    expect([pool.live(bundle.id), pool.holding(bundle.signatures[0] ?? signatureOf(""))]).toEqual([null, []]);
    await pool.reportOutcomes();
    expect(ledger.rows).toMatchObject([{ id: bundle.id, state: "finalized", landed_slot: 11n, tip_seen: 6_000n }]);
  });

  test("asked for at once are made one after the other, and of several ends one is made", async () => {
    await using pool = await open();
    const reported: string[] = [];
    const bundle = bundleNamed(named());
    await pool.accept(bundle);
    using _ = pool.onChange((record) => reported.push(record.state));
    const results = await Promise.all(
      [included, included, { to: "finalized" } as const, lost, expired].map((change) => pool.change(bundle.id, change)),
    );
    expect(results.map((record) => record?.state ?? null)).toEqual(["included", null, "finalized", null, null]);
    expect(reported).toEqual(["included", "finalized"]);
  });

  test("a listener receives nothing that is not on disk, and one that fails keeps no other from receiving", async () => {
    const onDisk = new Set<string>();
    const { bundles } = state.engine.of("mainnet");
    const store = storeWith({
      accept: async (bundle) => {
        const result = await bundles.accept(bundle);
        onDisk.add("accepted");
        return result;
      },
      step: async (step) => {
        const result = await bundles.step(step);
        onDisk.add(step.to.state);
        return result;
      },
    });
    await using pool = await open({}, store);
    using _a = pool.onChange(() => {
      throw new Error("a listener's own fault");
    });
    const reported: (readonly [string, boolean])[] = [];
    using _b = pool.onChange((record) => reported.push([record.state, onDisk.has(record.state)]));
    const bundle = bundleNamed(named());
    await pool.accept(bundle);
    await pool.change(bundle.id, included);
    expect(reported).toEqual([
      ["accepted", true],
      ["included", true],
    ]);
    expect(events.faults).toHaveLength(2);
  });

  test("that cannot be written are not reported, and can be asked for again", async () => {
    let isAway = true;
    const store = storeWith({
      step: async (step) => {
        if (isAway) throw new SluiceError("OVERLOADED");
        return state.engine.of("mainnet").bundles.step(step);
      },
    });
    await using pool = await open({}, store);
    const bundle = bundleNamed(named());
    await pool.accept(bundle);
    let reported = 0;
    using _ = pool.onChange(() => (reported += 1));
    await expect(pool.change(bundle.id, included)).rejects.toMatchObject({ code: "OVERLOADED" });
    expect([reported, pool.live(bundle.id)?.state]).toEqual([0, "accepted"]);
    isAway = false;
    expect(await pool.change(bundle.id, included)).toMatchObject({ state: "included" });
  });

  test("whose answer was lost stand: memory takes what the disk holds before anything else is made of it", async () => {
    let losesAnswers = true;
    const store = storeWith({
      step: async (step) => {
        const result = await state.engine.of("mainnet").bundles.step(step);
        if (losesAnswers) throw new SluiceError("OVERLOADED");
        return result;
      },
    });
    await using pool = await open({}, store);
    const [same, other] = [bundleNamed(named()), bundleNamed(named())];
    await pool.accept(same);
    await pool.accept(other);
    await expect(pool.change(same.id, expired)).rejects.toMatchObject({ code: "OVERLOADED" });
    await expect(pool.change(other.id, included)).rejects.toMatchObject({ code: "OVERLOADED" });
    losesAnswers = false;
    const reported: string[] = [];
    using _ = pool.onChange((record, before) => reported.push(`${before} > ${record.state}`));
    expect(await pool.change(same.id, expired)).toMatchObject({ state: "expired" });
    expect(await pool.change(other.id, { to: "dropped", reason: "tip_not_paid" })).toBeNull();
    expect(reported).toEqual(["accepted > expired", "accepted > included"]);
    expect(pool.live(other.id)).toMatchObject({ state: "included", landed: { slot: 11n } });
    expect(await pool.change(other.id, lost)).toMatchObject({ state: "dropped", reason: "fork" });
  });

  test("of one bundle that wait are bounded", async () => {
    await using pool = await open();
    const bundle = bundleNamed(named());
    await pool.accept(bundle);
    const asked = Array.from({ length: poolLimits.waitingMax + 1 }, () => pool.change(bundle.id, included));
    const results = await Promise.allSettled(asked);
    expect(results.filter(({ status }) => status === "rejected")).toHaveLength(1);
    expect(results.at(-1)?.status).toBe("rejected");
    expect(await pool.change(bundle.id, lost)).toMatchObject({ state: "dropped" });
  });
});

describe("what is noted on the way", () => {
  test("an opened envelope is indexed by what it held and is open after a restart", async () => {
    const bundle = bundleNamed(named(), { sealed: Uint8Array.of(1, 2), transactions: [], signatures: [] });
    const content = {
      transactions: [Uint8Array.of(5)],
      signatures: [signatureOf(bundle.id)],
      lastValidBlockHeight: 9n,
    };
    {
      await using pool = await open();
      await pool.accept(bundle);
      const withMore = { ...content, id: "11".repeat(32), tip: 1n };
      const opened = await pool.opened(bundle.id, withMore);
      expect(opened).toMatchObject({ ...content, id: bundle.id, tip: bundle.tip, sealed: null });
      expect(await pool.opened(bundle.id, { ...content, transactions: [] })).toMatchObject(content);
      expect(pool.holding(signatureOf(bundle.id))).toHaveLength(1);
      expect(await pool.opened("00".repeat(32), content)).toBeNull();
    }
    await using pool = await open();
    expect(pool.live(bundle.id)).toMatchObject({ ...content, sealed: null });
    expect(pool.holding(signatureOf(bundle.id))).toHaveLength(1);
  });

  test("forwarded counts are kept over a restart, and what a simulation saw goes with the outcome", async () => {
    const bundle = bundleNamed(named());
    const at = { slot: slotOf(11), leader: addressOf("leader") };
    {
      await using pool = await open();
      await pool.accept(bundle);
      pool.forwarded([bundle.id, "00".repeat(32)], { ...at, slot: slotOf(10) });
      pool.forwarded([bundle.id], at);
      expect(pool.live(bundle.id)?.forwarded).toEqual({ times: 2, ...at });
      await pool.writeForwarded();
      expect((await state.engine.of("mainnet").bundles.get(bundle.id))?.forwarded).toEqual({ times: 2, ...at });
      pool.forwarded([bundle.id], at);
    }
    await using pool = await open();
    expect(pool.live(bundle.id)?.forwarded).toEqual({ times: 3, ...at });
    pool.simulated(bundle.id, { tip: 70n, computeUnits: 900 });
    await pool.change(bundle.id, included);
    pool.simulated(bundle.id, { tip: 1n, computeUnits: 1 });
    expect(pool.live(bundle.id)).toMatchObject({ tipSeen: 6_000n, computeUnits: 900 });
    await pool.change(bundle.id, lost);
    await pool.reportOutcomes();
    expect(ledger.rows).toMatchObject([
      { id: bundle.id, reason: "fork", landed_slot: null, forwarded_times: 3, leader: at.leader, compute_units: 900 },
    ]);
  });

  test("lists show what memory knows and what has ended, newest first", async () => {
    await using pool = await open();
    const searcherId = "acct_lists";
    const bundles = [3, 1, 2].map((ms) => bundleNamed(named(), { searcherId, receivedAt: startMs + ms }));
    for (const bundle of bundles) await pool.accept(bundle);
    const [newest, oldest, middle] = bundles.map(({ id }) => id);
    await pool.change(middle ?? "", expired);
    pool.simulated(newest ?? "", { tip: 70n, computeUnits: 900 });
    const first = await pool.list({ searcherId, limit: 2, cursor: null });
    expect(first.items.map(({ id }) => id)).toEqual([newest ?? "", middle ?? ""]);
    expect(first.items[0]?.tipSeen).toBe(70n);
    const rest = await pool.list({ searcherId, limit: 2, cursor: first.nextCursor });
    expect([rest.items.map(({ id }) => id), rest.nextCursor]).toEqual([[oldest ?? ""], null]);
    const live = await pool.list({ searcherId, state: "accepted", limit: 9, cursor: null });
    expect(live.items.map(({ id }) => id)).toEqual([newest ?? "", oldest ?? ""]);
  });
});

test("those that no block holds are distinguished from the others at each step, sealed ones from open ones", async () => {
  await using pool = await open();
  const bundle = bundleNamed(named());
  const sealed = bundleNamed(named(), { sealed: Uint8Array.of(1), transactions: [], signatures: [] });
  const held = () => ({
    accepted: [...pool.everyAccepted()].map(({ id }) => id),
    sealed: [...pool.everySealed()].map(({ id }) => id),
    live: [...pool.everyLive()].map(({ id }) => id),
  });
  await pool.accept(sealed);
  await pool.accept(bundle);
  expect(held()).toEqual({ accepted: [bundle.id], sealed: [sealed.id], live: [sealed.id, bundle.id] });
  await pool.opened(sealed.id, {
    transactions: [Uint8Array.of(9)],
    signatures: [signatureOf("of a sealed one")],
    lastValidBlockHeight: 9n,
  });
  expect(held()).toEqual({ accepted: [bundle.id, sealed.id], sealed: [], live: [sealed.id, bundle.id] });
  await pool.change(bundle.id, included);
  expect(held()).toEqual({ accepted: [sealed.id], sealed: [], live: [sealed.id, bundle.id] });
  expect([...pool.everyAccepted()]).toEqual([pool.live(sealed.id)].filter((each) => each !== null));
  await pool.change(sealed.id, expired);
  await pool.change(bundle.id, lost);
  expect(held()).toEqual({ accepted: [], sealed: [], live: [] });
});

describe("after a restart", () => {
  test("everything that can still change is there in its state and order, and nothing that has ended", async () => {
    const bundles = Array.from({ length: poolLimits.loadPage + 20 }, (_, index) =>
      bundleNamed(named(), { receivedAt: startMs + index }),
    );
    const before = new Map<string, BundleRecord>();
    {
      await using pool = await open();
      await Promise.all(bundles.map((bundle) => pool.accept(bundle)));
      await Promise.all(bundles.filter((_, index) => index % 3 === 1).map(({ id }) => pool.change(id, included)));
      await Promise.all(bundles.filter((_, index) => index % 3 === 2).map(({ id }) => pool.change(id, expired)));
      for (const record of pool.everyLive()) before.set(record.id, record);
    }
    await using pool = await open();
    expect(events.loaded).toBe(before.size);
    expect([...pool.everyLive()]).toEqual([...before.values()]);
    expect(await pool.change([...before.keys()][1] ?? "", { to: "finalized" })).toMatchObject({ state: "finalized" });
  });

  test("a closed pool refuses, and what was under way when it closed is done", async () => {
    const pool = await open();
    const bundle = bundleNamed(named());
    const [accepting] = [pool.accept(bundle)];
    await pool[Symbol.asyncDispose]();
    expect(await accepting).toMatchObject({ fresh: true });
    await expect(pool.accept(bundleNamed(named()))).rejects.toMatchObject({ code: "OVERLOADED" });
    await expect(pool.change(bundle.id, expired)).rejects.toMatchObject({ code: "OVERLOADED" });
  });
});

describe("outcomes", () => {
  /** Ends that many bundles and gives their ids. */
  async function ended(pool: DurableBundlePool, count: number): Promise<string[]> {
    const bundles = Array.from({ length: count }, () => bundleNamed(named()));
    await Promise.all(bundles.map((bundle) => pool.accept(bundle)));
    for (const { id } of bundles) await pool.change(id, expired);
    return bundles.map(({ id }) => id);
  }
  const idsOf = (): unknown[] => ledger.rows.map((row) => row["id"]);

  test("wait while the ledger is away and are reported once it is back, also by the next process", async () => {
    let ids: string[] = [];
    {
      await using pool = await open();
      ids = await ended(pool, 3);
      ledger.fail = () => new LedgerUnavailableError("it is away");
      await pool.reportOutcomes();
      expect([events.waits, ledger.rows.length]).toEqual([1, 0]);
      clock.advance(700);
      expect(pool.outcomesWaitMs).toBe(700);
    }
    ledger.fail = null;
    await using pool = await open();
    await pool.reportOutcomes();
    expect(idsOf().toSorted()).toEqual(ids.toSorted());
    await pool.reportOutcomes();
    expect(ledger.rows).toHaveLength(3);
    clock.advance(700);
    expect(pool.outcomesWaitMs).toBe(0);
  });

  test("one that the ledger refuses for good is given up and keeps no other from it", async () => {
    await using pool = await open();
    const ids = await ended(pool, 4);
    const bad = ids[2] ?? "";
    ledger.fail = (rows) => (rows.some((row) => row["id"] === bad) ? new LedgerQueryError(27, "cannot parse") : null);
    await pool.reportOutcomes();
    expect(events.refused).toEqual([bad]);
    expect(idsOf().toSorted()).toEqual(ids.filter((id) => id !== bad).toSorted());
    expect(await state.engine.of("mainnet").bundles.unreported(10)).toEqual([]);
  });

  test("reported and not yet settled are reported again, the same to the last column", async () => {
    const store = storeWith({
      markReported: async () => {
        throw new SluiceError("OVERLOADED");
      },
    });
    // Left as by a kill: closing in order would report once more.
    const killed = await open({}, store);
    await ended(killed, 1);
    await killed.reportOutcomes();
    expect([events.faults.length, ledger.rows.length]).toEqual([1, 1]);
    await using pool = await open();
    await pool.reportOutcomes();
    expect(ledger.rows).toHaveLength(2);
    expect(ledger.rows[1]).toEqual(ledger.rows[0] ?? {});
  });

  test("old bundles are forgotten 30 days after their end, and answered as unknown before they are swept", async () => {
    await using pool = await open();
    const [id = ""] = await ended(pool, 1);
    await pool.reportOutcomes();
    clock.advance(engineLimits.keptMs);
    expect(await pool.get(id)).toMatchObject({ state: "expired" });
    clock.advance(1);
    expect(await pool.get(id)).toBeNull();
    expect(await state.engine.of("mainnet").bundles.get(id)).not.toBeNull();
    await pool.forgetOld();
    expect(await state.engine.of("mainnet").bundles.get(id)).toBeNull();
    expect(events.forgotten).toBeGreaterThan(0);
  });
});
