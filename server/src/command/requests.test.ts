import { expect, test } from "bun:test";
import { moment } from "./requests.ts";

const noon = Date.UTC(2026, 10, 20, 12);

test("a moment is a time, or how long ago it was", () => {
  const read = (text: string): string => moment(text, undefined, noon);
  expect(read("2026-11-20T10:00:00+01:00")).toBe("2026-11-20T09:00:00.000Z");
  expect(read("2026-11-20")).toBe("2026-11-20T00:00:00.000Z");
  expect([read("30s"), read("90m"), read("12h"), read("7d")]).toEqual([
    "2026-11-20T11:59:30.000Z",
    "2026-11-20T10:30:00.000Z",
    "2026-11-20T00:00:00.000Z",
    "2026-11-13T12:00:00.000Z",
  ]);
});

test("what is no moment is refused with an example", () => {
  for (const text of ["yesterday", "", "7w", "-5m"]) expect(() => moment(text, undefined, noon)).toThrow("90m");
});
