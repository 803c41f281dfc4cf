import { absolute, type Decimal, decimal, multiply, subtract, unit } from "../decimal.ts";
import { differenceBand } from "./band.ts";
import { sortedByValue, weightedMedian } from "./weighted.ts";

/**
 * What one dollar coin is worth in dollars, as conversions use it.
 * - `pegged`: near 1, most of its witnesses agree.
 * - `depegged`: away from 1, all witnesses agree; quotes go on being converted, with a wider band.
 * - `unsure`: nothing that could be used; quotes in the coin are left out.
 */
export type StablecoinIndex =
  | { readonly state: "pegged" | "depegged"; readonly price: Decimal; readonly band: Decimal }
  | { readonly state: "unsure" };

export const unsure: StablecoinIndex = { state: "unsure" };

/**
 * This near to 1 the median of the witnesses is believed. Further away all of them have to agree: three venues quote the
 * coin in dollars, and two that collude could otherwise move every converted quote as far as they like.
 */
const peg = decimal("0.002");
/** Witnesses agree that lie this near to their median; two colluding ones of three move the index no further than this. */
const agreement = decimal("0.003");
/** How much of a depeg is added to the band: the price of a falling coin has moved since it was read. */
const depegShare = 20n;
/** Crosses between the coins may stand in for a missing index of the other coin only this near to parity. */
const parity = decimal("0.01");
const witnessesOfDollars = 3;

export interface Witnesses {
  /** What venues say in dollars themselves. */
  readonly direct: readonly Decimal[];
  /** How many of the other coin one is worth. */
  readonly crosses: readonly Decimal[];
  /** The other coin's index as it was in the round before. */
  readonly other: StablecoinIndex;
}

/**
 * The index of a coin from its witnesses, each with one vote. Venues that quote it in dollars come first; with fewer than
 * three of them all crosses together are one more witness, through the other coin's previous index. They never are more
 * than one: five crosses of USDC in USDT would have both coins swing between 1 and 0.95 from round to round while one of
 * them stands at 0.95, each index answering the other's of the round before.
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
  const votes = sortedByValue(values.map((value) => ({ value, weight: unit })));
  const price = weightedMedian(votes);
  const agreeing = values.filter((value) => isNear(value, price, agreement)).length;
  const band = differenceBand(votes);
  if (isNear(price, unit, peg)) {
    return agreeing * 2 > values.length ? { state: "pegged", price, band } : unsure;
  }
  const deviation = absolute(subtract(price, unit));
  if (agreeing < values.length) return unsure;
  return { state: "depegged", price, band: (band + deviation / depegShare) as Decimal };
}

const isNear = (value: Decimal, to: Decimal, by: Decimal): boolean => absolute(subtract(value, to)) <= by;
