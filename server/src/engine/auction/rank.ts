import type { AuctionBundle } from "./interfaces.ts";

/**
 * Orders by tip for each compute unit, highest first, then by id. Doubles decide unless they are equal, when the fractions
 * are compared exactly; a bundle that computes nothing comes before all that do.
 */
function compareRanked(a: Ranked, b: Ranked): number {
  if (a.density !== b.density) return b.density - a.density;
  const left = a.bundle.tip * BigInt(b.bundle.computeUnits);
  const right = b.bundle.tip * BigInt(a.bundle.computeUnits);
  if (left !== right) return left > right ? -1 : 1;
  return a.bundle.id < b.bundle.id ? -1 : a.bundle.id > b.bundle.id ? 1 : 0;
}

interface Ranked<B extends AuctionBundle = AuctionBundle> {
  readonly bundle: B;
  readonly density: number;
}

/**
 * The order of winners, and the order in which everything else is done: what a tick decides is a function of it alone, so
 * the order of arrival says nothing.
 */
export function rankBundles<B extends AuctionBundle>(bundles: readonly B[]): B[] {
  return bundles
    .map((bundle): Ranked<B> => ({ bundle, density: densityOf(bundle) }))
    .sort(compareRanked)
    .map(({ bundle }) => bundle);
}

function densityOf({ id, tip, computeUnits }: AuctionBundle): number {
  if (!Number.isSafeInteger(computeUnits) || computeUnits < 0 || tip < 0n) {
    throw new RangeError(`bundle ${id}: tip ${tip}, ${computeUnits} compute units`);
  }
  return computeUnits === 0 ? Number.MAX_VALUE : Number(tip) / computeUnits;
}
