import { seededRandom } from "@sluice/lib";
import { type Bench, type Lie, LyingMarket, timings } from "./testing/liars.ts";

interface Case extends Bench {
  readonly name: string;
  /** Largest p99 and largest single error, in standard deviations of an honest source. */
  readonly p99Max: number;
  readonly worstMax: number;
  /** Largest share of rounds without a price. */
  readonly refusedMax: number;
}

const cases: readonly Case[] = [
  { name: "1 of 9", sources: 9, liars: [0], p99Max: 3.2, worstMax: 6, refusedMax: 0 },
  { name: "2 of 9", sources: 9, liars: [0, 1], p99Max: 3.2, worstMax: 6, refusedMax: 0 },
  { name: "3 of 9", sources: 9, liars: [0, 1, 2], p99Max: 3.2, worstMax: 6, refusedMax: 0 },
  { name: "4 of 9", sources: 9, liars: [0, 1, 2, 3], p99Max: 3.2, worstMax: 6, refusedMax: 0 },
  { name: "2 of 5", sources: 5, liars: [0, 1], p99Max: 3, worstMax: 6, refusedMax: 0 },
  {
    name: "4 of 9, volumes skewed",
    sources: 9,
    liars: [0, 1, 2, 3],
    isSkewed: true,
    p99Max: 3.2,
    worstMax: 6,
    refusedMax: 0,
  },
  { name: "2 of 5, volumes skewed", sources: 5, liars: [3, 4], isSkewed: true, p99Max: 3, worstMax: 6, refusedMax: 0 },
  {
    name: "4 of 9, all quoting in USDT while it falls",
    sources: 9,
    liars: [0, 3, 4, 5],
    isDepegging: true,
    p99Max: 3.2,
    worstMax: 6,
    refusedMax: 0,
  },
  {
    name: "4 of 9, one of them a witness of USDT",
    sources: 9,
    liars: [0, 1, 3, 4],
    isDepegging: true,
    p99Max: 3.2,
    worstMax: 6,
    refusedMax: 1,
  },
];

/**
 * In standard deviations: within the noise, around the reach (half a percent is ten), at the breaker, and without
 * shame.
 */
const sizes = [1, 1.5, 2, 2.5, 3, 4, 6, 8, 9.5, 10.5, 13, 20, 50, 250, 320, 1_000, 1e6];
const volumes = [0, 1_000_000, 1e15];
const warmUp = 5;

interface Outcome {
  readonly p99: number;
  readonly worst: number;
  readonly refused: number;
}

function evaluate(bench: Bench, lie: Lie, rounds: number, seed: number): Outcome {
  const market = new LyingMarket(bench, lie, seededRandom(seed));
  for (let round = 0; round < warmUp; round += 1) market.step(false);
  const errors: number[] = [];
  for (let step = 0; step < rounds; step += 1) {
    const { round, sigmas } = market.step(true);
    if (round.kind === "price") errors.push(sigmas);
  }
  errors.sort((left, right) => left - right);
  const p99 = errors[Math.ceil(errors.length * 0.99) - 1] ?? 0;
  return { p99, worst: errors.at(-1) ?? 0, refused: 1 - errors.length / rounds };
}

/**
 * All sizes, timings and volumes on a grid; then, from the best few, one parameter after the other for as long as it
 * gains.
 */
function search(bench: Bench, rounds: number, seed: number, isCoarse: boolean): Lie[] {
  const found: { lie: Lie; p99: number }[] = [];
  const score = (lie: Lie): number => evaluate(bench, lie, rounds, seed).p99;
  for (const timing of timings) {
    for (const volume of isCoarse ? volumes.slice(-1) : volumes) {
      for (const size of sizes.filter((_, place) => !isCoarse || place % 3 === 1)) {
        const lie: Lie = { timing, size, volume, fan: 0.1, period: 7 };
        found.push({ lie, p99: score(lie) });
      }
    }
  }
  found.sort((left, right) => right.p99 - left.p99);
  return found.slice(0, isCoarse ? 1 : 3).map(({ lie, p99 }) => climb(lie, p99, score));
}

const sweepsMax = 3;
/** Below so many rounds a campaign is a first slice, and searches with wider steps. */
const roundsOfFullSearch = 2_000;

