import { afterAll, beforeAll, expect, test } from "bun:test";
import { ManualClock, seededRandom } from "@sluice/lib";
import { decodeStakePool } from "@sluice/wire/accounts/stake-pool";
import type { PoolValidator } from "@sluice/wire/accounts/validator-list";
import { type Address, addressOfBytes } from "@sluice/wire/identifiers";
import { openTestLedger } from "../history/testing/stand.ts";
import type { Ledger } from "../ledger/index.ts";
import { decimalText } from "./decimal.ts";
import { poolFigures } from "./figures.ts";
import type { ReadFigures } from "./figures-source.ts";
import { changesOf, chartPoints, PoolHistory } from "./history.ts";
import { PoolSampler } from "./sampler.ts";
import type { EpochFacts, PoolSnapshot, ValidatorEpoch } from "./snapshot.ts";
import { KeptRows } from "./testing/kept-rows.ts";
import { RecordedEvents } from "./testing/recorded-events.ts";

/**
 * A hundred epochs of known rewards, commissions and tips, sampled by two processes, beside a computation of its own in
 * plain arithmetic: products of fractions of whole numbers, no logarithm, no code of the room.
 */
const epochs = 100;
const epochSeconds = 7_200;
const yearSeconds = 365.25 * 86_400;
const startMs = Date.UTC(2026, 9, 1);
const address = (index: number): Address => addressOfBytes(new Uint8Array(32).fill(index));
const blank = decodeStakePool(new Uint8Array(611).with(0, 1));
const of = { network: "devnet", chain: "genesis", pool: address(1) } as const;
const validatorCount = 7;

interface PlayedEpoch {
  readonly read: ReadFigures;
  readonly startMs: number;
  readonly lamports: bigint;
  readonly tokens: bigint;
  /** In percent, by the computation beside. */
  readonly apy: number;
  readonly mevApy: number;
  /** Of each validator, in the order of the list. */
  readonly validators: readonly { readonly apy: number; readonly score: number }[];
}

/** What a growth of an epoch makes in a year, in percent: by the binomial series, without a function of the runtime. */
function yearly(after: bigint, before: bigint): number {
  const grown = Number(((after - before) * 10n ** 30n) / before) / 1e30;
  let term = 1;
  let sum = 0;
  for (let power = 1; power <= 60; power += 1) {
    term *= ((yearSeconds / epochSeconds - power + 1) / power) * grown;
    sum += term;
  }
  return sum * 100;
}

function play(seed: number): readonly PlayedEpoch[] {
  if (blank === null) throw new Error("a pool of zeros is a pool");
  const random = seededRandom(seed);
  const draw = (max: number): bigint => BigInt(Math.floor(random.next() * max));
  let lamports = 1_000_000_000_000_000n;
  let tokens = 950_000_000_000_000n;
  const played: PlayedEpoch[] = [];
  for (let epoch = 1; epoch <= epochs; epoch += 1) {
    const before = { lamports, tokens };
    const each = lamports / BigInt(validatorCount);
    const facts = new Map<Address, ValidatorEpoch>();
    const validators: PoolValidator[] = [];
    let poolTips = 0n;
    const earned: { readonly paid: bigint; readonly tips: bigint; readonly kept: bigint; readonly stake: bigint }[] =
      [];
    for (let index = 0; index < validatorCount; index += 1) {
      const vote = address(10 + index);
      const tips = draw(90_000_000_000);
      const commission = Number(draw(10_001));
      const totalStake = each * (2n + draw(5));
      // What the validator leaves, in whole lamports, and of that the pool's part.
      const kept = (tips * BigInt(commission)) / 10_000n;
      poolTips += ((tips - kept) * each) / totalStake;
      const paid = 1_000_000n + draw(100_000_000);
      earned.push({ paid, tips: ((tips - kept) * each) / totalStake, kept: tips - kept, stake: totalStake });
      facts.set(vote, {
        vote,
        identity: null,
        commissionBasisPoints: 500,
        totalStake,
        tipAccount: address(100),
        tips,
        tipCommissionBasisPoints: commission,
        stakeAccount: address(101),
        inflation: { paid, before: each },
      });
      validators.push({
        activeStakeLamports: each,
        transientStakeLamports: 0n,
        lastUpdateEpoch: BigInt(epoch),
        transientSeedSuffix: 0n,
        validatorSeedSuffix: 0,
        status: "active",
        voteAccount: vote,
      });
    }
    const reward = lamports / 60_000n + poolTips + draw(1_000_000);
    lamports += reward;
    // The manager's twentieth of the reward, in tokens.
    const fee = reward / 20n;
    tokens += (tokens * fee) / (lamports - fee);
    const pool = {
      ...blank,
      totalLamports: lamports,
      poolTokenSupply: tokens,
      lastUpdateEpoch: BigInt(epoch),
      epochFee: { numerator: 1n, denominator: 20n },
      lastEpochTotalLamports: before.lamports,
      lastEpochPoolTokenSupply: before.tokens,
    };
    const epochStartMs = startMs + epoch * epochSeconds * 1_000;
    const seconds = BigInt(epochStartMs / 1_000);
    const snapshot: PoolSnapshot = {
      address: address(1),
      program: address(2),
      slot: BigInt(epoch * 1_000 + 5),
      epoch: BigInt(epoch),
      unixTimestamp: seconds + 2n,
      epochStartTimestamp: seconds,
      schedule: { slotsPerEpoch: 1_000n, firstNormalEpoch: 0n, firstNormalSlot: 0n },
      pool,
      decimals: 9,
      validators,
    };
    const epochFacts: EpochFacts = {
      epoch: BigInt(epoch - 1),
      length: { seconds: epochSeconds, from: "blocks" },
      counted: { epochs: 1n, seconds: epochSeconds, from: "sample" },
      validators: facts,
    };
    const afterFee = poolTips - (poolTips + 19n) / 20n;
    played.push({
      read: {
        snapshot,
        facts: epochFacts,
        figures: poolFigures(snapshot, { facts: epochFacts, names: new Map(), kept: null }),
        epochSeconds,
        atMs: epochStartMs + 2_000,
      },
      startMs: epochStartMs,
      lamports,
      tokens,
      apy: yearly(lamports * before.tokens, before.lamports * tokens),
      mevApy: yearly(before.lamports + afterFee, before.lamports),
      validators: earned.map(({ paid, tips, kept, stake }) => {
        // Tips for each lamport of stake beside those of all validators together.
        const own = Number(kept) / Number(stake);
        const all = earned.reduce((sum, of) => sum + Number(of.kept), 0);
        const staked = earned.reduce((sum, of) => sum + Number(of.stake), 0);
        return { apy: yearly(each + paid + tips, each), score: (100 * own) / (own + all / staked) };
      }),
    });
  }
  return played;
}

