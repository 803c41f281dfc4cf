import { describe, expect, test } from "bun:test";
import { formatDecimal } from "../model/decimal.ts";
import { readRow } from "./read-row.ts";
import type { Row } from "./row.ts";

const atMs = Date.parse("2026-11-01T00:00:00Z");
const good: Row = { name: "X", part: "ticker", last: "100", bid: "99.9", ask: "100.1", witness: [] };
const verdict = (changes: Partial<Row>): string => {
  const reading = readRow({ ...good, ...changes }, atMs);
  return reading.ok ? "believed" : reading.reason;
};
const timed = (value: string, unit: "iso" | "s" | "ms" | "us" = "ms"): Partial<Row> => ({
  time: { value, unit, means: "generated" },
});

describe("a row that is wrong is dropped for what is wrong with it", () => {
  test.each<[string, Partial<Row>]>([
    ["believed", {}],
    ["missing-field", { last: undefined }],
    ["missing-field", { bid: undefined }],
    ["not-a-number", { last: null }],
    ["not-a-number", { last: "NaN" }],
    ["not-a-number", { last: "" }],
    ["not-a-number", { last: ["100"] }],
    ["not-a-number", { ask: "1,000" }],
    ["not-positive", { last: "0" }],
    ["not-positive", { last: "-100" }],
    ["not-positive", { bid: "-1" }],
    ["empty-side", { bid: "" }],
    ["empty-side", { ask: "0.00000000" }],
    ["absurd", { last: "1000000000001" }],
    ["crossed", { bid: "101", ask: "100" }],
    ["wide-spread", { bid: "80", ask: "100" }],
    ["far-from-book", { last: "1000" }],
    ["far-from-book", { last: "1" }],
    ["outside-day-range", { high: "90", low: "80" }],
    ["outside-day-range", { high: "99", low: "110" }],
    ["not-positive", { high: "110", low: "0" }],
    ["not-positive", { high: "110", low: "90", baseVolume: "-1" }],
    ["absurd", { high: "110", low: "90", baseVolume: "1e19" }],
    ["volume-columns", { high: "110", low: "90", baseVolume: "1000", quoteVolume: "10" }],
    ["volume-columns", { high: "110", low: "90", baseVolume: "10", quoteVolume: "100000" }],
    ["volume-columns", { high: "110", low: "90", baseVolume: "10", vwap: "150" }],
    ["believed", { high: "110", low: "90", baseVolume: "10", quoteVolume: "1000" }],
    ["believed", { high: "110", low: "90", baseVolume: "0", quoteVolume: "0" }],
    ["absurd", { high: "110", low: "90", change: "100" }],
    ["absurd", { high: "110", low: "90", changePercent: "-100" }],
    ["not-a-number", { sequence: "1.5" }],
    ["not-a-number", { tradeId: null }],
    ["time-unit", timed("1793491200")],
    ["time-unit", timed("1793491200000000")],
    ["time-unit", timed("1793491200000", "s")],
    ["time-unit", timed("1793491200000", "us")],
    ["future", timed(String(atMs + 5_001))],
    ["believed", timed(String(atMs + 5_000))],
    ["not-a-number", timed("yesterday", "iso")],
    ["not-a-number", timed("2026-10-31T25:00:00Z", "iso")],
    ["not-a-number", timed("2026-10-31T23:00:00+01:00", "iso")],
    ["missing-field", { time: { value: undefined, unit: "ms", means: "generated" } }],
  ])("%s: %j", (reason, changes) => {
    expect(verdict(changes)).toBe(reason);
  });

  test("a part holds what it must, and no more is asked of it", () => {
    const witness: Row["witness"] = [];
    const part = (row: Row): string => {
      const reading = readRow(row, atMs);
      return reading.ok ? "believed" : reading.reason;
    };
    expect(part({ name: "X", part: "last", last: "1", witness })).toBe("believed");
    expect(part({ name: "X", part: "book", bid: "1", ask: "1", witness })).toBe("believed");
    expect(part({ name: "X", part: "day", high: "2", low: "1", witness })).toBe("believed");
    expect(part({ name: "X", part: "day", high: "2", witness })).toBe("missing-field");
    expect(part({ name: "X", part: "book", bid: "1", witness })).toBe("missing-field");
  });
});

describe("what an exchange leaves out is worked out or unknown", () => {
  const dayOf = (changes: Partial<Row>) => {
    const reading = readRow({ ...good, high: "110", low: "90", ...changes }, atMs);
    if (!reading.ok) throw new Error(reading.reason);
    const { day } = reading.value;
    return [day?.open, day?.baseVolume, day?.quoteVolume].map((figure) =>
      figure === null || figure === undefined ? null : formatDecimal(figure),
    );
  };

  test("the open from the change, in money or in percent", () => {
    expect(dayOf({ change: "-5" })).toEqual(["105", null, null]);
    expect(dayOf({ changePercent: "25" })).toEqual(["80", null, null]);
    expect(dayOf({ open: "95", change: "-5" })).toEqual(["95", null, null]);
    expect(dayOf({})).toEqual([null, null, null]);
  });

  test("the quote volume from the mean price, and a volume that is no number at all is unknown", () => {
    expect(dayOf({ baseVolume: "10", vwap: "101.5" })).toEqual([null, "10", "1015"]);
    expect(dayOf({ baseVolume: "nan", quoteVolume: "" })).toEqual([null, null, null]);
    expect(verdict({ high: "110", low: "90", baseVolume: "much" })).toBe("not-a-number");
  });

  test("a book that is crossed by a hair is left out, one that is locked is kept", () => {
    const bookOf = (bid: string, ask: string) => {
      const reading = readRow({ ...good, bid, ask }, atMs);
      return reading.ok && reading.value.bid !== null && reading.value.ask !== null;
    };
    expect(bookOf("100.01", "100")).toBe(false);
    expect(bookOf("100", "100")).toBe(true);
  });

  test("a time is held to the moment of receipt and read to the millisecond from any fraction", () => {
    const timeOf = (changes: Partial<Row>) => {
      const reading = readRow({ ...good, ...changes }, atMs);
      return reading.ok ? reading.value.timeMs : null;
    };
    expect(timeOf(timed(String(atMs + 900)))).toBe(atMs);
    expect(timeOf(timed("2026-10-31T23:59:59.1234567Z", "iso"))).toBe(atMs - 877);
    expect(timeOf(timed("2026-10-31T23:59:59Z", "iso"))).toBe(atMs - 1_000);
    expect(timeOf(timed(`${atMs - 7}999`, "us"))).toBe(atMs - 7);
  });
});
