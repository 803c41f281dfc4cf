import { describe, expect, test } from "bun:test";
import { runAuction } from "./run-auction.ts";
import { bundle, tipAccounts, wholeBlock } from "./testing/bundles.ts";

const idsOf = (bundles: readonly { id: string }[]): string[] => bundles.map(({ id }) => id);

describe("conflicts", () => {
  const rivals = (a: object, b: object): string[] =>
    idsOf(runAuction([bundle("a", { tip: 5_000, ...a }), bundle("b", { tip: 9_000, ...b })], wholeBlock).winners);

  test("two that write one account compete, whatever else they lock", () => {
    expect(rivals({ writes: [20, 9] }, { writes: [9, 21] })).toEqual(["b"]);
  });
  test("one that reads what another one writes competes with it, either way round", () => {
    expect(rivals({ reads: [9] }, { writes: [9] })).toEqual(["b"]);
    expect(rivals({ writes: [9] }, { reads: [9] })).toEqual(["b"]);
  });
  test("two that read one account both win", () => {
    expect(rivals({ reads: [9] }, { reads: [9] })).toEqual(["b", "a"]);
  });
  test("a tip account that both write is no conflict", () => {
    expect(rivals({ writes: [0, 20] }, { writes: [0, 21] })).toEqual(["b", "a"]);
  });
  test("the same payer in two bundles is one", () => {
    expect(rivals({ writes: [0, 20] }, { writes: [1, 20] })).toEqual(["b"]);
  });
  test("two that pay more together win against one that pays more than each", () => {
    const middle = bundle("m", { tip: 9_000, writes: [10, 11] });
    const sides = [bundle("l", { tip: 6_000, writes: [10] }), bundle("r", { tip: 5_000, writes: [11] })];
    const { winners, losers, revenue, gap, facts } = runAuction([middle, ...sides], wholeBlock);
    expect({ ids: idsOf(winners), revenue, gap }).toEqual({ ids: ["l", "r"], revenue: 11_000n, gap: 0n });
    expect(losers).toEqual([{ bundle: middle, lost: "state_auction" }]);
    expect(facts).toMatchObject({ groups: 1, largestGroup: 3, capsBound: false });
  });
});

describe("caps", () => {
  test("the block's compute goes to those that pay most together, not to those that pay most for a unit", () => {
    const caps = { ...wholeBlock, computeUnits: 1_000 };
    const dense = bundle("d", { tip: 900, computeUnits: 600 });
    const pair = [bundle("e", { tip: 700, computeUnits: 500 }), bundle("f", { tip: 700, computeUnits: 500 })];
    const { winners, losers, revenue, upperBound, facts } = runAuction([dense, ...pair], caps);
    expect({ ids: idsOf(winners), revenue, upperBound }).toEqual({
      ids: ["e", "f"],
      revenue: 1_400n,
      upperBound: 1_400n,
    });
    expect(losers).toEqual([{ bundle: dense, lost: "winning_batch" }]);
    expect(facts.capsBound).toBe(true);
  });
  test("a tip account's compute is shared by all who write it", () => {
    const caps = { ...wholeBlock, accountComputeUnits: 1_000 };
    const on = (account: number, id: string, tip: number) => bundle(id, { tip, computeUnits: 600, writes: [account] });
    const { winners, revenue } = runAuction([on(0, "a", 5_000), on(0, "b", 6_000), on(1, "c", 100)], caps);
    expect({ ids: idsOf(winners), revenue }).toEqual({ ids: ["b", "c"], revenue: 6_100n });
  });
  test("units that earlier winners spent on an account are no longer available", () => {
    const usedBy = (account: number): number => (account === 30 ? 23_900_001 : 0);
    const [late, other] = [bundle("a", { tip: 9_000, writes: [30] }), bundle("b", { tip: 1_000, writes: [31] })];
    const { winners, losers } = runAuction([late, other], { ...wholeBlock, usedBy });
    expect(idsOf(winners)).toEqual(["b"]);
    expect(losers).toEqual([{ bundle: late, lost: "winning_batch" }]);
    const freed = (account: number): number => usedBy(account) - 1;
    expect(runAuction([late, other], { ...wholeBlock, usedBy: freed }).winners).toHaveLength(2);
  });
  test("only the transactions that write an account count against it, where that is known", () => {
    const caps = { ...wholeBlock, accountComputeUnits: 1_000 };
    const known = (id: string) => {
      const plain = bundle(id, { tip: 5_000, computeUnits: 900, writes: [0] });
      return { ...plain, locks: { ...plain.locks, writeComputeUnits: [500] } };
    };
    expect(runAuction([known("a"), known("b")], caps).winners).toHaveLength(2);
  });
  test("an account that no bundle may write any more keeps only its writers out", () => {
    const caps = { computeUnits: 1_000, accountComputeUnits: 10, tipAccounts, usedBy: () => 50 };
    const reader = bundle("r", { tip: 1_000, computeUnits: 100, reads: [0, 40] });
    const { winners } = runAuction([reader, bundle("w", { tip: 2_000, computeUnits: 100, writes: [1] })], caps);
    expect(idsOf(winners)).toEqual(["r"]);
  });
});

