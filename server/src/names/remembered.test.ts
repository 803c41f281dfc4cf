import { expect, test } from "bun:test";
import { Remembered } from "./remembered.ts";

test("a value is made once, until so many others were made that it is forgotten", () => {
  const remembered = new Remembered<number>({ max: 2 });
  let made = 0;
  const ask = (key: string): number => remembered.get(key, () => ++made);
  expect([ask("a"), ask("b"), ask("a"), ask("c"), ask("a")]).toEqual([1, 2, 1, 3, 4]);
  expect(remembered.size).toBe(2);
});

test("a value that could not be made is tried again", () => {
  const remembered = new Remembered<number>({ max: 2 });
  expect(() =>
    remembered.get("a", () => {
      throw new RangeError("no");
    }),
  ).toThrow(RangeError);
  expect(remembered.get("a", () => 1)).toBe(1);
});
