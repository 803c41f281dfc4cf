import { expect, test } from "bun:test";
import type { BundleGain, LandedBundle } from "../../ledger/index.ts";
import { decimalText, type ExactDecimal, native } from "../decimal.ts";
import { noAverages, poolFigures } from "../figures.ts";
import type { PoolPast } from "../history.ts";
import { basisOf } from "../position/basis.ts";
import { positionFigures } from "../position/position-figures.ts";
import { playedPool } from "../testing/played-pool.ts";
import { noBundles } from "../testing/pool-stand.ts";
import { outcomesPart, profitsPart, typesPart } from "./bundle-parts.ts";
import { apyPart, holdingsPart, ratePart, validatorsPart } from "./chain-parts.ts";
import type { ExplainedPart } from "./explanation.ts";
import { averagesPart, daysPart, rateChangesPart, tvlChangePart } from "./past-parts.ts";
import { positionPart } from "./position-part.ts";

/** The value of an expression as explanations write it, in doubles. */
function computed(expression: string): number {
  const script = expression
    .replaceAll("·", "*")
    .replaceAll("^", "**")
    .replaceAll("floor", "Math.floor")
    .replaceAll("ceil", "Math.ceil");
  if (!/^[\d\s.+*/()-]+$/.test(script.replaceAll(/Math\.(floor|ceil)/g, ""))) return Number.NaN;
  return Number(new Function(`return (${script})`)());
}

/** Steps of the form `name = expression = value`, with what the expression comes to. */
function checked(part: ExplainedPart): { name: string; value: number; comes: number }[] {
  const growth = part.steps.find((line) => line.startsWith("growth = "))?.slice("growth = ".length);
  return part.steps.flatMap((line) => {
    const [name = "", expression = "", value = ""] = line.split(" = ");
    const comes = computed(expression.replaceAll("growth", `(${growth})`));
    return /^-?[\d.]+$/.test(value) && Number.isFinite(comes) ? [{ name, value: Number(value), comes }] : [];
  });
}

function expectArithmetic(part: ExplainedPart, names: readonly string[]): void {
  const steps = checked(part);
  expect(steps.map(({ name }) => name)).toEqual([...names]);
  for (const { name, value, comes } of steps) {
    expect(`${name}: ${Math.abs(value - comes) <= Math.abs(comes) * 1e-9 + 1e-6}`).toBe(`${name}: true`);
  }
  for (const { where, value } of part.inputs) expect([where, value].includes("")).toBe(false);
  expect(part.steps.join("\n")).not.toMatch(/undefined|NaN/);
}

const read = playedPool();
const { snapshot } = read;
const [vote] = snapshot.validators.map(({ voteAccount }) => voteAccount);

test("the expressions of the chain's records come to the values that stand behind them", () => {
  expectArithmetic(holdingsPart(read, snapshot), ["tvl"]);
  expectArithmetic(ratePart(read, snapshot), ["token supply", "exchange rate"]);
  expectArithmetic(apyPart(read, snapshot), ["apy", "mevApy", "baseApy"]);
  expectArithmetic(validatorsPart(read, snapshot), [`stake of ${vote}`, `apy of ${vote}`, `commission of ${vote}`]);
});

test("tips name what the validator keeps, what of the rest is the pool's, and the score beside the average", () => {
  const { steps, inputs } = validatorsPart(read, snapshot);
  // 1,000 tips of which a tenth stays with the validator, half of the rest for the pool.
  expect(steps[0]).toContain("1000 - floor(1000 · 1000 / 10000) = 900, floor(900 · 500000000 / 1000000000) = 450");
  expect(steps.at(-1)).toContain("x = 900 / 1000000000, y = 900 / 1000000000 = 50");
  expect(inputs.map(({ what }) => what)).toContain(`name of ${vote}`);
  expect(apyPart(read, snapshot).steps).toContain(
    "tips of the pool = 450, after its fee 450 - ceil(450 · 1 / 10) = 405",
  );
});

