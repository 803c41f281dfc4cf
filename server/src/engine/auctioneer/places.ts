import type { BundleRecord } from "../model/bundle.ts";

/** Bundles that compete in one tick, over all searchers and of one. */
export const placesMax: Places = { total: 2_000, perSearcher: 500 };

interface Places {
  readonly total: number;
  readonly perSearcher: number;
}

type Bid = Pick<BundleRecord, "searcherId" | "tip">;

/**
 * Those that compete in this tick when more would than an auction takes in its time: each searcher has the same number of
 * places, what one does not need goes to the others, and its highest claims have them, the older of equal ones first. So
 * nobody keeps another's bundles out by sending many, whatever they claim: one that loses costs its sender nothing. Where
 * there are more searchers than places, the highest claims have them. Keeps the order.
 */
export function withinPlaces<B extends Bid>(bids: readonly B[], places: Places = placesMax): readonly B[] {
  const bySearcher = Map.groupBy(bids, ({ searcherId }) => searcherId);
  const counts = [...bySearcher.values()].map(({ length }) => length);
  const share = Math.min(places.perSearcher, shareOf(counts, places.total));
  if (counts.every((count) => count <= share)) return bids;
  const chosen = [...bySearcher.values()].flatMap((own) => highest(own, share));
  const kept = new Set(highest(chosen, places.total));
  return bids.filter((bid) => kept.has(bid));
}

/** The largest number of places for each so that all together have no more than `total`, and at least one. */
function shareOf(counts: readonly number[], total: number): number {
  let [left, sharing] = [total, counts.length];
  for (const count of counts.toSorted((one, other) => one - other)) {
    if (count * sharing > left) return Math.max(1, Math.floor(left / sharing));
    left -= count;
    sharing -= 1;
  }
  return total;
}

function highest<B extends Bid>(bids: readonly B[], count: number): readonly B[] {
  if (bids.length <= count) return bids;
  return bids.toSorted((one, other) => (one.tip === other.tip ? 0 : one.tip > other.tip ? -1 : 1)).slice(0, count);
}
