import { expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import { poolFigures } from "./figures.ts";
import type { ReadFigures } from "./figures-source.ts";
import { PoolSampler } from "./sampler.ts";
import { KeptRows } from "./testing/kept-rows.ts";
import { playedPool } from "./testing/played-pool.ts";
import { RecordedEvents } from "./testing/recorded-events.ts";

const of = { network: "devnet", chain: "genesis", pool: "pool" } as const;
const startMs = 1_790_000_000_000;

/** The played pool after deposits of so many lamports. */
function pool(deposited: bigint): ReadFigures {
  const { snapshot, facts, ...read } = playedPool();
  const grown = { ...snapshot, pool: { ...snapshot.pool, totalLamports: snapshot.pool.totalLamports + deposited } };
  return { ...read, snapshot: grown, facts, figures: poolFigures(grown, { facts, names: new Map(), kept: null }) };
}

/** A ledger, and processes that sample into it one after the other. */
class World {
  readonly clock = new ManualClock(startMs + 120_000);
  readonly events = new RecordedEvents();
  readonly rows = new KeptRows();
  present: ReadFigures = pool(0n);
  hasNode = true;
  readings = 0;

  start(): PoolSampler {
    const read = async () => {
      this.readings += 1;
      return this.present;
    };
    const { clock, events, rows } = this;
    const dependencies = { read, clock, events, ledger: rows.ledger, sampled: () => of };
    return new PoolSampler({ everyMs: 60_000 }, { ...dependencies, hasNode: () => this.hasNode });
  }
}

const totals = ({ rows }: World): readonly (readonly [number, bigint])[] =>
  rows.samples.map(({ at, total_lamports: lamports }) => [at - startMs, lamports]);

test("who begins again in the same epoch leaves the samples of its start, of its end before and of the ten minutes", async () => {
  const world = new World();
  const first = world.start();
  await first.look();
  await first[Symbol.asyncDispose]();
  const before = totals(world);
  // 1,790,000,000 is two hundred seconds after a regular moment.
  expect(before).toEqual([
    [-1_000, 1_199_990_000n],
    [0, 1_200_000_000n],
    [-200_000, 1_200_000_000n],
  ]);
  world.present = pool(77n);
  const second = world.start();
  await second.look();
  expect(totals(world)).toEqual(before);
  expect(world.rows.tables.get("pool_validator_samples")).toHaveLength(1);
  expect(world.events.samples).toEqual(["epoch", "regular"]);
  world.clock.advance(600_000);
  // One that began on the way, and one of now.
  await second.look();
  await second.look();
  expect(totals(world).slice(3)).toEqual([[400_000, 1_200_000_077n]]);
  await second[Symbol.asyncDispose]();
  expect(world.events.failures).toEqual([]);
});

test("an epoch that begins at a regular moment is sampled also where that moment has a sample of before the update", async () => {
  const world = new World();
  const old = { ...pool(0n), at: startMs };
  await world.rows.ledger.insert("pool_samples", [
    { at: startMs, slot: 1n, epoch: 2n, last_update_epoch: 1n, total_lamports: 5n, token_supply: 5n },
  ]);
  world.present = old;
  const sampler = world.start();
  await sampler.look();
  expect(totals(world).filter(([at]) => at === 0)).toEqual([
    [0, 5n],
    [0, 1_200_000_000n],
  ]);
  await sampler[Symbol.asyncDispose]();
});

test("before there is a node nothing is read and nothing is told, and a node is seen a second later", async () => {
  const world = new World();
  world.hasNode = false;
  const sampler = world.start();
  await sampler.look();
  world.clock.advance(5_000);
  await sampler.look();
  expect([world.readings, world.events.failures, world.rows.samples]).toEqual([0, [], []]);
  world.hasNode = true;
  world.clock.advance(1_000);
  for (let turn = 0; turn < 50; turn += 1) await Promise.resolve();
  expect([world.readings, world.rows.samples.length]).toEqual([1, 3]);
  await sampler[Symbol.asyncDispose]();
  expect(world.clock.pendingTimers).toBe(0);
});

test("what fails is tried again at the next look, and a sample without what the epoch brought has no rate", async () => {
  const world = new World();
  world.rows.error = new Error("away");
  const sampler = world.start();
  await sampler.look();
  expect(world.events.failures.map(([what]) => what)).toEqual(["samples"]);
  world.rows.error = null;
  const { snapshot, figures } = pool(0n);
  if (snapshot === null) throw new Error("the played pool is there");
  const kept = poolFigures(snapshot, { facts: null, names: new Map(), kept: figures });
  world.present = { ...pool(0n), facts: null, figures: kept };
  await sampler.look();
  expect(kept.apy.total.units).toBeGreaterThan(0n);
  expect(world.rows.samples).toMatchObject([{ at: startMs - 200_000, apy: 0n, mev_apy: 0n, epoch_ms: 0, epochs: 0n }]);
  world.present = pool(0n);
  await sampler.look();
  expect(world.events.samples).toEqual(["regular", "epoch"]);
  expect(world.rows.samples.at(-1)).toMatchObject({ epoch_ms: 172_800_000, epochs: 1n, counted_ms: 172_800_000 });
  await sampler[Symbol.asyncDispose]();
});
