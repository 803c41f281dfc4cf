import { expect, test } from "bun:test";
import type { PoolSample } from "../ledger/index.ts";
import { updateBefore } from "./missed-updates.ts";
import { playedPool } from "./testing/played-pool.ts";

const { snapshot } = playedPool();
const pool = { ...snapshot.pool, lastUpdateEpoch: 10n };
const found = { lamports: pool.lastEpochTotalLamports, tokens: pool.lastEpochPoolTokenSupply };
const sample = (updatedIn: bigint, changes: Partial<PoolSample> = {}): PoolSample => ({
  ...{ atMs: 0, slot: 5n, epoch: updatedIn, updatedIn, ...found },
  ...changes,
});

test("a sample of the epoch before names its update, whatever was deposited after it", () => {
  expect(updateBefore({ pool }, sample(9n))).toBe(9n);
  expect(updateBefore({ pool }, sample(9n, { lamports: 1n }))).toBe(9n);
});

test("an older sample names the update before where the pool was found as the sample has it", () => {
  expect(updateBefore({ pool }, sample(6n, { epoch: 9n }))).toBe(6n);
  expect(updateBefore({ pool }, sample(6n))).toBe(6n);
  for (const changed of [{ lamports: found.lamports + 1n }, { tokens: found.tokens - 1n }]) {
    expect(updateBefore({ pool }, sample(6n, changed))).toBeNull();
  }
});

test("without a sample, and of one that is of no update before, nothing is known", () => {
  for (const none of [null, sample(0n), sample(10n), sample(11n)]) expect(updateBefore({ pool }, none)).toBeNull();
});
