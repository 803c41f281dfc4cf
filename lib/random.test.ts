import { expect, test } from "bun:test";
import { seededRandom, systemRandom } from "./random.ts";

test("a seed gives the same numbers in every version, so that a recorded run can be replayed", () => {
  const random = seededRandom(1);
  expect([random.next(), random.next()]).toEqual([0.3678755429573357, 0.08161311969161034]);
  expect([...seededRandom(7).bytes(4)]).toEqual([9, 101, 234, 71]);
  expect(seededRandom(2 ** 32 + 1).next()).toBe(seededRandom(1).next());
});

test("the system's numbers are from 0 to below 1, and its bytes as many as are asked for", () => {
  const numbers = Array.from({ length: 100 }, () => systemRandom.next());
  expect(numbers.every((number) => number >= 0 && number < 1)).toBe(true);
  expect(new Set(numbers).size).toBe(100);
  expect(systemRandom.bytes(12).length).toBe(12);
});
