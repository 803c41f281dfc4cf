import { add, type Decimal, decimal, divide, multiply, subtract, unit } from "../model/decimal.ts";
import { type Weighted, weightedQuantile } from "./weights.ts";

/** The spread at which the agreement of the sources counts half. */
const spreadOfHalf = decimal("0.0025");
const hundredth = 10n ** 16n;
const quarter = decimal("0.25");
const threeQuarters = decimal("0.75");

/** What confidence is made of beside the quotes. */
interface Doubts {
  /** The errors of the coins' rates, times the share of converted weight; a share of the price. */
  readonly rateError: Decimal;
  /** 1 for quotes of this moment, one half for quotes at their stale limit. */
  readonly freshness: Decimal;
}

/**
 * 0 to 100, from the distance, the number and the freshness of the sources, sorted by value. Agreement is
 * 1/(1 + spread/25 basis points) over the middle half of the weight, widened by the errors that all converted quotes
 * share; n sources leave a doubt of 2^-n.
 */
export function confidenceOf(quotes: readonly Weighted[], price: Decimal, { rateError, freshness }: Doubts): Decimal {
  const middle = subtract(weightedQuantile(quotes, threeQuarters), weightedQuantile(quotes, quarter));
  const spread = add(divide(middle, price), rateError);
  const agreement = divide(spreadOfHalf, add(spreadOfHalf, spread));
  const doubt = unit >> BigInt(Math.min(quotes.length, 60));
  const number = (unit - doubt) as Decimal;
  const confidence = multiply(multiply(agreement, number), freshness) * 100n;
  return (confidence - (confidence % hundredth)) as Decimal;
}
