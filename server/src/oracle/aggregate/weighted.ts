import { type Decimal, divide, multiply, subtract } from "../decimal.ts";

/** A value and the share of the whole that stands behind it. */
export interface Weighted {
  readonly value: Decimal;
  readonly weight: Decimal;
}

const byValue = (left: Weighted, right: Weighted): number =>
  left.value < right.value ? -1 : left.value > right.value ? 1 : 0;

export const sortedByValue = (items: readonly Weighted[]): readonly Weighted[] => items.toSorted(byValue);

export function totalWeight(items: readonly Weighted[]): Decimal {
  let total = 0n;
  for (const item of items) total += item.weight;
  return total as Decimal;
}

/**
 * The value with half of the weight on either side; the mean of two where the half falls exactly between them. Items are
 * sorted by value. Whoever holds less than half of the weight moves it only within the range of the others, whatever
 * they say: no mean taken after a rejection has this.
 */
export function weightedMedian(items: readonly Weighted[]): Decimal {
  const total = totalWeight(items);
  let below = 0n;
  for (const [index, item] of items.entries()) {
    below += item.weight;
    if (below * 2n < total) continue;
    const next = items[index + 1];
    if (below * 2n === total && next !== undefined) return ((item.value + next.value) / 2n) as Decimal;
    return item.value;
  }
  throw new RangeError("the median of nothing");
}

/**
 * The value below which `share` of the weight lies, each item's weight centred on its value and the line between two
 * neighbours straight; beyond the outermost items the line of the last two goes on. Items are sorted by value.
 */
export function weightedQuantile(items: readonly Weighted[], share: Decimal): Decimal {
  const first = items[0];
  if (first === undefined) throw new RangeError("a quantile of nothing");
  const target = multiply(share, totalWeight(items));
  let left = first;
  let leftAt = (first.weight / 2n) as Decimal;
  let below: bigint = first.weight;
  for (let index = 1; index < items.length; index += 1) {
    const right = items[index] as Weighted;
    const rightAt = (below + right.weight / 2n) as Decimal;
    below += right.weight;
    if (rightAt >= target || index === items.length - 1) {
      const width = subtract(rightAt, leftAt);
      if (width === 0n) return right.value;
      const rise = multiply(subtract(right.value, left.value), divide(subtract(target, leftAt), width));
      return (left.value + rise) as Decimal;
    }
    left = right;
    leftAt = rightAt;
  }
  return first.value;
}
