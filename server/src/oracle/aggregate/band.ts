import { add, type Decimal, decimal, divide, multiply, squareRoot, subtract, unit } from "../decimal.ts";
import { totalWeight, type Weighted, weightedQuantile } from "./weighted.ts";

/**
 * The band rests on signs alone: whatever the noise of each source, the true price lies above or below it with the same
 * chance, so the weight on one side of the truth is a sum of coin tosses with mean 1/2 and variance (sum of w²)/4. The
 * quantiles of the prices at 1/2 ± 0.9674 standard deviations therefore hold the truth in two rounds of three, for normal
 * and heavy tails alike; a multiple of their standard deviation would not.
 */
const quantileReach = decimal("0.4837");
/** The two-thirds quantile of the normal distribution, which turns a standard deviation into a half width. */
const twoThirds = decimal("0.9674");
/**
 * What remains to be corrected for few sources, where quantiles lie between order statistics or beyond them: midway
 * between the factors that make normal and heavy-tailed noise cover exactly, from 40,000 simulated rounds each.
 */
const factors = ["1", "1", "1.21", "1", "0.87", "1.005", "0.96", "0.995", "0.995", "0.995"].map(decimal);
/**
 * Venues that print on one coarse grid agree to the last digit and know no better: the truth lies anywhere between bid and
 * ask. This is the two-thirds quantile above for a deviation of one spread over the root of twelve.
 */
const shareOfSpread = decimal("0.2793");

const half = decimal("0.5");
const quarter = decimal("0.25");
const threeQuarters = decimal("0.75");

/** What the band is made of besides the votes' own differences. */
export interface SharedErrors {
  /** Half the band of the index that converted, times the share of converted weight; a share of the price. */
  readonly index: Decimal;
  /** Variance of the price's movement since the sources spoke, as a share squared. */
  readonly movement: Decimal;
  /** Median spread between bid and ask, as a share. */
  readonly spread: Decimal | null;
}

/** Half the width, in dollars, that holds the true price in two rounds of three. Votes are sorted by value. */
export function bandOf(votes: readonly Weighted[], price: Decimal, shared: SharedErrors): Decimal {
  const told = divide(differenceBand(votes), price);
  const untold = shared.spread === null ? (0n as Decimal) : multiply(shared.spread, shareOfSpread);
  const relative = told < untold ? untold : told;
  const movement = multiply(multiply(twoThirds, twoThirds), shared.movement);
  const square = multiply(relative, relative) + multiply(shared.index, shared.index) + movement;
  return multiply(squareRoot(square as Decimal), price);
}

/** The part of the band that the differences between the votes tell. */
export function differenceBand(votes: readonly Weighted[]): Decimal {
  if (votes.length < 2) return 0n as Decimal;
  const total = totalWeight(votes);
  let squares = 0n;
  for (const { weight } of votes) squares += weight * weight;
  // The root of (sum of w²), with w as shares of the total.
  const root = divide(squareRoot((squares / unit) as Decimal), total);
  const reach = multiply(quantileReach, root);
  const width = subtract(weightedQuantile(votes, add(half, reach)), weightedQuantile(votes, subtract(half, reach)));
  const factor = factors[Math.min(votes.length, factors.length - 1)] ?? unit;
  return multiply((width / 2n) as Decimal, factor);
}

/** Spread at which the sources' agreement counts half. */
const spreadOfHalf = decimal("0.0025");
const hundredth = 10n ** 16n;

/**
 * 0 to 100: how near to each other the sources are, how many, and how fresh. Agreement is 1/(1 + spread/25 basis points)
 * over the middle half of the weight, widened by what all share; n sources leave a doubt of 2^-n; and a source at the end
 * of its patience counts half.
 */
export function confidenceOf(
  votes: readonly Weighted[],
  price: Decimal,
  shared: SharedErrors,
  freshness: Decimal,
): Decimal {
  const middle = subtract(weightedQuantile(votes, threeQuarters), weightedQuantile(votes, quarter));
  const common = add(shared.index, squareRoot(shared.movement));
  const spread = add(divide(middle, price), common);
  const agreement = divide(spreadOfHalf, add(spreadOfHalf, spread));
  const doubt = unit >> BigInt(Math.min(votes.length, 60));
  const number = (unit - doubt) as Decimal;
  const confidence = multiply(multiply(agreement, number), freshness) * 100n;
  return (confidence - (confidence % hundredth)) as Decimal;
}
