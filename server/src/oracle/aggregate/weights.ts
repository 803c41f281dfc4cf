import { type Decimal, decimal, divide, multiply, subtract, unit } from "../model/decimal.ts";

/**
 * The largest share of a minority of sources, whatever volumes they state. The cap of a single source does not ensure
 * it: of nine, two that state unlimited volumes would hold 50%, and three 75%, under a cap of 25%.
 */
const minorityMax = decimal("0.49");

/** The largest share of one source among `count`. */
export function sourceCap(count: number): Decimal {
  // Two can only share equally.
  if (count < 3) return (unit / BigInt(Math.max(count, 1))) as Decimal;
  return decimal(count === 3 ? "0.4" : count <= 5 ? "0.35" : count <= 7 ? "0.3" : "0.25");
}

/**
 * Each source's share by its volume, limited by the cap and the bound of a minority. An unknown volume counts as the
 * smallest known one; where none is known all shares are equal. The order of the result is that of `volumes`.
 */
export function weightsOf(volumes: readonly (Decimal | null)[]): Decimal[] {
  const count = volumes.length;
  if (count === 0) return [];
  return boundMinority(capped(completed(volumes), sourceCap(count)));
}

function completed(volumes: readonly (Decimal | null)[]): bigint[] {
  let smallest: bigint | null = null;
  for (const volume of volumes) {
    if (volume !== null && volume > 0n && (smallest === null || volume < smallest)) smallest = volume;
  }
  return volumes.map((volume) => volume ?? smallest ?? unit).map((volume) => (volume < 0n ? 0n : volume));
}

/** Largest first: the excess over the cap goes to the smaller ones, in proportion to their volumes. */
function capped(volumes: readonly bigint[], cap: Decimal): Decimal[] {
  const order = volumes.map((_, index) => index).toSorted((left, right) => compare(volumes, left, right));
  const weights = new Array<Decimal>(volumes.length).fill(0n as Decimal);
  let restVolume = volumes.reduce((sum, volume) => sum + volume, 0n);
  let rest: bigint = unit;
  let left = volumes.length;
  for (const index of order) {
    const volume = volumes[index] ?? 0n;
    const share = restVolume === 0n ? rest / BigInt(left) : (rest * volume) / restVolume;
    const weight = share > cap ? cap : share;
    weights[index] = weight as Decimal;
    rest -= weight;
    restVolume -= volume;
    left -= 1;
  }
  return weights;
}

const compare = (volumes: readonly bigint[], left: number, right: number): number => {
  const [a, b] = [volumes[left] ?? 0n, volumes[right] ?? 0n];
  return a > b ? -1 : a < b ? 1 : left - right;
};

/** Moves all weights toward equal ones, by the least amount that keeps the largest minority within its bound. */
function boundMinority(weights: Decimal[]): Decimal[] {
  const count = weights.length;
  const minority = Math.floor((count - 1) / 2);
  const largest = weights
    .toSorted((left, right) => (left < right ? 1 : left > right ? -1 : 0))
    .slice(0, minority)
    .reduce((sum, weight) => sum + weight, 0n);
  if (largest <= minorityMax) return weights;
  const equal = unit / BigInt(count);
  const equalMinority = (unit * BigInt(minority)) / BigInt(count);
  const kept = divide((minorityMax - equalMinority) as Decimal, (largest - equalMinority) as Decimal);
  return weights.map((weight) => (equal + multiply((weight - equal) as Decimal, kept)) as Decimal);
}

/** A value and its share of the total weight. */
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
 * The value with half of the weight on either side; the mean of two where the half falls exactly between them. Items
 * are sorted by value. Items with less than half of the weight can move it only within the range of the others; a mean
 * taken after a rejection of outliers does not have this property.
 * @throws {RangeError} when there are no items
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
  throw new RangeError("the median of no items");
}

/**
 * The value below which `share` of the weight lies, each item's weight centred on its value and the line between two
 * neighbours straight; beyond the outermost items the line of the last two continues. Items are sorted by value.
 * @throws {RangeError} when there are no items
 */
export function weightedQuantile(items: readonly Weighted[], share: Decimal): Decimal {
  const first = items[0];
  if (first === undefined) throw new RangeError("a quantile of no items");
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
