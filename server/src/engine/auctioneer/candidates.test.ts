import { expect, test } from "bun:test";
import fc from "fast-check";
import { withinPlaces } from "./candidates.ts";

interface Bid {
  readonly searcherId: string;
  readonly tip: bigint;
  readonly at: number;
}

const bidsOf = (...all: readonly (readonly [searcherId: string, tips: readonly number[]])[]): Bid[] =>
  all
    .flatMap(([searcherId, tips]) => tips.map((tip) => ({ searcherId, tip: BigInt(tip) })))
    .map((bid, at) => ({ ...bid, at }));
const many = (count: number, tip: number): number[] => Array.from({ length: count }, () => tip);
const few = { total: 10, perSearcher: 6 };

test("a searcher that sends many at any tips keeps no other's bundles out", () => {
  const bids = bidsOf(["flood", many(1_000, 9_999)], ["one", [5, 7, 6]], ["two", [1]]);
  const kept = withinPlaces(bids, few);
  expect(kept.filter(({ searcherId }) => searcherId !== "flood").map(({ tip }) => tip)).toEqual([5n, 7n, 6n, 1n]);
  expect(kept.filter(({ searcherId }) => searcherId === "flood")).toHaveLength(6);
});

test("a searcher's own places are for its highest claims, the older of equal ones first", () => {
  const bids = bidsOf(["one", [5, 9, 5, 5, 5, 5, 5, 8]]);
  expect(withinPlaces(bids, few).map(({ at }) => at)).toEqual([0, 1, 2, 3, 4, 7]);
});

test("where searchers are more than places, the highest claims have them", () => {
  const bids = bidsOf(...Array.from({ length: 30 }, (_, tip): [string, number[]] => [`searcher ${tip}`, [tip, 0]]));
  expect(withinPlaces(bids, few).map(({ tip }) => Number(tip))).toEqual([20, 21, 22, 23, 24, 25, 26, 27, 28, 29]);
});

test("places are bounded, in order, the same each time, and none is empty that a searcher's share could fill", () => {
  const bid = fc.record({ searcherId: fc.constantFrom("a", "b", "c", "d"), tip: fc.bigInt({ min: 0n, max: 9n }) });
  fc.assert(
    fc.property(fc.array(bid, { maxLength: 40 }), (created) => {
      const bids = created.map((each, at) => ({ ...each, at }));
      const kept = withinPlaces(bids, few);
      expect(withinPlaces(bids, few)).toEqual(kept);
      expect(kept).toEqual(kept.toSorted((one, other) => one.at - other.at));
      expect(kept.length).toBeLessThanOrEqual(10);
      const searchers = new Set(bids.map(({ searcherId }) => searcherId));
      for (const searcherId of searchers) {
        const own = bids.filter((each) => each.searcherId === searcherId).length;
        const places = kept.filter((each) => each.searcherId === searcherId).length;
        expect(places).toBeLessThanOrEqual(6);
        // Ten places among at most four searchers are at least two each.
        expect(places).toBeGreaterThanOrEqual(Math.min(own, Math.floor(10 / searchers.size)));
      }
    }),
  );
});