const played = play(20_261_127);
let ledger: Ledger;
const samples: string[] = [];

beforeAll(async () => {
  ledger = await openTestLedger();
  let present = played[0]?.read;
  const read = async (): Promise<ReadFigures> => {
    if (present === undefined) throw new Error("nothing was played");
    return present;
  };
  // Rows are kept until the end: a hundred epochs are a few inserts then.
  const rows = new KeptRows();
  const events = new RecordedEvents();
  const timed = new ManualClock(startMs);
  const processes: PoolSampler[] = [];
  for (let process = 0; process < 2; process += 1) {
    const sampler = new PoolSampler(
      { everyMs: 3_600_000_000 },
      { hasNode: () => true, read, sampled: () => of, ledger: rows.ledger, clock: timed, events },
    );
    await sampler.look();
    processes.push(sampler);
  }
  for (const epoch of played) {
    present = epoch.read;
    timed.advance(epoch.startMs + 2_000 - timed.now());
    for (const process of processes) await process.look();
  }
  samples.push(...events.samples);
  expect(events.failures).toEqual([]);
  for (const [table, added] of rows.tables) await ledger.insert(table, added);
  for (const process of processes) await process[Symbol.asyncDispose]();
}, 60_000);
afterAll(async () => {
  await ledger[Symbol.asyncDispose]();
});

const percent = (value: number): string => value.toFixed(6);

test("each epoch's yearly rates are those of the computation beside, to the last digit shown", () => {
  for (const { read, apy, mevApy } of played) {
    const { total, base, mev } = read.figures.apy;
    expect(Number(decimalText(total)).toFixed(6)).toBe(percent(apy));
    expect(Number(decimalText(mev)).toFixed(6)).toBe(percent(mevApy));
    expect(base.units).toBe(total.units - mev.units);
  }
});

test("each validator's yearly rate, commission, score and stake are those of the computation beside", () => {
  for (const { read, validators } of played) {
    expect(read.figures.validators).toHaveLength(validatorCount);
    for (const [index, { apy, commission, mevScore, stake }] of read.figures.validators.entries()) {
      const expected = validators[index];
      expect(Number(decimalText(apy)).toFixed(6)).toBe(percent(expected?.apy ?? Number.NaN));
      expect(Number(decimalText(mevScore)).toFixed(2)).toBe((expected?.score ?? Number.NaN).toFixed(2));
      expect(decimalText(commission)).toBe("5");
      expect(stake).toBe(read.snapshot?.validators[index]?.activeStakeLamports ?? 0n);
    }
  }
});

test("two processes that looked at everything wrote each sample once", async () => {
  expect(samples.filter((kind) => kind === "epoch")).toHaveLength(epochs);
  const [row] = await ledger.query<{ n: string; validators: string }>(
    "SELECT count() AS n, (SELECT count() FROM pool_validator_samples FINAL) AS validators FROM " +
      "(SELECT DISTINCT last_update_epoch FROM pool_samples FINAL WHERE last_update_epoch > 0)",
  );
  expect(row).toEqual({ n: String(epochs), validators: String(epochs * validatorCount) });
  const moments = await ledger.query<{ at: string }>("SELECT toString(at) AS at FROM pool_samples FINAL ORDER BY at");
  expect(new Set(moments.map(({ at }) => at)).size).toBe(moments.length);
  const rates = await ledger.poolSamples.rates(of, 0);
  expect(rates.map(({ epoch }) => Number(epoch))).toEqual(played.map((_, index) => epochs - 1 - index));
  expect(rates[0]).toMatchObject({ apy: played.at(-1)?.read.figures.apy.total.units });
});

