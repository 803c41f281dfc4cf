import { type Random, seededRandom } from "@sluice/lib";
import { contaminated, laplace, normal, student } from "./testing/noise.ts";
import { NoisyMarket, type NoisyRegime } from "./testing/noisy-market.ts";
import { toNumber } from "./testing/ticks.ts";

/** What the markets of one kind have beside noise of any size. */
const kinds = [
  "still",
  "moving",
  "with offsets of their own",
  "five through USDT",
  "moving and silent at times",
] as const;
type Kind = (typeof kinds)[number];

function drawRegime(kind: Kind, market: number, random: Random): NoisyRegime {
  const sigma = 10 ** (random.next() * 1.7);
  const noise = [normal, laplace, student, contaminated][market % 4] ?? normal;
  const regime = { sources: 3 + Math.floor(random.next() * 7), noise, sigmas: [sigma] };
  const movement = 10 ** (random.next() * 1.2 - 0.6);
  switch (kind) {
    case "still":
      return regime;
    case "moving":
      return { ...regime, movement };
    case "with offsets of their own":
      return { ...regime, offset: sigma * random.next() };
    case "five through USDT":
      return { ...regime, sources: 9, coin: 2 * random.next() };
    case "moving and silent at times":
      return { ...regime, movement, silentSeconds: Math.floor(random.next() * 30) };
  }
}

const basis = 1e-4;
/** Rounds of each market that are left out, and rounds that count. */
const warmUp = 10;
const counted = 60;

/** Mean absolute error in basis points by fifths of the confidence, lowest first. */
function errorsByConfidence(kind: Kind, n: number, random: Random): number[] {
  const seen: { confidence: number; error: number }[] = [];
  for (let market = 0; market * counted < n; market += 1) {
    const course = new NoisyMarket(drawRegime(kind, market, random), random);
    for (let step = 0; step < warmUp + counted; step += 1) {
      const round = course.step();
      if (round?.kind !== "price" || step < warmUp) continue;
      const error = Math.abs(toNumber(round.price) / course.truth - 1) / basis;
      seen.push({ confidence: toNumber(round.confidence), error });
    }
  }
  seen.sort((left, right) => left.confidence - right.confidence);
  return Array.from({ length: 5 }, (_, fifth) => {
    const part = seen.slice((fifth * seen.length) / 5, ((fifth + 1) * seen.length) / 5);
    return part.reduce((sum, { error }) => sum + error, 0) / part.length;
  });
}

/**
 * The higher the confidence, the smaller the real error, in markets of every size and noise: still ones, moving ones,
 * with sources that are off for long, through a coin, and over silence. `n` is the number of rounds of each kind.
 */
export async function run({ n, seed }: { n: number; seed: number }): Promise<{ passed: boolean; summary: string }> {
  let passed = true;
  const lines = kinds.map((kind, index) => {
    const errors = errorsByConfidence(kind, n, seededRandom(seed + index));
    const isMonotone = errors.every((error, fifth) => fifth === 0 || error < (errors[fifth - 1] ?? 0));
    passed &&= isMonotone;
    const figures = errors.map((each) => each.toFixed(2)).join(" > ");
    return `${isMonotone ? "  " : "! "}${kind}: mean error by fifths of the confidence ${figures} bp`;
  });
  return { passed, summary: lines.join("\n") };
}
