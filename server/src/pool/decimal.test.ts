import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  changePercent,
  decimalOf,
  decimalText,
  divide,
  native,
  ratio,
  recordText,
  subtract,
  zeroOf,
} from "./decimal.ts";

const whole = fc.bigInt({ min: -(10n ** 24n), max: 10n ** 24n });

describe("decimals", () => {
  test("are written with every digit and without zeros at the end", () => {
    const shown = [native(1n), native(-1n), native(1_500_000_000n), native(0n), native(18_446_744_073_709_551_615n)];
    expect(shown.map(decimalText)).toEqual(["0.000000001", "-0.000000001", "1.5", "0", "18446744073.709551615"]);
    expect(decimalText({ units: 7n, places: 0 })).toBe("7");
  });

  test("are read back as they were from any text", () => {
    fc.assert(
      fc.property(whole, fc.integer({ min: 0, max: 12 }), (units, places) => {
        const text = decimalText({ units, places });
        expect(text).toMatch(/^-?(0|[1-9]\d*)(\.\d*[1-9])?$/);
        const [before = "", after = ""] = text.replace("-", "").split(".");
        const read = BigInt(before + after.padEnd(places, "0"));
        expect(units < 0n ? -read : read).toBe(units);
      }),
    );
  });

  test("of a record stay exact where a double is not", () => {
    const text = recordText({ a: native(9_007_199_254_740_993n), b: 9_007_199_254_740_993n, c: 'x"', d: 2 });
    expect(text).toBe('{"a":9007199.254740993,"b":9007199254740993,"c":"x\\"","d":2}');
  });

  test("of different places are not subtracted", () => {
    expect(() => subtract(zeroOf(1), zeroOf(2))).toThrow(RangeError);
  });
});

describe("a quotient", () => {
  test("is the nearest whole number, and of two as near the one further from zero", () => {
    fc.assert(
      fc.property(
        whole,
        whole.filter((value) => value !== 0n),
        (numerator, denominator) => {
          const off = (quotient: bigint) => {
            const rest = numerator - quotient * denominator;
            return rest < 0n ? -rest : rest;
          };
          const quotient = divide(numerator, denominator);
          const below = denominator < 0n ? -denominator : denominator;
          expect(off(quotient) * 2n <= below).toBe(true);
          expect(divide(-numerator, denominator)).toBe(-quotient);
        },
      ),
    );
    expect([divide(1n, 2n), divide(-1n, 2n), divide(5n, 10n), divide(4n, 10n)]).toEqual([1n, -1n, 1n, 0n]);
  });

  test("by zero is 0, and so is a number that is none", () => {
    expect([divide(5n, 0n), ratio(5n, 0n, 3).units, changePercent(0n, 5n, 2).units]).toEqual([0n, 0n, 0n]);
    expect([Number.NaN, Number.POSITIVE_INFINITY].map((value) => decimalOf(value, 3).units)).toEqual([0n, 0n]);
  });
});