describe("extremes", () => {
  test("no bundles, no block", () => {
    expect(runAuction([], wholeBlock)).toMatchObject({ winners: [], losers: [], revenue: 0n, upperBound: 0n });
    const { winners, losers } = runAuction([bundle("a", { tip: 1 })], { ...wholeBlock, computeUnits: 0 });
    expect({ winners, lost: losers.map(({ lost }) => lost) }).toEqual({ winners: [], lost: ["winning_batch"] });
  });
  test("bundles that compute nothing or pay nothing win where there is room, and rank before and behind all others", () => {
    const all = [bundle("c", { tip: 0 }), bundle("b", { tip: 5_000 }), bundle("a", { tip: 1, computeUnits: 0 })];
    expect(idsOf(runAuction(all, wholeBlock).winners)).toEqual(["a", "b", "c"]);
    expect(idsOf(runAuction(all, { ...wholeBlock, computeUnits: 0 }).winners)).toEqual(["a"]);
  });
  test("the largest tips of a u64 are summed exactly, and what doubles cannot distinguish is reported in the gap", () => {
    const largest = 2n ** 64n - 1n;
    const all = Array.from({ length: 40 }, (_, at) =>
      bundle(`${100 + at}`, { tip: largest - BigInt(at), writes: [10 + (at >> 1)] }),
    );
    const { winners, revenue, gap } = runAuction(all, wholeBlock);
    const best = Array.from({ length: 20 }, (_, at) => largest - BigInt(2 * at)).reduce((a, b) => a + b);
    expect(winners).toHaveLength(20);
    expect(winners.reduce((sum, { tip }) => sum + tip, 0n)).toBe(revenue);
    expect(revenue + gap).toBeGreaterThanOrEqual(best);
    expect(Number(gap) / Number(revenue)).toBeLessThan(1e-12);
  });
  test("ties are broken by rank and then by id", () => {
    const tied = ["d", "b", "c", "a"].map((id) => bundle(id, { tip: 3_000, writes: [50] }));
    expect(idsOf(runAuction(tied, wholeBlock).winners)).toEqual(["a"]);
    const equal = ["d", "b"].map((id, at) => bundle(id, { tip: 3_000 * (at + 1), computeUnits: 7 * (at + 1) }));
    expect(idsOf(runAuction(equal, wholeBlock).winners)).toEqual(["b", "d"]);
  });
  test("an invalid number of compute units or tip is an error of the caller", () => {
    for (const computeUnits of [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY]) {
      expect(() => runAuction([bundle("a", { tip: 1, computeUnits })], wholeBlock)).toThrow(RangeError);
    }
    expect(() => runAuction([bundle("a", { tip: -1 })], wholeBlock)).toThrow(RangeError);
    expect(() => runAuction([bundle("a", { tip: 1, writes: [2 ** 31] })], wholeBlock)).toThrow(RangeError);
  });
});
