import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ManualClock, systemClock, systemRandom } from "@sluice/lib";
import { openLedger } from "../../ledger/index.ts";
import { openState } from "../../state/index.ts";
import { openBundlePool } from "./bundle-pool.ts";
import { outcomeRow } from "./outcome-reporter.ts";
import { addressOf, anyChain, bundleNamed, SeenEvents, slotOf, startMs, withoutTimers } from "./testing/bundles.ts";

const log = { debug: () => {}, info: () => {}, warn: () => {}, error: () => {} };

test("every column of an outcome is in the ledger as it was in the pool, and reporting it again changes no figure", async () => {
  const directory = mkdtempSync(join(tmpdir(), "sluice-outcomes-"));
  try {
    const clock = new ManualClock(startMs);
    await using ledger = await openLedger(
      { directory: join(directory, "ledger"), clickhouseUrl: null, cluster: null },
      { clock: systemClock, log },
    );
    await using state = await openState(
      { directory: join(directory, "state"), databaseUrl: null },
      { clock, random: systemRandom, log },
    );
    const events = new SeenEvents();
    const store = state.engine.of("mainnet").bundles;
    await using pool = await openBundlePool({}, { store, ...anyChain, ledger, clock: withoutTimers(clock), events });
    const landed = bundleNamed("landed", { targetSlot: slotOf(11) });
    const lost = bundleNamed("lost", { searcherId: `pubkey:${addressOf("searcher")}`, tip: 2n ** 62n });
    await Promise.all([landed, lost].map((bundle) => pool.accept(bundle)));
    clock.advance(700);
    pool.forwarded([landed.id], { slot: slotOf(11), leader: addressOf("leader") });
    pool.simulated(landed.id, { tip: 1n, computeUnits: 4_321 });
    await pool.change(landed.id, { to: "included", slot: slotOf(11), blockhash: "hash", index: 0, tip: 7_000n });
    await pool.change(landed.id, { to: "finalized" });
    await pool.change(lost.id, { to: "dropped", reason: "tip_not_paid" });
    const unreported = await store.unreported(10);
    const [reported] = unreported.filter(({ id }) => id === landed.id).map((bundle) => outcomeRow("mainnet", bundle));
    expect(unreported.filter(({ id }) => id === lost.id).map((bundle) => outcomeRow("mainnet", bundle))).toMatchObject([
      { account_id: "", reason: "tip_not_paid", landed_slot: null, leader: "", forwarded_times: 0 },
    ]);
    await pool.reportOutcomes();
    expect(events.faults).toEqual([]);
    const columns =
      "* EXCEPT (batch), toUnixTimestamp64Milli(at) AS at_ms, toUnixTimestamp64Milli(accepted_at) AS accepted";
    const [row] = await ledger.query<Record<string, unknown>>(
      `SELECT ${columns} FROM bundle_outcomes WHERE id = {id:String}`,
      { id: landed.id },
    );
    expect(row).toMatchObject({
      searcher_id: "acct_1",
      account_id: "acct_1",
      door: "grpc",
      mev_type: "arbitrage",
      state: "finalized",
      reason: "",
      tip: "5000",
      tip_seen: "7000",
      compute_units: "4321",
      signatures: [...landed.signatures],
      target_slot: "11",
      landed_slot: "11",
      leader: addressOf("leader"),
      forwarded_times: 1,
      at_ms: String(startMs + 700),
      accepted: String(startMs),
    });
    const named = Object.keys(row ?? {}).filter((name) => name !== "at_ms" && name !== "accepted");
    expect(named.toSorted()).toEqual(Object.keys(reported ?? {}).toSorted());
    const question = {
      network: "mainnet",
      fromMs: startMs,
      untilMs: startMs + 1_000,
      searcherId: null,
      mevType: null,
    } as const;
    const figures = await ledger.bundles.figures(question);
    expect(figures).toMatchObject({ ended: 2, landed: 1, tips: 7_000n, tipsLost: 2n ** 62n, landingRate: 0.5 });
    await ledger.insert("bundle_outcomes", [reported ?? {}]);
    expect(await ledger.bundles.figures(question)).toEqual(figures);
  } finally {
    rmSync(directory, { recursive: true });
  }
});

test("two networks' pools of one database that hold the same bundle tell each its own end, by network and chain", async () => {
  const clock = new ManualClock(startMs);
  const directory = mkdtempSync(join(tmpdir(), "sluice-outcomes-"));
  using _removed = { [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }) };
  await using state = await openState({ directory, databaseUrl: null }, { clock, random: systemRandom, log });
  const reported: unknown[] = [];
  const ledger = { insert: async (_table: string, rows: readonly unknown[]) => void reported.push(...rows) };
  const open = (network: "devnet" | "testnet") => {
    const store = state.engine.of(network).bundles;
    const dependencies = { store, network, genesis: () => `genesis of ${network}`, ledger, clock };
    return openBundlePool({}, { ...dependencies, events: new SeenEvents() });
  };
  const [devnet, testnet] = [await open("devnet"), await open("testnet")];
  const bundle = bundleNamed("in both");
  for (const pool of [devnet, testnet]) expect(await pool.accept(bundle)).toMatchObject({ fresh: true });
  await devnet.change(bundle.id, { to: "dropped", reason: "tip_not_paid" });
  expect(testnet.live(bundle.id)).toMatchObject({ state: "accepted", chain: "genesis of testnet" });
  await devnet[Symbol.asyncDispose]();
  await testnet.change(bundle.id, { to: "expired", reason: "blockhash_expired" });
  await testnet[Symbol.asyncDispose]();
  expect(reported).toMatchObject([
    { id: bundle.id, network: "devnet", chain: "genesis of devnet", state: "dropped" },
    { id: bundle.id, network: "testnet", chain: "genesis of testnet", state: "expired" },
  ]);
});

test("a pool that is closed in order leaves no outcome to the next one", async () => {
  const clock = new ManualClock(startMs);
  const directory = mkdtempSync(join(tmpdir(), "sluice-outcomes-"));
  using _removed = { [Symbol.dispose]: () => rmSync(directory, { recursive: true, force: true }) };
  await using state = await openState({ directory, databaseUrl: null }, { clock, random: systemRandom, log });
  const store = state.engine.of("mainnet").bundles;
  const reported: unknown[] = [];
  const ledger = { insert: async (_table: string, rows: readonly unknown[]) => void reported.push(...rows) };
  const pool = await openBundlePool({}, { store, ...anyChain, ledger, clock, events: new SeenEvents() });
  const bundle = bundleNamed("dropped");
  await pool.accept(bundle);
  await pool.change(bundle.id, { to: "dropped", reason: "tip_not_paid" });
  expect(reported).toEqual([]);
  await pool[Symbol.asyncDispose]();
  expect(reported).toMatchObject([{ id: bundle.id, state: "dropped" }]);
  expect(await store.unreported(10)).toEqual([]);
});
