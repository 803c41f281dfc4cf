import { expect, test } from "bun:test";
import { createHash } from "node:crypto";
import { ManualClock } from "@sluice/lib";
import { tipDistributionAddress, tipPrograms } from "@sluice/wire/accounts/tips";
import { decodeAddress } from "@sluice/wire/base58";
import { addressOfBytes } from "@sluice/wire/identifiers";
import type { PoolSample } from "../ledger/index.ts";
import { decimalText } from "./decimal.ts";
import { FiguresSource } from "./figures-source.ts";
import { PoolNode, poolIdentity, tipProgram } from "./testing/pool-node.ts";
import { RecordedEvents } from "./testing/recorded-events.ts";

function open(sample: PoolSample | null = null) {
  const node = new PoolNode();
  const events = new RecordedEvents();
  const clock = new ManualClock(1_790_000_100_000);
  const asked: bigint[] = [];
  const source = new FiguresSource(poolIdentity, {
    ...{ chain: node.chain, clock, events },
    sampleBefore: async (updatedIn) => {
      asked.push(updatedIn);
      return sample;
    },
  });
  return { node, events, clock, asked, source };
}

/** 10,000 lamports of 1,199,990,000 in an epoch of two days, and in four of them. */
const inOneEpoch = (((1_200_000_000 / 1_199_990_000) ** (31_557_600 / 172_800) - 1) * 100).toFixed(6);
const inFourEpochs = (((1_200_000_000 / 1_199_990_000) ** (31_557_600 / 691_200) - 1) * 100).toFixed(6);
const shown = (units: bigint): string => Number(decimalText({ units, places: 6 })).toFixed(6);

test("growth of epochs whose updates were missed is that of all of them, and tips are of the last one", async () => {
  const { asked, node, source } = open();
  const { figures: one } = await source.read();
  expect([shown(one.apy.total.units), asked]).toEqual([inOneEpoch, [node.updatedIn]]);
  const found = { lamports: 1_199_990_000n, tokens: 1_000_000_000n };
  const missed = open({ atMs: 0, slot: 5n, epoch: 9n, updatedIn: 6n, ...found });
  const { figures, facts } = await missed.source.read();
  expect(facts?.counted).toEqual({ epochs: 4n, seconds: 691_200, from: "sample" });
  expect(shown(figures.apy.total.units)).toBe(inFourEpochs);
  expect(figures.apy.mev.units).toBe(one.apy.mev.units);
  expect(figures.apy.base.units + figures.apy.mev.units).toBe(figures.apy.total.units);
});

test("a length of several epochs that nodes no longer tell is that of the last one, as often", async () => {
  const found = { lamports: 1_199_990_000n, tokens: 1_000_000_000n };
  const { node, source } = open({ atMs: 0, slot: 5n, epoch: 9n, updatedIn: 6n, ...found });
  node.firstAvailable = 8n * 432_000n + 1n;
  expect((await source.read()).facts?.counted.seconds).toBe(691_200);
});

test("without what the epoch brought rates are not known at first, and afterwards those of before", async () => {
  const { node, events, clock, source } = open();
  node.refused.add("getVoteAccounts");
  const first = await source.read();
  expect([first.facts, first.figures.rating, first.figures.apy.total.units]).toEqual([null, "unknown", 0n]);
  expect(first.figures.validators.map(({ rating }) => rating)).toEqual(["unknown"]);
  expect(events.failures.map(([what]) => what)).toEqual(["epoch"]);
  node.refused.clear();
  const { figures: known, epochSeconds } = await source.read();
  expect([known.rating, epochSeconds, known.validators[0]?.rating]).toEqual(["counted", 172_800, "counted"]);
  // The next epoch.
  node.updatedIn += 1n;
  node.refused.add("getVoteAccounts");
  clock.advance(700_000);
  const kept = await source.read();
  expect([kept.facts, kept.figures.rating, kept.epochSeconds]).toEqual([null, "kept", 172_800]);
  expect(kept.figures.apy).toEqual(known.apy);
  const [validator] = kept.figures.validators;
  expect(validator).toEqual({ ...known.validators[0], rating: "kept" } as never);
});

test("rewards that no node tells are those told before of the same epoch, and are asked for again in a minute", async () => {
  const { node, clock, source } = open();
  node.refused.add("getInflationReward");
  const first = await source.read();
  expect([first.figures.rating, first.figures.validators[0]?.rating]).toEqual(["counted", "unknown"]);
  expect(first.facts?.validators.values().next().value?.inflation).toBe("unknown");
  node.refused.clear();
  clock.advance(59_999);
  expect((await source.read()).figures.validators[0]?.rating).toBe("unknown");
  clock.advance(1);
  const told = await source.read();
  expect([told.figures.validators[0]?.rating, told.figures.validators[0]?.apy.units !== 0n]).toEqual(["counted", true]);
  node.refused.add("getInflationReward");
  clock.advance(600_000);
  const again = await source.read();
  expect(again.figures.validators).toEqual(told.figures.validators);
});

test("a stake without a reward has earned its tips alone, which is known", async () => {
  const { node, source } = open();
  node.reward = null;
  const { figures, facts } = await source.read();
  expect(facts?.validators.values().next().value?.inflation).toBe("none");
  expect(figures.validators[0]).toMatchObject({ rating: "counted", apy: { units: 0n } });
});

test("tips are those of the configured program's account alone", async () => {
  const { node, source } = open();
  const [vote] = (await source.read()).snapshot?.validators ?? [];
  const derived = tipDistributionAddress(
    { vote: decodeAddress(vote?.voteAccount ?? "") ?? new Uint8Array(32), epoch: node.updatedIn - 1n },
    decodeAddress(tipProgram) ?? new Uint8Array(32),
    (bytes) => new Uint8Array(createHash("sha256").update(bytes).digest()),
  );
  for (const [owner, tips] of [
    [tipPrograms.distribution, 0n],
    [tipProgram, 1_000n],
  ] as const) {
    const other = open();
    other.node.tips.set(addressOfBytes(derived.bytes), { owner, tips: 1_000n });
    const { facts } = await other.source.read();
    expect(facts?.validators.values().next().value?.tips).toBe(tips);
  }
});
