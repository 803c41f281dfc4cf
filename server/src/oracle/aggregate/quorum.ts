import { type Decimal, decimal, multiply } from "../decimal.ts";
import type { LastGood } from "./breaker.ts";
import type { Vote } from "./voice.ts";
import { totalWeight, weightedMedian } from "./weighted.ts";

/** A side with this share of the weight and of the sources needs no other proof. */
const clearMajority = decimal("0.6");
/** How long the last good price says which of two sides is the continuing one. */
const continuityMs = 600_000;
/** The reach grows with what the books themselves leave open, as many spreads and at most this share. */
const spreadsInReach = 3n;
const reachMax = decimal("0.03");

export type Quorum = "agreed" | "disagreement" | "depeg";

/**
 * Whether the sources, sorted by price, agree: prices no further apart than the reach belong to one side, and the largest
 * side needs more than half of the sources and more than half of the weight. With less than six tenths of either it
 * also has to be the side on which the last good price lies: a colluding half that jumps away is refused, an honest one
 * that stays is not. Where the sides are those that quote in dollars and those converted by an index, the index itself
 * may be wrong, and only continuity decides.
 */
export function quorumOf(votes: readonly Vote[], reach: Decimal, last: LastGood | null, atMs: number): Quorum {
  const sides = sidesOf(votes, multiply(reach, weightedMedian(votes)));
  if (sides.length === 1) return "agreed";
  const largest = sides.reduce((best, side) => (totalWeight(side) > totalWeight(best) ? side : best));
  const others = sides.filter((side) => side !== largest);
  const alongIndex = isSplitAlongIndex(largest, others.flat());
  const reason = alongIndex ? "depeg" : "disagreement";
  const total = totalWeight(votes);
  const weight = totalWeight(largest);
  if (largest.length * 2 <= votes.length || weight * 2n <= total) return reason;
  const isClear = weight >= multiply(clearMajority, total) && largest.length * 5 >= votes.length * 3;
  if (isClear && !alongIndex) return "agreed";
  if (last === null || atMs - last.atMs > continuityMs) return reason;
  const distance = distanceTo(largest, last.price);
  return others.every((side) => distanceTo(side, last.price) >= distance) ? "agreed" : reason;
}

/** The reach for these votes: the symbol's own, or three of the median spread where that is wider. */
export function widenedReach(votes: readonly Vote[], reach: Decimal): Decimal {
  const spreads = votes.flatMap(({ voice }) => (voice.spread === null ? [] : [voice.spread]));
  // Half of all voices have to know a wide spread, so that a few cannot widen it.
  const ordered = spreads.toSorted((left, right) => (left < right ? 1 : left > right ? -1 : 0));
  const median = ordered[votes.length >> 1];
  if (median === undefined) return reach;
  const wide = median * spreadsInReach;
  if (wide <= reach) return reach;
  return (wide > reachMax ? reachMax : wide) as Decimal;
}

function sidesOf(votes: readonly Vote[], width: Decimal): Vote[][] {
  const sides: Vote[][] = [];
  let before: Vote | undefined;
  for (const vote of votes) {
    const side = sides.at(-1);
    if (side === undefined || before === undefined || vote.value - before.value > width) sides.push([vote]);
    else side.push(vote);
    before = vote;
  }
  return sides;
}

/** Two or more of each kind, and no side of both kinds: one venue alone may simply be wrong. */
function isSplitAlongIndex(largest: readonly Vote[], others: readonly Vote[]): boolean {
  if (largest.length < 2 || others.length < 2) return false;
  const isDirect = (vote: Vote): boolean => vote.voice.through === null;
  return (largest.every(isDirect) && !others.some(isDirect)) || (!largest.some(isDirect) && others.every(isDirect));
}

function distanceTo(side: readonly Vote[], price: Decimal): bigint {
  const low = side[0]?.value ?? price;
  const high = side.at(-1)?.value ?? price;
  if (price < low) return low - price;
  return price > high ? price - high : 0n;
}
