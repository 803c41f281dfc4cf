import { type Decimal, decimal, multiply } from "../model/decimal.ts";
import type { LastGood } from "./price-memory.ts";
import type { WeightedQuote } from "./quotes.ts";
import { totalWeight, weightedMedian } from "./weights.ts";

/**
 * A side with this share of the weight and of the sources, in quarters, needs no other evidence; with six tenths it may
 * replace the last good price once it has stood for as long as a jump has to.
 */
const overwhelming = 3n;
const clearMajority = decimal("0.6");
/** How long the last good price decides which of two sides continues it. */
const continuityMs = 600_000;
/** The reach grows with the spreads of the order books: this many spreads, and at most this share. */
const spreadsInReach = 3n;
const reachMax = decimal("0.03");

/** `unproved` sides have to stand like a jump before their price is served; with `rate` a coin's rate decides. */
export type Quorum = "agreed" | "unproved" | "disagreement" | "rate";

/**
 * Whether the sources, sorted by price, agree. Prices no further apart than the reach belong to one side, and the
 * largest side needs more than half of the sources, those that speak without a quote included (`unconverted`), and more
 * than half of the weight. It is the price when it continues the last good one, or is overwhelming. A clear majority
 * that jumps away has to stand first; a bare one is refused, since a colluding half looks the same. Where one side
 * quotes in dollars and the other is converted by a coin's rate, the rate itself may be wrong, and only continuity
 * decides.
 */
export function quorumOf(
  quotes: readonly WeightedQuote[],
  { unconverted, isRateHeld, reach, last, atMs }: QuorumContext,
): Quorum {
  const sides = sidesOf(quotes, multiply(reach, weightedMedian(quotes)));
  const largest = sides.reduce((best, side) => (totalWeight(side) > totalWeight(best) ? side : best));
  const others = sides.filter((side) => side !== largest);
  const alongRate = isSplitAlongRate(largest, others.flat());
  const reason = alongRate || (sides.length === 1 && unconverted > 0) ? "rate" : "disagreement";
  const total = totalWeight(quotes);
  const weight = totalWeight(largest);
  const sources = quotes.length + unconverted;
  if (largest.length * 2 <= sources || weight * 2n <= total) return reason;
  if (sides.length === 1) return "agreed";
  if (alongRate && isRateHeld) return reason;
  if (last !== null && atMs - last.atMs <= continuityMs) {
    const distance = distanceTo(largest, last.price);
    if (others.every((side) => distanceTo(side, last.price) >= distance)) return "agreed";
  }
  if (alongRate) return reason;
  if (weight * 4n >= total * overwhelming && BigInt(largest.length * 4) >= BigInt(sources) * overwhelming)
    return "agreed";
  const isClear = weight >= multiply(clearMajority, total) && largest.length * 5 >= sources * 3;
  // Before the first price there is nothing to be continuous with.
  if (isClear) return last === null ? "agreed" : "unproved";
  return reason;
}

interface QuorumContext {
  /** Sources that speak and have no quote. */
  readonly unconverted: number;
  /** A coin's rate is the last agreed one, and may be what is wrong. */
  readonly isRateHeld: boolean;
  readonly reach: Decimal;
  readonly last: LastGood | null;
  readonly atMs: number;
}

/** The reach for these quotes: the symbol's own, or three median spreads where that is wider. */
export function widenedReach(quotes: readonly WeightedQuote[], reach: Decimal): Decimal {
  const spreads = quotes.flatMap(({ quote }) => (quote.spread === null ? [] : [quote.spread]));
  // Half of all quotes must have a wide spread, so that a few cannot widen the reach.
  const ordered = spreads.toSorted((left, right) => (left < right ? 1 : left > right ? -1 : 0));
  const median = ordered[quotes.length >> 1];
  if (median === undefined) return reach;
  const wide = median * spreadsInReach;
  if (wide <= reach) return reach;
  return (wide > reachMax ? reachMax : wide) as Decimal;
}

function sidesOf(quotes: readonly WeightedQuote[], width: Decimal): WeightedQuote[][] {
  const sides: WeightedQuote[][] = [];
  let before: WeightedQuote | undefined;
  for (const weighted of quotes) {
    const side = sides.at(-1);
    if (side === undefined || before === undefined || weighted.value - before.value > width) sides.push([weighted]);
    else side.push(weighted);
    before = weighted;
  }
  return sides;
}

/** Two or more of each kind, and no side of both kinds: a single venue may simply be wrong. */
function isSplitAlongRate(largest: readonly WeightedQuote[], others: readonly WeightedQuote[]): boolean {
  if (largest.length < 2 || others.length < 2) return false;
  const isDirect = ({ quote }: WeightedQuote): boolean => quote.through === null;
  return (largest.every(isDirect) && !others.some(isDirect)) || (!largest.some(isDirect) && others.every(isDirect));
}

function distanceTo(side: readonly WeightedQuote[], price: Decimal): bigint {
  const low = side[0]?.value ?? price;
  const high = side.at(-1)?.value ?? price;
  if (price < low) return low - price;
  return price > high ? price - high : 0n;
}
