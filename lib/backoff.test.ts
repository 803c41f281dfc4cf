import { describe, expect, test } from "bun:test";
import { backoffDelayMs } from "./backoff.ts";
import { type Random, seededRandom } from "./random.ts";

const fixed = (value: number): Random => ({ next: () => value, bytes: (length) => new Uint8Array(length) });

describe("backoffDelayMs", () => {
  test("doubles from the base and stops at the maximum", () => {
    const options = { baseMs: 100, maxMs: 1_000 };
    expect([0, 1, 2, 3, 4, 500].map((attempt) => backoffDelayMs(attempt, options, fixed(1)))).toEqual([
      100, 200, 400, 800, 1_000, 1_000,
    ]);
  });

  test("never waits less than half of the full delay nor more than all of it", () => {
    const random = seededRandom(7);
    for (let round = 0; round < 200; round += 1) {
      const delay = backoffDelayMs(3, { baseMs: 10, maxMs: 1_000 }, random);
      expect(delay).toBeGreaterThanOrEqual(40);
      expect(delay).toBeLessThanOrEqual(80);
    }
  });
});
