import { add, type Decimal, decimal, divide, multiply, squareRoot, subtract, unit } from "../model/decimal.ts";
import { totalWeight, type Weighted, weightedQuantile } from "./weights.ts";

/**
 * The band rests on signs alone: whatever the noise of each source, the true price lies above or below it with the same
 * chance, so the weight on one side of the truth is a sum of coin tosses with mean 1/2 and variance (sum of w²)/4. The
 * quantiles of the prices at 1/2 ± 0.9674 standard deviations therefore hold the truth in two rounds of three, for
 * normal and heavy tails alike; a multiple of their standard deviation would not.
 */
const quantileReach = decimal("0.4837");
/** The two-thirds quantile of the normal distribution, which turns a standard deviation into a half width. */
const twoThirds = decimal("0.9674");
/**
 * Correction for few sources, where quantiles lie between order statistics or beyond them: midway between the factors
 * with which normal and heavy-tailed noise cover exactly, from 40,000 simulated rounds each.
 */
const factors = ["1", "1", "1.21", "1", "0.87", "1.005", "0.96", "0.995", "0.995", "0.995"].map(decimal);
/**
 * Venues with one coarse price grid agree to the last digit although the true price lies anywhere between bid and ask.
 * This is the two-thirds quantile above for a deviation of one spread over the root of twelve.
 */
const shareOfSpread = decimal("0.2793");

const half = decimal("0.5");
const quarter = decimal("0.25");
const threeQuarters = decimal("0.75");

/** Errors that the differences of the quotes do not show. */
export interface SharedErrors {
  /** Half the band of the index that converted, times the share of converted weight; a share of the price. */
  readonly index: Decimal;
  /** Variance of the price's movement since the time of the quotes, as a share squared. */
  readonly movement: Decimal;
  /** Median spread between bid and ask, as a share. */
  readonly spread: Decimal | null;
}

/** Half the width, in dollars, that holds the true price in two rounds of three. Quotes are sorted by value. */
export function bandOf(quotes: readonly Weighted[], price: Decimal, shared: SharedErrors): Decimal {
  const measured = divide(differenceBand(quotes), price);
  const fromSpread = shared.spread === null ? (0n as Decimal) : multiply(shared.spread, shareOfSpread);
  const relative = measured < fromSpread ? fromSpread : measured;
  const movement = multiply(multiply(twoThirds, twoThirds), shared.movement);
  const square = multiply(relative, relative) + multiply(shared.index, shared.index) + movement;
  return multiply(squareRoot(square as Decimal), price);
}

/** The part of the band that comes from the differences of the quotes. */
export function differenceBand(quotes: readonly Weighted[]): Decimal {
  if (quotes.length < 2) return 0n as Decimal;
  const total = totalWeight(quotes);
  let squares = 0n;
  for (const { weight } of quotes) squares += weight * weight;
  // The root of (sum of w²), with w as shares of the total.
  const root = divide(squareRoot((squares / unit) as Decimal), total);
  const reach = multiply(quantileReach, root);
  const width = subtract(weightedQuantile(quotes, add(half, reach)), weightedQuantile(quotes, subtract(half, reach)));
  const factor = factors[Math.min(quotes.length, factors.length - 1)] ?? unit;
  return multiply((width / 2n) as Decimal, factor);
}

/** The spread at which the agreement of the sources counts half. */
const spreadOfHalf = decimal("0.0025");
const hundredth = 10n ** 16n;

/**
 * 0 to 100, from the distance, the number and the freshness of the sources. Agreement is 1/(1 + spread/25 basis points)
 * over the middle half of the weight, widened by the errors that all share; n sources leave a doubt of 2^-n; and a
 * source at its stale limit counts half.
 */
export function confidenceOf(
  quotes: readonly Weighted[],
  price: Decimal,
  shared: SharedErrors,
  freshness: Decimal,
): Decimal {
  const middle = subtract(weightedQuantile(quotes, threeQuarters), weightedQuantile(quotes, quarter));
  const common = add(shared.index, squareRoot(shared.movement));
  const spread = add(divide(middle, price), common);
  const agreement = divide(spreadOfHalf, add(spreadOfHalf, spread));
  const doubt = unit >> BigInt(Math.min(quotes.length, 60));
  const number = (unit - doubt) as Decimal;
  const confidence = multiply(multiply(agreement, number), freshness) * 100n;
  return (confidence - (confidence % hundredth)) as Decimal;
}
