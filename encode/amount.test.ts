import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { decimalText, doubleText, ruledTokenAmount, uiTokenAmount } from "./amount.ts";

const u64 = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });

describe("plain amounts", () => {
  test("zeros at the end of the fraction are left out, and the point with them", () => {
    expect(uiTokenAmount(1_500_000n, 6)).toEqual({
      uiAmount: 1.5,
      decimals: 6,
      amount: "1500000",
      uiAmountString: "1.5",
    });
    expect(uiTokenAmount(3_000_000n, 6).uiAmountString).toBe("3");
    expect(uiTokenAmount(0n, 9)).toEqual({ uiAmount: 0, decimals: 9, amount: "0", uiAmountString: "0" });
    expect(uiTokenAmount(1n, 9).uiAmountString).toBe("0.000000001");
    expect(uiTokenAmount(10n, 0).uiAmountString).toBe("10");
  });

  test("a real balance over 2^53 is shown by the node's division of doubles", () => {
    expect(uiTokenAmount(863634859025574264n, 9).uiAmount).toBe(863634859.0255743);
  });

  test("there is no float from 20 decimals on, and the text stays exact", () => {
    expect(uiTokenAmount(5n, 19).uiAmount).toBe(5e-19);
    expect(uiTokenAmount(5n, 20)).toEqual({
      uiAmount: null,
      decimals: 20,
      amount: "5",
      uiAmountString: "0.00000000000000000005",
    });
  });

  test("the text times the power of ten is the raw amount again, for every amount and number of decimals", () => {
    fc.assert(
      fc.property(u64, fc.integer({ min: 0, max: 255 }), (amount, decimals) => {
        const [whole = "", fraction = ""] = decimalText(amount, decimals).split(".");
        expect(BigInt(whole + fraction.padEnd(decimals, "0"))).toBe(amount);
        expect(fraction.endsWith("0")).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  test("up to 2^53 the float is the double nearest to the exact value", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 53n }), fc.integer({ min: 0, max: 19 }), (amount, decimals) => {
        const shown = uiTokenAmount(amount, decimals);
        expect(shown.uiAmount).toBe(Number(shown.uiAmountString));
      }),
      { numRuns: 500 },
    );
  });
});

describe("mints that change what is shown", () => {
  const interest = {
    kind: "interest" as const,
    initializedAt: 0n,
    averageRateBefore: 500,
    updatedAt: 31_556_736n,
    currentRate: 500,
  };

  test("five percent a year compounds continuously, before and after the rate was set", () => {
    const shown = ruledTokenAmount(1_000_000_000_000n, 9, interest, 31_556_736n * 2n);
    expect(shown.uiAmount).toBeCloseTo(1_000 * Math.exp(0.1), 6);
    expect(shown.amount).toBe("1000000000000");
    expect(Number(shown.uiAmountString)).toBe(shown.uiAmount ?? Number.NaN);
  });

  test("a scale applies its new multiplier from its moment on and cuts off below one raw unit", () => {
    const scale = { kind: "scale" as const, multiplier: 2, newMultiplier: 3.5, newMultiplierAt: 100n };
    expect(ruledTokenAmount(1_000n, 2, scale, 99n).uiAmountString).toBe("20");
    expect(ruledTokenAmount(1_000n, 2, scale, 100n).uiAmountString).toBe("35");
    expect(ruledTokenAmount(1n, 2, scale, 100n).uiAmountString).toBe("0.03");
  });

  test("a result that is not finite has no float", () => {
    const scale = {
      kind: "scale" as const,
      multiplier: Number.POSITIVE_INFINITY,
      newMultiplier: 0,
      newMultiplierAt: 1n,
    };
    expect(ruledTokenAmount(1n, 2, scale, 0n)).toEqual({
      uiAmount: null,
      decimals: 2,
      amount: "1",
      uiAmountString: "inf",
    });
  });

  test("no rule makes the encoder throw or a float that JSON cannot hold", () => {
    const i64 = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
    const rate = fc.integer({ min: -32_768, max: 32_767 });
    fc.assert(
      fc.property(
        u64,
        fc.integer({ min: 0, max: 255 }),
        i64,
        rate,
        fc.double(),
        (amount, decimals, at, bps, factor) => {
          const yields = { ...interest, initializedAt: at, averageRateBefore: bps, currentRate: bps };
          const scale = { kind: "scale" as const, multiplier: factor, newMultiplier: factor, newMultiplierAt: at };
          for (const rule of [yields, scale]) {
            const { uiAmount } = ruledTokenAmount(amount, decimals, rule, 0n);
            expect(uiAmount === null || Number.isFinite(uiAmount)).toBe(true);
          }
        },
      ),
      { numRuns: 300 },
    );
  });
});

test("a double's text has no exponent and reads back as the same double", () => {
  expect(doubleText(1e-7)).toBe("0.0000001");
  expect(doubleText(-1.5e-9)).toBe("-0.0000000015");
  expect(doubleText(1.25e21)).toBe("1250000000000000000000");
  expect(doubleText(Number.NaN)).toBe("NaN");
  fc.assert(
    fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
      expect(doubleText(value)).not.toContain("e");
      expect(Number(doubleText(value))).toBe(Object.is(value, -0) ? 0 : value);
    }),
    { numRuns: 500 },
  );
});