test("rates that are not of the last update say why, and are those of before or not known", () => {
  const { facts } = read;
  const unread = poolFigures(snapshot, { facts: null, names: new Map(), kept: null });
  expect(apyPart({ ...read, facts: null, figures: unread }, snapshot).steps).toEqual([
    "what epoch 1 brought cannot be read now, so that yearly rates are not known and shown as 0",
  ]);
  const unknown = validatorsPart({ ...read, facts: null, figures: unread }, snapshot).steps;
  const kept = poolFigures(snapshot, { facts: null, names: new Map(), kept: read.figures });
  const shown = decimalText(read.figures.apy.total);
  expect(apyPart({ ...read, facts: null, figures: kept }, snapshot).steps[0]).toContain(
    `those that were read before it: apy = ${shown}, mevApy = `,
  );
  for (const figure of ["apy", "commission", "mevScore"]) {
    expect(unknown.join()).toContain(`${figure} of ${vote} is not known and shown as 0`);
    const steps = validatorsPart({ ...read, facts: null, figures: kept }, snapshot).steps.filter((step) =>
      step.startsWith(`${figure} of ${vote} = `),
    );
    expect(steps).toEqual([expect.stringContaining("as it was read before")]);
  }
  const first = { ...snapshot, pool: { ...snapshot.pool, lastUpdateEpoch: 0n } };
  const none = poolFigures(first, { facts: null, names: new Map(), kept: null });
  expect(apyPart({ ...read, facts: null, figures: none }, first).steps.join()).toContain("no epoch");
  const young = { ...snapshot, pool: { ...snapshot.pool, lastEpochTotalLamports: 0n } };
  const fresh = poolFigures(young, { facts, names: new Map(), kept: null });
  expect(apyPart({ ...read, figures: fresh }, young).steps.join()).toContain("says nothing of before");
});

test("an update that counted several epochs, or is only taken for that of one, is said to have", () => {
  const { facts } = read;
  if (facts === null) throw new Error("the played pool has an epoch");
  const counted = { epochs: 3n, seconds: 518_400, from: "sample" } as const;
  const of = (changed: typeof facts) => {
    return {
      ...read,
      facts: changed,
      figures: poolFigures(snapshot, { facts: changed, names: new Map(), kept: null }),
    };
  };
  const missed = apyPart(of({ ...facts, counted }), snapshot);
  expectArithmetic(missed, ["apy", "mevApy", "baseApy"]);
  expect(missed.steps[0]).toBe("the last update counted the 3 epochs up to 1, as updates before it were missed");
  const assumed = apyPart(of({ ...facts, counted: { ...facts.counted, from: "assumed" } }), snapshot);
  expect(assumed.steps[0]).toContain("is taken for that of epoch 1 alone");
});

test("changes and averages name the samples and the epochs that they are of", () => {
  const sample = {
    ...{ atMs: Date.UTC(2026, 10, 19), slot: 5n, epoch: 1n, updatedIn: 1n },
    ...{ lamports: 1_190_000_000n, tokens: 1_000_000_000n },
  };
  const changed = (units: bigint): ExactDecimal => ({ units, places: 6 });
  const past: PoolPast = {
    averages: { ...noAverages, days7: changed(5_000_000n) },
    before: { day: sample, week: null, month: null },
    epochs: {
      days7: [{ epoch: 8n, epochs: 3n, apy: 5_000_000n, mevApy: 0n }],
      days30: [{ epoch: 8n, epochs: 3n, apy: 5_000_000n, mevApy: 0n }],
    },
    sinceMs: 0,
  };
  const changes = rateChangesPart(past, read.figures);
  expectArithmetic(changes, ["rate change in 24h"]);
  expect(changes.inputs[0]?.where).toBe("the sample of 2026-11-19T00:00:00.000Z, read in slot 5");
  expect(changes.steps.slice(1).join()).toMatch(/7d = 0, as no sample.*30d = 0, as no sample/);
  expectArithmetic(tvlChangePart(past, read.figures), ["tvl change in 24h"]);
  expect(tvlChangePart({ ...past, before: { day: null, week: null, month: null } }, read.figures).steps).toHaveLength(
    1,
  );
  const averages = averagesPart(past);
  expect(averages.steps[0]).toBe("apy_7d_avg = the mean of 3 epochs, 6 to 8 = 5");
  expect(averages.inputs).toEqual([
    { what: "apy of the 3 epochs up to 8", where: "its last sample, in percent", value: "5" },
  ]);
  const rate = { apy: 18_264n, lastLamports: 1_199_990_000n, lastTokens: 1_000_000_000n, periodMs: 1_440_000_000 };
  const day = { ...sample, day: "2026-11-19", lamports: 1_200_000_000n, rate };
  expectArithmetic(daysPart("tvl", [day]), ["2026-11-19"]);
  expectArithmetic(daysPart("apy", [day]), ["2026-11-19"]);
});

