import { expect, test } from "bun:test";
import { parseDuration, showDuration } from "./duration.ts";

test("a duration is read in seconds, minutes, hours or days, and shown in its largest whole unit", () => {
  for (const [text, ms, shown] of [
    ["90s", 90_000, "90s"],
    ["60s", 60_000, "1m"],
    ["15m", 900_000, "15m"],
    [" 12h ", 43_200_000, "12h"],
    ["24h", 86_400_000, "1d"],
    ["731d", 63_158_400_000, "731d"],
  ] as const) {
    expect(parseDuration(text)).toBe(ms);
    expect(showDuration(ms)).toBe(shown);
  }
  expect(showDuration(1_500)).toBe("1500ms");
});

test("what is no duration is null", () => {
  for (const text of ["", "6", "d", "-1d", "1.5h", "1y", "1 d", "12345678s", "forever"]) {
    expect(parseDuration(text)).toBeNull();
  }
});
