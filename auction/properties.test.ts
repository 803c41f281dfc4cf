import { describe, expect, test } from "bun:test";
import { seededRandom } from "@sluice/lib";
import { run } from "./auction.campaign.ts";
import type { AuctionOutcome } from "./interfaces.ts";
import { runAuction } from "./run-auction.ts";
import { connectedGroup, shuffled, wholeBlock } from "./testing/bundles.ts";
import { breachOf, exhaustiveRevenue } from "./testing/exhaustive.ts";
import { type Instance, smallInstance } from "./testing/instances.ts";

/** The decisions of an outcome, in an order that does not depend on the search. */
const decided = ({ winners, losers, revenue, upperBound }: AuctionOutcome) => ({
  winners: winners.map(({ id }) => id),
  losers: losers.map(({ bundle, lost }) => `${bundle.id} ${lost}`).toSorted(),
  revenue,
  upperBound,
});

test("a slice of the campaign: random auctions are as exhaustive search has them", async () => {
  const { passed, summary } = await run({ n: 2_000, seed: 20261122 });
  expect(passed, summary).toBe(true);
}, 60_000);

test("groups of 28 are solved exactly, whatever the block has left and with no steps to search", () => {
  for (let seed = 0; seed < 60; seed++) {
    const caps = { ...wholeBlock, computeUnits: seed % 2 === 0 ? wholeBlock.computeUnits : 2_000_000 };
    const { bundles } = connectedGroup(seed, 28, 8, caps);
    const { revenue, gap, winners, facts } = runAuction(bundles, caps, { searchSteps: seed % 4 === 0 ? 0 : 1_000_000 });
    expect({ revenue, gap, seed }).toEqual({ revenue: exhaustiveRevenue(bundles, caps), gap: 0n, seed });
    expect(breachOf(winners, caps)).toBeNull();
    expect(facts).toMatchObject({ groups: 1, largestGroup: 28 });
  }
});

test("groups of up to 28 are solved exactly with no steps to search where no cap binds, however many there are", () => {
  for (let seed = 0; seed < 40; seed++) {
    const groups = Array.from({ length: 6 }, (_, at) => connectedGroup(seed * 6 + at, 8 + ((seed + 4 * at) % 21), 6));
    const bundles = groups.flatMap((group, at) =>
      group.bundles.map(({ id, locks, ...rest }) => {
        const writes = locks.writes.map((account) => (account < 8 ? account : account + 5_000 * (at + 1)));
        return { ...rest, id: `${at}${id}`, locks: { ...locks, writes } };
      }),
    );
    const caps = { ...wholeBlock, computeUnits: 6e9, accountComputeUnits: 6e9 };
    const { revenue, gap, facts } = runAuction(shuffled(bundles, seededRandom(seed)), caps, { searchSteps: 0 });
    const best = groups.reduce((sum, group) => sum + exhaustiveRevenue(group.bundles, caps), 0n);
    expect({ revenue, gap, groups: facts.groups }).toEqual({ revenue: best, gap: 0n, groups: 6 });
  }
}, 60_000);

describe("beyond the sizes that are solved outright", () => {
  test("the gap is a true bound, however few steps there are", () => {
    let open = 0;
    for (let seed = 0; seed < 60; seed++) {
      const caps = { ...wholeBlock, computeUnits: seed % 3 === 0 ? 2_000_000 : wholeBlock.computeUnits };
      const { bundles } = connectedGroup(seed, 44, 9, caps);
      const best = exhaustiveRevenue(bundles, caps);
      for (const searchSteps of [0, 3_000, 1_000_000]) {
        const { revenue, upperBound, winners } = runAuction(bundles, caps, { searchSteps });
        expect(revenue).toBeLessThanOrEqual(best);
        expect(upperBound).toBeGreaterThanOrEqual(best);
        expect(breachOf(winners, caps)).toBeNull();
        if (upperBound > revenue) open++;
      }
    }
    expect(open).toBeGreaterThan(0);
  });

  test("the bound of a part that is not solved counts each bundle of the choice, and no better auction exceeds it", () => {
    for (const [seed, size, accounts, accountComputeUnits] of [
      [1, 80, 14, 2_000_000],
      [0, 120, 60, 24_000_000],
    ] as const) {
      const caps = { ...wholeBlock, computeUnits: 6_000_000, accountComputeUnits };
      const { bundles } = connectedGroup(seed, size, accounts, caps);
      const short = runAuction(bundles, caps, { searchSteps: 200_000 });
      const long = runAuction(bundles, caps, { searchSteps: 20_000_000 });
      expect(short.gap).toBeGreaterThan(0n);
      expect(short.upperBound).toBeGreaterThanOrEqual(long.revenue);
      expect(long.upperBound).toBeLessThanOrEqual(short.upperBound);
      expect(breachOf(short.winners, caps)).toBeNull();
    }
  });

  test("a thousand bundles of one group win without a conflict and within the caps, the same in any order", () => {
    const random = seededRandom(5);
    for (const accountComputeUnits of [24_000_000, 4_000_000]) {
      const caps = { ...wholeBlock, accountComputeUnits };
      const { bundles } = connectedGroup(9, 1_000, 120, caps);
      const outcome = runAuction(bundles, caps);
      expect(breachOf(outcome.winners, caps)).toBeNull();
      expect(outcome.winners.length + outcome.losers.length).toBe(1_000);
      expect(Number(outcome.gap)).toBeLessThan(
        (accountComputeUnits === 24_000_000 ? 0.02 : 0.5) * Number(outcome.revenue),
      );
      expect(decided(runAuction(shuffled(bundles, random), caps))).toEqual(decided(outcome));
    }
  });
});

