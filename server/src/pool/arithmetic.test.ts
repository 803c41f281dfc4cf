import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  afterFee,
  annualPercent,
  apyOf,
  averageApy,
  exchangeRate,
  fraction,
  growth,
  mevScore,
  noApy,
  poolTips,
  profitOf,
  rateChangePercent,
  secondsPerYear,
  sharesPercent,
  stakersTips,
} from "./arithmetic.ts";
import { decimalText, type ExactDecimal } from "./decimal.ts";

const lamports = fc.bigInt({ min: 0n, max: 600_000_000_000_000_000n });
const positive = fc.bigInt({ min: 1n, max: 600_000_000_000_000_000n });
const text = (of: ExactDecimal) => decimalText(of);

describe("the exchange rate", () => {
  test("is lamports for each token, in the native token's and the mint's own units", () => {
    expect(text(exchangeRate({ lamports: 3_000_000_000n, tokens: 2_000_000_000n }, 9))).toBe("1.5");
    expect(text(exchangeRate({ lamports: 3_000_000_000n, tokens: 2_000_000n }, 6))).toBe("1.5");
    expect(text(exchangeRate({ lamports: 1n, tokens: 3n }, 9))).toBe("0.333333333");
  });

  test("is 1 while there is no token, as the program mints the first", () => {
    expect(text(exchangeRate({ lamports: 0n, tokens: 0n }, 9))).toBe("1");
    expect(text(exchangeRate({ lamports: 5n, tokens: 0n }, 9))).toBe("1");
  });

  test("changes by nothing where a moment has no rate", () => {
    const some = { lamports: 5n, tokens: 5n };
    for (const none of [
      { lamports: 0n, tokens: 0n },
      { lamports: 5n, tokens: 0n },
    ]) {
      expect([growth(none, some), growth(some, none)]).toEqual([0, 0]);
      expect([rateChangePercent(none, some).units, rateChangePercent(some, none).units]).toEqual([0n, 0n]);
    }
    expect(text(rateChangePercent(some, { lamports: 6n, tokens: 5n }))).toBe("20");
    expect(growth(some, { lamports: 6n, tokens: 5n })).toBeCloseTo(0.2, 12);
  });
});

describe("a yearly rate", () => {
  test("is the growth of each period compounded over a year", () => {
    expect(text(annualPercent(0.1, secondsPerYear))).toBe("10");
    expect(text(annualPercent(0.1, secondsPerYear / 2))).toBe("21");
    expect(text(annualPercent(-0.5, secondsPerYear))).toBe("-50");
    // 0.0004 an epoch, 182.62 epochs of two days a year: by hand with 30 digits.
    expect(Number(text(annualPercent(0.0004, 172_800)))).toBeCloseTo(
      (1.0004 ** (secondsPerYear / 172_800) - 1) * 100,
      6,
    );
  });

  test("is never no number, whatever the growth and the period", () => {
    fc.assert(
      fc.property(fc.double(), fc.double(), (grown, seconds) => {
        const percent = Number(text(annualPercent(grown, seconds)));
        expect(percent).toBeGreaterThanOrEqual(-100);
        expect(percent).toBeLessThanOrEqual(1_000_000);
      }),
    );
    for (const seconds of [0, -1, Number.NaN]) expect(annualPercent(0.1, seconds).units).toBe(0n);
    expect(annualPercent(Number.NaN, 100).units).toBe(0n);
  });

  test("is -100 % where all was lost, however long the period", () => {
    const lost = growth({ lamports: 5n, tokens: 5n }, { lamports: 0n, tokens: 5n });
    for (const seconds of [100, secondsPerYear, 10 * secondsPerYear]) {
      expect(text(annualPercent(lost, seconds))).toBe("-100");
    }
    expect(text(apyOf({ grown: lost, seconds: 172_800 }, { grown: 0, seconds: 172_800 }).total)).toBe("-100");
  });

  test("has parts that add up to it exactly, whatever tips did", () => {
    fc.assert(
      fc.property(
        fc.double({ min: -0.9, max: 2, noNaN: true }),
        fc.double({ min: 0, max: 2, noNaN: true }),
        fc.integer({ min: 1, max: 10_000_000 }),
        (grown, byTips, seconds) => {
          const { total, base, mev } = apyOf({ grown, seconds }, { grown: byTips, seconds });
          expect(base.units + mev.units).toBe(total.units);
          expect(apyOf({ grown, seconds }, { grown: 0, seconds })).toMatchObject({ mev: { units: 0n }, base: total });
        },
      ),
    );
  });

  test("averaged over epochs has parts that add up exactly too", () => {
    expect(averageApy([])).toEqual(noApy);
    const parts = [0.0003, 0.0004, 0.00011].map((grown, index) =>
      apyOf({ grown, seconds: 172_800 }, { grown: grown / (index + 2), seconds: 172_800 }),
    );
    const { total, base, mev } = averageApy(parts.map((each) => ({ parts: each, epochs: 1n })));
    expect(base.units + mev.units).toBe(total.units);
    const sum = parts.reduce((all, each) => all + Number(each.total.units), 0);
    expect(Number(total.units)).toBe(Math.round(sum / 3));
    const [first = noApy, second = noApy] = parts;
    const weighted = averageApy([
      { parts: first, epochs: 3n },
      { parts: second, epochs: 1n },
    ]);
    expect(Number(weighted.total.units)).toBe(
      Math.round((3 * Number(first.total.units) + Number(second.total.units)) / 4),
    );
  });
});

