import { absolute, type Decimal, decimal, multiply, subtract, unit } from "../model/decimal.ts";
import { differenceBand } from "./band.ts";
import { sortedByValue, weightedMedian } from "./weights.ts";

/**
 * The worth of one dollar coin in dollars, by which quotes in the coin are converted.
 * - `pegged`: near 1, most of its witnesses agree.
 * - `depegged`: away from 1, all witnesses agree; quotes are still converted, with a wider band.
 * - `unsure`: no usable price; quotes in the coin are left out.
 */
export type StablecoinIndex =
  | { readonly state: "pegged" | "depegged"; readonly price: Decimal; readonly band: Decimal }
  | { readonly state: "unsure" };

export const unsure: StablecoinIndex = { state: "unsure" };

/**
 * Within this distance of 1 the median of the witnesses is used. Beyond it all of them must agree: three venues quote
 * the coin in dollars, and two that collude could otherwise move every converted quote without bound.
 */
const peg = decimal("0.002");
/**
 * Witnesses within this distance of their median agree; two colluding ones of three move the index at most this far.
 */
const agreement = decimal("0.003");
/**
 * The part (one in 20) of a depeg that is added to the band: the price of a falling coin has moved since it was read.
 */
const depegShare = 20n;
/** Crosses between the coins may replace a missing index of the other coin only within this distance of parity. */
const parity = decimal("0.01");
const witnessesOfDollars = 3;

export interface Witnesses {
  /** Prices of venues in dollars. */
  readonly direct: readonly Decimal[];
  /** The worth of one coin in the other one. */
  readonly crosses: readonly Decimal[];
  /** The other coin's index of the previous round. */
  readonly other: StablecoinIndex;
}

/**
 * The index of a coin from its witnesses, which have equal weight. Venues that quote it in dollars come first; with
 * fewer than three of them all crosses together are one more witness, through the other coin's previous index. They are
 * never more than one: with five crosses of USDC in USDT both coins would swing between 1 and 0.95 from round to round
 * while one of them stands at 0.95, because each index would follow the other's previous one.
 */
export function indexOf({ direct, crosses, other }: Witnesses): StablecoinIndex {
  if (direct.length === 0) return unsure;
  const values = [...direct];
  if (direct.length < witnessesOfDollars && crosses.length > 0) {
    const cross = weightedMedian(sortedByValue(crosses.map((value) => ({ value, weight: unit }))));
    if (other.state !== "unsure") values.push(multiply(cross, other.price));
    else if (isNear(cross, unit, parity)) values.push(cross);
  }
  if (values.length < 2) return unsure;
  const weighted = sortedByValue(values.map((value) => ({ value, weight: unit })));
  const price = weightedMedian(weighted);
  const agreeing = values.filter((value) => isNear(value, price, agreement)).length;
  const band = differenceBand(weighted);
  if (isNear(price, unit, peg)) {
    return agreeing * 2 > values.length ? { state: "pegged", price, band } : unsure;
  }
  const deviation = absolute(subtract(price, unit));
  if (agreeing < values.length) return unsure;
  return { state: "depegged", price, band: (band + deviation / depegShare) as Decimal };
}

const isNear = (value: Decimal, to: Decimal, by: Decimal): boolean => absolute(subtract(value, to)) <= by;