function climb(from: Lie, p99: number, score: (lie: Lie) => number): Lie {
  let best = { lie: from, p99 };
  for (let sweep = 0; sweep < sweepsMax; sweep += 1) {
    const before = best.p99;
    for (const lie of neighbours(best.lie)) {
      const found = score(lie);
      if (found > best.p99) best = { lie, p99: found };
    }
    if (best.p99 === before) break;
  }
  return best.lie;
}

const neighbours = (lie: Lie): Lie[] => [
  ...[0.5, 0.8, 0.95, 1.05, 1.25, 2].map((factor) => ({ ...lie, size: lie.size * factor })),
  ...[-0.5, 0, 0.02, 0.5, 2].map((fan) => ({ ...lie, fan })),
  ...[2, 3, 16, 40].map((period) => ({ ...lie, period })),
  ...[1_000, 500_000, 3_000_000].map((volume) => ({ ...lie, volume })),
];

const described = ({ timing, size, fan, period, volume }: Lie): string =>
  `${timing} ${size.toFixed(2)} (fan ${fan}, period ${period}, volume ${volume.toExponential(0)})`;

/** The lies that were worst in the search are evaluated over rounds that the search has not seen. */
function evaluateCase(each: Case, rounds: number, seed: number): { isRight: boolean; line: string } {
  const searchRounds = Math.max(40, Math.min(500, Math.floor(rounds / 40)));
  let worst: { lie: Lie; outcome: Outcome } | null = null;
  let isRight = true;
  let refused = 0;
  for (const lie of search(each, searchRounds, seed, rounds < roundsOfFullSearch)) {
    const outcome = evaluate(each, lie, rounds, seed + 1);
    // Of so few rounds the hundredth part has an error of its own, a tenth of a deviation for 3,000.
    const chance = 5 / Math.sqrt(rounds);
    isRight &&= outcome.p99 <= each.p99Max + chance && outcome.worst <= each.worstMax;
    isRight &&= outcome.refused <= each.refusedMax;
    refused = Math.max(refused, outcome.refused);
    if (worst === null || outcome.p99 > worst.outcome.p99) worst = { lie, outcome };
  }
  if (worst === null) return { isRight: false, line: `! ${each.name}: nothing searched` };
  const { lie, outcome } = worst;
  const figures = `p99 ${outcome.p99.toFixed(2)}, max ${outcome.worst.toFixed(2)}, refused ${(refused * 100).toFixed(1)}%`;
  return { isRight, line: `${isRight ? "  " : "! "}${each.name}: ${figures}; ${described(lie)}` };
}

/**
 * Half or more of the sources, jumping together from an agreed price: refused at every size beyond each other's reach.
 */
const halves: readonly Bench[] = [
  { sources: 4, liars: [0, 1] },
  { sources: 6, liars: [0, 1, 2] },
  { sources: 8, liars: [0, 1, 2, 3] },
  { sources: 9, liars: [0, 1, 2, 3, 4] },
];
/** Ten deviations are the reach; honest noise may bridge another five. */
const splitSizes = [16, 18, 25, 60, 200, 1_000];

function evaluateSplits(rounds: number, seed: number): { isRight: boolean; line: string } {
  let isRight = true;
  const shares: string[] = [];
  for (const bench of halves) {
    let priced = 0;
    for (const size of splitSizes) {
      for (const volume of volumes) {
        const lie: Lie = { timing: "hold", size, volume, fan: 0, period: 1 };
        priced += 1 - evaluate(bench, lie, rounds, seed).refused;
      }
    }
    isRight &&= priced === 0;
    shares.push(`${bench.liars.length} of ${bench.sources}`);
  }
  return { isRight, line: `${isRight ? "  " : "! "}jumping together and always refused: ${shares.join(", ")}` };
}

/**
 * The worst lie that a minority can report, searched over size, timing, claimed volume and order: how far it moves the
 * price, in standard deviations of one honest source. `n` is the number of rounds over which a found lie is evaluated.
 */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  const results = cases.map((each, index) => evaluateCase(each, n, seed + index * 10));
  results.push(evaluateSplits(Math.max(20, Math.floor(n / 50)), seed));
  return { passed: results.every(({ isRight }) => isRight), summary: results.map(({ line }) => line).join("\n") };
}
