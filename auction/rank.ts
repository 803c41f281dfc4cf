import type { AuctionBundle } from "./interfaces.ts";
import { byScore } from "./sorting.ts";

/**
 * The order of winners, and the order in which everything else is done: what a tick decides is a function of it alone, so
 * the order of arrival says nothing. By tip for each compute unit, highest first, then by id. Doubles decide unless they are
 * equal, when the fractions are compared exactly; a bundle that computes nothing comes before all that do.
 */
export function rankBundles<B extends AuctionBundle>(bundles: readonly B[]): B[] {
  const densities = new Float64Array(bundles.length);
  for (let index = 0; index < bundles.length; index++) {
    const bundle = bundles[index];
    if (bundle !== undefined) densities[index] = densityOf(bundle);
  }
  const order = byScore(densities);
  const ranked: B[] = [];
  for (let at = 0; at < order.length; at++) {
    const bundle = bundles[order[at] ?? 0];
    if (bundle !== undefined) ranked.push(bundle);
  }
  const densityAt = (at: number): number => densities[order[at] ?? 0] ?? 0;
  for (let start = 0, end = 1; end <= ranked.length; end++) {
    if (end < ranked.length && densityAt(end) === densityAt(start)) continue;
    if (end - start > 1) ranked.splice(start, end - start, ...ranked.slice(start, end).sort(compareTied));
    start = end;
  }
  return ranked;
}

function densityOf({ id, tip, computeUnits }: AuctionBundle): number {
  if (!Number.isSafeInteger(computeUnits) || computeUnits < 0 || tip < 0n) {
    throw new RangeError(`bundle ${id}: tip ${tip}, ${computeUnits} compute units`);
  }
  return computeUnits === 0 ? Number.MAX_VALUE : Number(tip) / computeUnits;
}

function compareTied(a: AuctionBundle, b: AuctionBundle): number {
  const left = a.tip * BigInt(b.computeUnits);
  const right = b.tip * BigInt(a.computeUnits);
  if (left !== right) return left > right ? -1 : 1;
  return a.id < b.id ? -1 : a.id > b.id ? 1 : 0;
}
