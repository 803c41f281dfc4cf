import { type Decimal, decimal, divide, multiply, unit } from "../decimal.ts";

/**
 * No minority of sources holds more than this, however large they say their volumes are. The cap of a single origin does
 * not promise it: of nine, two that claim boundless volumes would hold 50% and three 75% under a cap of 25%.
 */
const minorityMax = decimal("0.49");

/** The largest share of one origin among so many. */
export function originCap(count: number): Decimal {
  // Two can only share equally.
  if (count < 3) return (unit / BigInt(Math.max(count, 1))) as Decimal;
  return decimal(count === 3 ? "0.4" : count <= 5 ? "0.35" : count <= 7 ? "0.3" : "0.25");
}

/**
 * Each source's share by its volume, held under the cap and the minority's bound. A volume that is not told counts as the
 * smallest that is; where none is told all are equal. The order of the answer is that of `volumes`.
 */
export function weightsOf(volumes: readonly (Decimal | null)[]): Decimal[] {
  const count = volumes.length;
  if (count === 0) return [];
  return boundMinority(capped(completed(volumes), originCap(count)));
}

function completed(volumes: readonly (Decimal | null)[]): bigint[] {
  let smallest: bigint | null = null;
  for (const volume of volumes) {
    if (volume !== null && volume > 0n && (smallest === null || volume < smallest)) smallest = volume;
  }
  return volumes.map((volume) => volume ?? smallest ?? unit).map((volume) => (volume < 0n ? 0n : volume));
}

/** Largest first: what exceeds the cap is left to the smaller ones, in proportion to their volumes. */
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

/** Moves all weights toward equal ones, just so far that the largest minority stays under its bound. */
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
