import { describe, expect, test } from "bun:test";
import { ManualClock } from "@sluice/lib";
import { LedgerQueryError, LedgerUnavailableError } from "../../ledger/index.ts";
import { decimal } from "../model/decimal.ts";
import { priced } from "../testing/rounds.ts";
import { DayWindow } from "./day-window.ts";
import { Recorder } from "./recorder.ts";
import { rowLimits } from "./row-queue.ts";

const minute = 60_000;
const hour = 60 * minute;
const volumes = { take: () => [], unrecorded: () => [] };
const nothing = { volumes, dropped: () => undefined };

describe("what waits for the ledger", () => {
  const failing = () => {
    const dropped: [string, number, string][] = [];
    const written: string[] = [];
    /** What the ledger says to every row; null takes it. */
    const ledger = { fault: new LedgerUnavailableError("the disk is full") as Error | null };
    const insert = async (table: string, rows: readonly object[]): Promise<void> => {
      if (ledger.fault !== null) throw ledger.fault;
      for (const _ of rows) written.push(table);
    };
    return {
      dropped,
      written,
      ledger,
      recorder: new Recorder({
        clock: new ManualClock(),
        ledger: { insert },
        volumes,
        dropped: (table, rows, reason) => dropped.push([table, rows, reason]),
      }),
    };
  };

  test("stays while the ledger is unavailable, however long, and is written once it is there again", async () => {
    const { recorder, dropped, written, ledger } = failing();
    recorder.round(priced({ atMs: 0, price: "1" }));
    recorder.round(priced({ atMs: minute, price: "2" }));
    for (let attempt = 0; attempt < 20; attempt += 1) await recorder.write();
    expect([dropped, written]).toEqual([[], []]);
    expect(recorder.unwritten("BTC", Number.POSITIVE_INFINITY)).toHaveLength(2);
    ledger.fault = null;
    await recorder.write();
    expect(written).toEqual(["oracle_candles_by_minute", "oracle_rounds_by_second"]);
    expect(recorder.unwritten("BTC", Number.POSITIVE_INFINITY)).toHaveLength(1);
  });

  test("that the ledger refuses for good is dropped and counted, and the next rows are written", async () => {
    const { recorder, dropped, written, ledger } = failing();
    ledger.fault = new LedgerQueryError(27, "cannot parse");
    recorder.round(priced({ atMs: 0, price: "1" }));
    recorder.round(priced({ atMs: minute, price: "2" }));
    await recorder.write();
    expect(dropped).toEqual([
      ["oracle_candles_by_minute", 1, "refused"],
      ["oracle_rounds_by_second", 1, "refused"],
    ]);
    ledger.fault = null;
    recorder.round(priced({ atMs: 2 * minute, price: "3" }));
    await recorder.write();
    expect(written).toEqual(["oracle_candles_by_minute", "oracle_rounds_by_second"]);
  });

  test("when the server ends before the ledger is there again, is counted as dropped", async () => {
    const { recorder, dropped } = failing();
    recorder.round(priced({ atMs: 0, price: "1" }));
    await recorder[Symbol.asyncDispose]();
    expect(dropped).toEqual([
      ["oracle_candles_by_minute", 1, "unavailable"],
      ["oracle_rounds_by_second", 1, "unavailable"],
    ]);
  });

  test("is bounded: the oldest rows go first and are counted", () => {
    const { recorder, dropped } = failing();
    const rows = rowLimits.waitingMax + rowLimits.batchMax + 2;
    for (let index = 0; index < rows; index += 1)
      recorder.round(priced({ atMs: index * 1_000, price: String(index + 1) }));
    const lost = dropped
      .filter(([table]) => table === "oracle_rounds_by_second")
      .reduce((sum, [, count]) => sum + count, 0);
    expect(lost).toBeGreaterThan(0);
    expect(recorder.unwrittenRounds("BTC", Number.POSITIVE_INFINITY).length).toBe(rows - lost);
    expect(recorder.unwrittenRounds("BTC", Number.POSITIVE_INFINITY).length).toBeLessThanOrEqual(
      rowLimits.waitingMax + rowLimits.batchMax + 1,
    );
    expect(recorder.unwrittenRounds("BTC", Number.POSITIVE_INFINITY).at(-1)?.atMs).toBe((rows - 1) * 1_000);
  });

  test("a price that has no room in the ledger's columns is counted and never written wrongly", () => {
    const { recorder, dropped } = failing();
    recorder.round(priced({ atMs: 0, price: "100000000000000000000" }));
    expect(dropped).toEqual([["oracle_rounds_by_second", 1, "unstorable"]]);
    expect(recorder.unwritten("BTC", Number.POSITIVE_INFINITY)).toEqual([]);
  });

  test("a price that stands still is kept once a minute, one that moves once a second", () => {
    const { recorder } = failing();
    for (let at = 0; at <= 180_000; at += 250) recorder.round(priced({ atMs: at, price: "1" }));
    expect(
      recorder.unwrittenRounds("BTC", Number.POSITIVE_INFINITY).map(({ atMs }) => Math.floor(atMs / 1_000)),
    ).toEqual([0, 60, 120, 180]);
    for (let at = 180_250; at <= 183_000; at += 250) recorder.round(priced({ atMs: at, price: String(at) }));
    expect(
      recorder
        .unwrittenRounds("BTC", Number.POSITIVE_INFINITY)
        .slice(3)
        .map(({ atMs }) => atMs),
    ).toEqual([180_750, 181_750, 182_750, 183_000]);
  });
});

describe("a clock", () => {
  const recorder = () =>
    new Recorder({ clock: new ManualClock(), ledger: { insert: async () => undefined }, ...nothing });

  test("that slips by less than two minutes leaves the open candle open: what comes late belongs to it", () => {
    const kept = recorder();
    for (const [at, price] of [
      [hour, "10"],
      [hour - 500, "8"],
      [hour + 1_000, "9"],
    ] as const) {
      kept.round(priced({ atMs: at, price }));
    }
    const [candle, ...others] = kept.unwritten("BTC", Number.POSITIVE_INFINITY);
    expect(others).toEqual([]);
    expect(candle).toMatchObject({ atMs: hour, open: decimal("10"), low: decimal("8"), close: decimal("9") });
  });

  test("that was ahead and is set right costs no candle, no range and no change of the time after", () => {
    const kept = recorder();
    const day = new DayWindow();
    for (const [at, price] of [
      [0, "10"],
      [5 * hour, "99"],
      [minute, "11"],
      [2 * minute, "12"],
    ] as const) {
      kept.round(priced({ atMs: at, price }));
      day.add(priced({ atMs: at, price }));
    }
    expect(kept.unwritten("BTC", Number.POSITIVE_INFINITY).map(({ atMs, close }) => [atMs, close])).toEqual([
      [0, decimal("10")],
      [5 * hour, decimal("99")],
      [minute, decimal("11")],
      [2 * minute, decimal("12")],
    ]);
    expect(day.closes("BTC", { count: 10, endMs: Number.POSITIVE_INFINITY })).toEqual([
      decimal("10"),
      decimal("11"),
      decimal("12"),
    ]);
  });
});