test("the end of each epoch before is there, as the pool's next update found it, and has no rate", async () => {
  const rows = await ledger.query<Record<"ms" | "epoch" | "lamports" | "tokens" | "apy", string>>(
    "SELECT toUnixTimestamp64Milli(at) AS ms, epoch, total_lamports AS lamports, token_supply AS tokens, apy " +
      "FROM pool_samples FINAL WHERE last_update_epoch = 0 ORDER BY at",
  );
  const before = [{ lamports: 1_000_000_000_000_000n, tokens: 950_000_000_000_000n }, ...played.slice(0, -1)];
  expect(rows).toEqual(
    played.map(({ startMs: at }, index) => ({
      ms: String(at - 1_000),
      epoch: String(index),
      lamports: String(before[index]?.lamports),
      tokens: String(before[index]?.tokens),
      apy: "0",
    })),
  );
});

test("the sample before each of many moments is the last one, as far as it is young enough", async () => {
  const moments = [0, ...played.map(({ startMs: at }) => at + 1_500)];
  const found = await ledger.poolSamples.before(of, moments, 3_600_000);
  expect(found.has(0)).toBe(false);
  expect(played.map(({ startMs: at }) => found.get(at + 1_500))).toEqual(
    played.map(({ startMs: at, lamports, tokens, read }) => {
      const { slot = 0n, epoch = 0n } = read.snapshot ?? {};
      return { atMs: at, slot, epoch, updatedIn: epoch, lamports, tokens };
    }),
  );
  const late = (played.at(-1)?.startMs ?? 0) + 3_600_001;
  expect(await ledger.poolSamples.before(of, [late], 3_600_000)).toEqual(new Map());
  expect(await ledger.poolSamples.before({ ...of, chain: "other" }, moments, 3_600_000)).toEqual(new Map());
});

test("averages, changes and charts are those of the samples, computed beside", async () => {
  const last = played.at(-1);
  if (last === undefined) throw new Error("nothing was played");
  const nowMs = last.startMs + 60_000;
  const history = new PoolHistory({ samples: ledger.poolSamples, clock: new ManualClock(nowMs) });
  const past = await history.past(of);
  const { averages, sinceMs } = past;
  const changes = changesOf(past, last.read.figures);
  expect(sinceMs).toBeLessThanOrEqual(played[0]?.startMs ?? 0);
  const within = (days: number) => played.filter((each) => each.startMs >= nowMs - days * 86_400_000);
  for (const [days, average] of [
    [7, averages.days7],
    [30, averages.days30],
  ] as const) {
    const known = within(days).map(({ read }) => read.figures.apy.total.units);
    const sum = known.reduce((all, each) => all + each, 0n);
    expect(average.units).toBe((sum * 2n + BigInt(known.length)) / (2n * BigInt(known.length)));
  }
  for (const [days, change] of [
    [1, changes.rate24h],
    [7, changes.rate7d],
  ] as const) {
    const before = played.findLast((each) => each.startMs <= nowMs - days * 86_400_000);
    if (before === undefined) throw new Error("the replay is too short");
    const grown =
      Number(
        ((last.lamports * before.tokens - before.lamports * last.tokens) * 10n ** 20n) /
          (before.lamports * last.tokens),
      ) / 1e18;
    expect(Number(decimalText(change)).toFixed(6)).toBe(percent(grown));
  }
  // A hundred epochs of two hours are eight days and a third.
  expect(changes.rate30d.units).toBe(0n);
  const shown = { figures: last.read.figures, nowMs };
  const points = chartPoints(await history.days(of, { chart: "tvl", periodMs: null }), { ...shown, chart: "tvl" });
  const days = [...new Set(played.map((each) => new Date(each.startMs).toISOString().slice(0, 10)))];
  expect(points.map(({ timestamp }) => String(timestamp))).toEqual(days);
  for (const [index, day] of days.entries()) {
    const ofDay = played.findLast((each) => new Date(each.startMs).toISOString().startsWith(day));
    expect(points[index]).toMatchObject({ value: { units: ofDay?.lamports, places: 9 } });
  }
  const week = await history.days(of, { chart: "apy", periodMs: 7 * 86_400_000 });
  const rates = chartPoints(week, { ...shown, chart: "apy" });
  expect(rates.length).toBeLessThanOrEqual(8);
  expect(rates.at(-1)).toMatchObject({ value: last.read.figures.apy.total });
});

test("another pool, another chain and another network have no past", async () => {
  for (const other of [
    { ...of, pool: address(3) },
    { ...of, chain: "other" },
    { ...of, network: "testnet" as const },
  ]) {
    expect(await ledger.poolSamples.firstAtMs(other)).toBeNull();
    expect(await ledger.poolSamples.rates(other, 0)).toEqual([]);
    expect(await ledger.poolSamples.days(other, 0, "all")).toEqual([]);
  }
});