test("the order of arrival decides nothing, nor does a second run", () => {
  const random = seededRandom(1);
  for (let seed = 0; seed < 150; seed++) {
    const { bundles, caps } = smallInstance(seed, { bundlesMax: 24 });
    const first = decided(runAuction(bundles, caps));
    expect(decided(runAuction(bundles, caps))).toEqual(first);
    expect(decided(runAuction(shuffled(bundles, random), caps))).toEqual(first);
  }
});

test("one more bundle never lowers the revenue where the search is exact", () => {
  let rose = 0;
  for (let seed = 0; seed < 400; seed++) {
    const { bundles, caps } = smallInstance(seed, { bundlesMax: 16 });
    let before = 0n;
    for (let count = 1; count <= bundles.length; count++) {
      const { revenue, gap } = runAuction(bundles.slice(0, count), caps);
      expect(gap).toBe(0n);
      expect(revenue).toBeGreaterThanOrEqual(before);
      if (revenue > before) rose++;
      before = revenue;
    }
  }
  expect(rose).toBeGreaterThan(400);
});

describe("one more bundle, where the search is cut short", () => {
  /** Revenues as bundles come one by one; the winners so far are the incumbent where `isKept`. */
  const revenues = ({ bundles, caps }: Instance, from: number, searchSteps: number, isKept: boolean): bigint[] => {
    let incumbent: string[] = [];
    return bundles.slice(from).map((_, at) => {
      const options = isKept ? { searchSteps, incumbent } : { searchSteps };
      const { winners, revenue, upperBound } = runAuction(bundles.slice(0, from + at + 1), caps, options);
      expect(breachOf(winners, caps)).toBeNull();
      expect(upperBound).toBeGreaterThanOrEqual(revenue);
      incumbent = winners.map(({ id }) => id);
      return revenue;
    });
  };
  const falls = (series: readonly bigint[]): number =>
    series.filter((revenue, at) => revenue < (series[at - 1] ?? 0n)).length;

  test("never lowers the revenue beside the incumbent, and does without", () => {
    let without = 0;
    let rose = 0;
    for (let seed = 0; seed < 9; seed++) {
      const caps = { ...wholeBlock, computeUnits: seed % 2 === 0 ? 6e9 : 20_000_000 };
      const group = connectedGroup(seed, 120, 24, seed % 3 === 0 ? { ...caps, accountComputeUnits: 3_000_000 } : caps);
      const arrived = { ...group, bundles: shuffled(group.bundles, seededRandom(seed)) };
      const searchSteps = [0, 5_000, 40_000][seed % 3] ?? 0;
      without += falls(revenues(arrived, 70, searchSteps, false));
      const kept = revenues(arrived, 70, searchSteps, true);
      expect(falls(kept)).toBe(0);
      rose += kept.filter((revenue, at) => revenue > (kept[at - 1] ?? revenue)).length;
    }
    expect(without).toBeGreaterThan(5);
    expect(rose).toBeGreaterThan(50);
  }, 60_000);

  test("an incumbent that stands no more, conflicts or exceeds the caps is kept as far as it fits", () => {
    for (let seed = 0; seed < 200; seed++) {
      const { bundles, caps } = smallInstance(seed, { bundlesMax: 14 });
      const incumbent = [...bundles.filter((_, at) => at % 2 === 0).map(({ id }) => id), "gone"];
      const { revenue, gap, winners } = runAuction(bundles, caps, { incumbent });
      expect({ revenue, gap }).toEqual({ revenue: exhaustiveRevenue(bundles, caps), gap: 0n });
      expect(breachOf(winners, caps)).toBeNull();
    }
  });
});

test("a loser to conflicts conflicts with a winner; a loser to caps with none", () => {
  const kinds = { state_auction: 0, winning_batch: 0 };
  for (let seed = 0; seed < 500; seed++) {
    const { bundles, caps } = smallInstance(seed, { bundlesMax: 12 });
    const { winners, losers } = runAuction(bundles, caps);
    for (const { bundle, lost } of losers) {
      kinds[lost]++;
      const unlimited = { ...caps, computeUnits: 1e12, accountComputeUnits: 1e12 };
      const isBlocked = winners.some((winner) => breachOf([winner, bundle], unlimited)?.includes("conflict") === true);
      if (lost === "state_auction") expect(isBlocked).toBe(true);
      expect(breachOf([...winners, bundle], caps)).not.toBeNull();
    }
  }
  expect(Math.min(kinds.state_auction, kinds.winning_batch)).toBeGreaterThan(100);
});