describe("tips", () => {
  test("of a pool and of everybody else never add up to more than the tips less the commission", () => {
    fc.assert(
      fc.property(
        lamports,
        fc.integer({ min: 0, max: 10_000 }),
        lamports,
        lamports,
        (tips, commission, own, others) => {
          const totalStake = own + others;
          const shared = (poolStake: bigint) =>
            poolTips({ tips, commissionBasisPoints: commission, poolStake, totalStake });
          const left = stakersTips({ tips, commissionBasisPoints: commission, poolStake: own, totalStake });
          expect(left >= 0n && left <= tips).toBe(true);
          expect(shared(own) + shared(others) <= left).toBe(true);
          if (totalStake > 0n) expect(left - shared(own) - shared(others)).toBeLessThanOrEqual(1n);
        },
      ),
    );
  });

  test("of a validator whose whole stake is not told are at most all of them", () => {
    const known = { tips: 100n, commissionBasisPoints: 1_000, poolStake: 7n };
    expect([poolTips({ ...known, totalStake: 0n }), poolTips({ ...known, totalStake: 14n })]).toEqual([90n, 45n]);
    expect(poolTips({ ...known, poolStake: 0n, totalStake: 0n })).toBe(0n);
  });

  test("lose the pool's fee, rounded up as its program rounds", () => {
    expect(afterFee(101n, { numerator: 4n, denominator: 100n })).toBe(96n);
    expect(afterFee(101n, { numerator: 4n, denominator: 0n })).toBe(101n);
    expect(afterFee(5n, { numerator: 3n, denominator: 1n })).toBe(0n);
  });

  test("score 50 where they are the average, 0 where there are none, and below 100 beside others", () => {
    const all = { tips: 1_000n, stake: 100n };
    expect(text(mevScore({ tips: 10n, stake: 1n }, all))).toBe("50");
    expect(text(mevScore({ tips: 0n, stake: 1n }, all))).toBe("0");
    expect(text(mevScore({ tips: 30n, stake: 1n }, all))).toBe("75");
    fc.assert(
      fc.property(lamports, lamports, lamports, lamports, (tips, stake, otherTips, otherStake) => {
        const score = mevScore({ tips, stake }, { tips: tips + otherTips, stake: stake + otherStake });
        expect(score.units >= 0n && score.units <= 10_000n).toBe(true);
      }),
    );
  });

  test("by type are shares that add up to 100 exactly and are within a hundredth of what they are", () => {
    fc.assert(
      fc.property(fc.array(lamports, { minLength: 1, maxLength: 6 }), (amounts) => {
        const shares = sharesPercent(amounts);
        const sum = amounts.reduce((total, each) => total + each, 0n);
        expect(shares.reduce((total, each) => total + each.units, 0n)).toBe(sum === 0n ? 0n : 10_000n);
        for (const [index, amount] of amounts.entries()) {
          if (sum === 0n) continue;
          const off = (shares[index]?.units ?? 0n) * sum - amount * 10_000n;
          expect(off < sum && off > -sum).toBe(true);
        }
      }),
    );
    expect(sharesPercent([1n, 1n, 1n]).map(text)).toEqual(["33.34", "33.33", "33.33"]);
  });
});

test("a fraction keeps fifteen digits of any quotient", () => {
  fc.assert(
    fc.property(positive, positive, (one, other) => {
      const [less, more] = one < other ? [one, other] : [other, one];
      const exact = Number((less * 10n ** 30n) / more) / 1e30;
      expect(fraction(less, more)).toBeCloseTo(exact, 15);
    }),
  );
  expect(fraction(1n, 0n)).toBe(0);
});

test("net profit is revenue less cost, and nothing is divided by no bundle", () => {
  const made = profitOf({ bundles: 3n, gained: -10n, fees: 5n, tips: 7n });
  expect(made).toEqual({ revenue: 2n, cost: 12n, net: -10n, average: -3n });
  expect(profitOf({ bundles: 0n, gained: 0n, fees: 0n, tips: 0n }).average).toBe(0n);
});