test("figures of bundles are explained by each bundle, and say where the newest alone are listed", () => {
  const bundles: LandedBundle[] = [{ id: "a", mevType: "jit", slot: 5n, tip: 7n }];
  const figures = { ...noBundles, ended: 2, landed: 1, tips: 7n };
  const outcomes = outcomesPart("7d", figures, bundles);
  expect(outcomes.inputs.map(({ what, where, value }) => `${what}: ${where}: ${value}`)).toEqual([
    "tip of a bundle (jit): a in slot 5: 7",
  ]);
  expect(outcomes.steps).toEqual([
    "tips in 7d = 7 lamports of 1 bundles that landed",
    "tip of one = 7 / 1 = 7",
    "landing rate = 1 / 2 that ended = 0.5",
  ]);
  expect(outcomesPart("7d", { ...figures, ended: 9, landed: 8 }, bundles).steps[0]).toContain("newest 1 of 8");
  const types = typesPart([{ ...figures, mevType: "jit" }], bundles);
  expect(types.steps.find((line) => line.startsWith("JIT"))).toContain(
    "1 bundles, 7 lamports = 0.000000007, 7 / 7 · 100 = 100",
  );
  const gains: BundleGain[] = [{ id: "a", slot: 5n, gained: -9n, fees: 3n, tip: 7n }];
  const profits = profitsPart({ bundles: 1n, gained: -9n, fees: 3n, tips: 7n }, gains);
  expect(profits.inputs.map(({ value }) => value)).toEqual(["-9", "3", "7"]);
  expectArithmetic(profits, ["netProfit", "totalCost", "totalRevenue", "avgProfitPerBundle"]);
});

test("a position is explained by its movements, what they cost, and what the tokens are worth", () => {
  const atMs = Date.UTC(2026, 10, 1);
  const movement = {
    ...{ signature: "s1", slot: 4n, atMs, rate: null },
    changes: [{ account: "a", before: 0n, after: 100_000_000n }],
    deposited: { tokens: 100_000_000n, lamports: 110_000_000n },
  };
  const basis = basisOf([movement], 100_000_000n);
  const nowMs = atMs + 86_400_000 * 90;
  const asked = { nowMs, epochSeconds: 172_800 };
  const figures = positionFigures(read.figures, { tokens: 100_000_000n, basis }, asked);
  const position = { wallet: "w", pool: read.figures, slot: 77n, figures, basis, accounts: ["a"], ...asked };
  const part = positionPart(position);
  expectArithmetic(part, ["tokenBalance", "valueInNative", "unrealizedRewards"]);
  expect(native(figures.rewards)).toEqual({ units: 10_000_000n, places: 9 });
  expect(part.steps).toContain("s1: 100000000 tokens of a deposit of 110000000 lamports for 100000000, cost 110000000");
  const yearly = part.steps.at(-1)?.match(/^apyEarned = (.*) = ([\d.]+), held since/);
  expect(Math.abs(computed(yearly?.[1] ?? "") - Number(yearly?.[2]))).toBeLessThan(1e-6);
  expect(positionPart({ ...position, nowMs: atMs + 1_000 }).steps.at(-1)).toContain("less than an epoch");
});
