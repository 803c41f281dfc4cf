import { expect, test } from "bun:test";
import { secretKeys, showBytes } from "./parsers.ts";

test("a size is shown in the largest unit of which it is a whole number", () => {
  const shown = [0, 1_023, 1_024, 1_025, 1_536, 1_572_864, 1_048_576, 5 * 1_024 ** 3, 1_024 ** 3 + 1_024].map(
    showBytes,
  );
  expect(shown).toEqual(["0", "1023", "1KiB", "1025", "1536", "1536KiB", "1MiB", "5GiB", "1048577KiB"]);
});

test("up to eight keys are taken, in the order in which they are given", () => {
  const keys = Array.from({ length: 9 }, (_unused, at) => `${at}`.repeat(64));
  const parsed = secretKeys.parse(keys.slice(0, 8).join(", "));
  expect(parsed).toMatchObject({ ok: true, value: keys.slice(0, 8) });
  expect(secretKeys.parse(keys.join(",")).ok).toBe(false);
  expect(secretKeys.parse(`${keys[0]},short`).ok).toBe(false);
});
