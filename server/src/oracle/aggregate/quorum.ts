import { type Decimal, decimal, multiply } from "../model/decimal.ts";
import type { LastGood } from "./breaker.ts";
import type { WeightedQuote } from "./quotes.ts";
import { totalWeight, weightedMedian } from "./weights.ts";

/** A side with this share of the weight and of the sources needs no other evidence. */
const clearMajority = decimal("0.6");
/** How long the last good price decides which of two sides continues it. */
const continuityMs = 600_000;
/** The reach grows with the spreads of the order books: this many spreads, and at most this share. */
const spreadsInReach = 3n;
const reachMax = decimal("0.03");

export type Quorum = "agreed" | "disagreement" | "depeg";

/**
 * Whether the sources, sorted by price, agree. Prices no further apart than the reach belong to one side, and the
 * largest side needs more than half of the sources and more than half of the weight. With less than six tenths of
 * either it must also be the side nearest to the last good price: a colluding half that jumps away is refused, an
 * honest one that stays is not. Where one side quotes in dollars and the other is converted by an index, the index
 * itself may be wrong, and only continuity decides.
 */
export function quorumOf(
  quotes: readonly WeightedQuote[],
  reach: Decimal,
  last: LastGood | null,
  atMs: number,
): Quorum {
  const sides = sidesOf(quotes, multiply(reach, weightedMedian(quotes)));
  if (sides.length === 1) return "agreed";
  const largest = sides.reduce((best, side) => (totalWeight(side) > totalWeight(best) ? side : best));
  const others = sides.filter((side) => side !== largest);
  const alongIndex = isSplitAlongIndex(largest, others.flat());
  const reason = alongIndex ? "depeg" : "disagreement";
  const total = totalWeight(quotes);
  const weight = totalWeight(largest);
  if (largest.length * 2 <= quotes.length || weight * 2n <= total) return reason;
  const isClear = weight >= multiply(clearMajority, total) && largest.length * 5 >= quotes.length * 3;
  if (isClear && !alongIndex) return "agreed";
  if (last === null || atMs - last.atMs > continuityMs) return reason;
  const distance = distanceTo(largest, last.price);
  return others.every((side) => distanceTo(side, last.price) >= distance) ? "agreed" : reason;
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
function isSplitAlongIndex(largest: readonly WeightedQuote[], others: readonly WeightedQuote[]): boolean {
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
