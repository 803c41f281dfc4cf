import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { ManualClock, systemClock } from "@sluice/lib";
import { type Ledger, openLedger } from "../../ledger/index.ts";
import { ledgerDirectory, recordingLog } from "../../ledger/testing/ledger-directory.ts";
import { add, decimal, formatDecimal, multiply, zero } from "../model/decimal.ts";
import type { TradedMinute } from "../model/traded-minute.ts";
import { priced, tick } from "../testing/rounds.ts";
import { DayWindow } from "./day-window.ts";
import { History, stepMsFor } from "./history.ts";
import { PricesAsOf } from "./prices-as-of.ts";
import { Recorder } from "./recorder.ts";
import { TradedVolumes } from "./traded-volumes.ts";
import { readWarmStart } from "./warm-start.ts";

const minute = 60_000;
const hour = 60 * minute;
const volumes = { take: () => [], unrecorded: () => [] };
const nothing = { volumes, dropped: () => undefined };

describe("the ledger of prices", () => {
  const directory = ledgerDirectory();
  let ledger: Ledger;
  beforeAll(async () => {
    ledger = await openLedger(
      { directory: directory.path, clickhouseUrl: null, cluster: null },
      { clock: systemClock, log: recordingLog() },
    );
  }, 30_000);
  afterAll(async () => {
    await ledger?.[Symbol.asyncDispose]();
    directory[Symbol.dispose]();
  });
  // The engine takes away what is older than a table keeps, so the tests live in the present.
  const now = Math.floor(Date.now() / hour) * hour;

  const spoken = (sinceMs: number, atMs: number) => decimal(String(1 + (atMs - sinceMs) / 500));

  /** A history of a price that rises, all but its last minute written. */
  async function spokenHistory(symbol: string, said: { sinceMs: number; everyMs: number; upToMs: number }) {
    const recorder = new Recorder({ clock: new ManualClock(), ledger, ...nothing });
    for (let atMs = said.sinceMs; atMs <= said.upToMs; atMs += said.everyMs) {
      recorder.round(priced({ symbol, atMs, price: formatDecimal(spoken(said.sinceMs, atMs)) }));
    }
    await recorder.write();
    return new History({ ledger, unwritten: recorder });
  }

  test("prices as of a moment are the newest of that second or the two minutes before it", async () => {
    const recorder = new Recorder({ clock: new ManualClock(), ledger, ...nothing });
    const atMs = now - 40 * minute;
    for (const [sinceMs, price] of [
      [0, "10"],
      [1_500, "11"],
      [5_000, "12"],
    ] as const) {
      recorder.round(priced({ symbol: "FTT", atMs: atMs + sinceMs, price }));
    }
    await recorder.write();
    await recorder[Symbol.asyncDispose]();
    const clock = new ManualClock(now);
    const prices = new PricesAsOf({ clock, ledger });
    const worthAt = async (sinceMs: number) => (await prices.at(atMs + sinceMs)).get("FTT");
    expect(await worthAt(-1_000)).toBeUndefined();
    expect(await worthAt(500)).toBe(decimal("10"));
    expect(await worthAt(1_000)).toBe(decimal("11"));
    expect(await worthAt(4_000)).toBe(decimal("11"));
    expect(await worthAt(124_000)).toBe(decimal("12"));
    expect(await worthAt(125_000)).toBeUndefined();
  });

  test("prices as of a moment are asked for once, and again after a failure or while more may be recorded of it", async () => {
    let asked = 0;
    let isAway = true;
    const clock = new ManualClock(now);
    const query = async <T>(): Promise<T[]> => {
      asked += 1;
      if (isAway) throw new Error("the ledger is away");
      return [];
    };
    const prices = new PricesAsOf({ clock, ledger: { query } });
    await expect(prices.at(now - hour)).rejects.toThrow("away");
    isAway = false;
    await Promise.all([prices.at(now - hour), prices.at(now - hour + 999)]);
    clock.advance(hour);
    await prices.at(now - hour);
    expect(asked).toBe(2);
    await prices.at(clock.now());
    await prices.at(clock.now());
    expect(asked).toBe(3);
    const moment = clock.now();
    clock.advance(1_000);
    await prices.at(moment);
    expect(asked).toBe(4);
  });

  test("one that stands by writes nothing while another records, and what the other had not written when it ended", async () => {
    const inserted = new Map<string, number>();
    let writer = "first";
    const recorderOf = (name: string) =>
      new Recorder({
        clock: new ManualClock(),
        ledger: {
          insert: async (table, rows) => {
            inserted.set(`${name} ${table}`, (inserted.get(`${name} ${table}`) ?? 0) + rows.length);
            await ledger.insert(table, rows);
          },
        },
        ...nothing,
        standsBy: () => writer !== name,
      });
    const [first, second] = [recorderOf("first"), recorderOf("second")];
    const begin = now - 4 * hour;
    const see = (recorders: readonly Recorder[], from: number, to: number): void => {
      for (let at = from; at < to; at += 5_000) {
        const round = priced({ symbol: "AVAX", atMs: begin + at, price: String(1 + at / 1_000) });
        for (const recorder of recorders) {
          recorder.round(round);
          recorder.tick(tick("kraken", "AVAX", begin + at, decimal("1")));
        }
      }
    };
    for (let at = 0; at < 3 * minute; at += 5_000) {
      see([first, second], at, at + 5_000);
      await Promise.all([first.write(), second.write()]);
    }
    expect([...inserted.keys()].filter((name) => name.startsWith("second"))).toEqual([]);
    // The first ends without writing what it saw last; the second finds that out two runs later.
    see([first, second], 3 * minute, 3 * minute + 15_000);
    await second.write();
    see([second], 3 * minute + 15_000, 4 * minute);
    await second.write();
    writer = "second";
    see([second], 4 * minute, 5 * minute);
    await second.write();
    // Rows of the last runs alone, not all that it ever saw.
    expect(inserted.get("second oracle_rounds_by_second")).toBeLessThan(40);
    await second[Symbol.asyncDispose]();
    const reader = new History({ ledger, unwritten: new Recorder({ clock: new ManualClock(), ledger, ...nothing }) });
    const bars = await reader.bars("AVAX", { minutes: 1, limit: 5, endMs: begin + 5 * minute });
    expect(bars.map(({ atMs }) => (atMs - begin) / minute)).toEqual([0, 1, 2, 3, 4]);
    const points = await reader.points("AVAX", { spanMs: 2 * minute, limit: 120, endMs: begin + 5 * minute });
    expect(points.length).toBe(24);
    writer = "second";
    await first[Symbol.asyncDispose]();
    expect(inserted.get("first oracle_ticks")).toBe(18);
  });

  test("prices of any size come back to the last digit", async () => {
    const prices = ["0.000000123456789012", "123456789012.123456789", "0.000000000000000001", "99999999999999999999.9"];
    const recorder = new Recorder({ clock: new ManualClock(), ledger, ...nothing });
    for (const [index, price] of prices.entries()) {
      recorder.round(priced({ symbol: "ADA", atMs: now - hour + index * minute, price }));
    }
    await recorder[Symbol.asyncDispose]();
    const reader = new History({ ledger, unwritten: new Recorder({ clock: new ManualClock(), ledger, ...nothing }) });
    const fine = await reader.points("ADA", { spanMs: 2 * hour, limit: 1_000, endMs: now + 1 });
    expect(fine.map(({ price }) => formatDecimal(price))).toEqual(prices);
    const bars = await reader.bars("ADA", { minutes: 1, limit: 100, endMs: now + 1 });
    expect(bars.map(({ close }) => formatDecimal(close))).toEqual(prices);
  });

  test("a history covers its whole time with at most as many points as asked for, and goes on in what is not written yet", async () => {
    const recorder = new Recorder({ clock: new ManualClock(), ledger, ...nothing });
    const begin = now - 24 * hour;
    for (let at = begin; at < now; at += 30_000) {
      recorder.round(priced({ symbol: "ETH", atMs: at, price: String(1_000 + (at - begin) / minute) }));
    }
    await recorder.write();
    recorder.round(priced({ symbol: "ETH", atMs: now, price: "7777" }));
    const history = new History({ ledger, unwritten: recorder });
    for (const [spanMs, limit] of [
      [24 * hour, 100],
      [24 * hour, 25],
      [hour, 1_000],
      [hour, 2],
      [24 * hour, 1_000],
    ] as const) {
      const points = await history.points("ETH", { spanMs, limit, endMs: now + 1 });
      const times = points.map(({ atMs }) => atMs);
      expect(points.length).toBeLessThanOrEqual(limit);
      expect(times).toEqual([...times].sort((left, right) => left - right));
      expect(times.every((at) => at >= now - spanMs)).toBe(true);
      expect((times[0] ?? 0) - (now - spanMs)).toBeLessThanOrEqual(2 * stepMsFor(spanMs, limit));
      expect(formatDecimal(points.at(-1)?.price ?? decimal("0"))).toBe("7777");
    }
    const quiet = await history.points("ETH", { spanMs: 24 * hour, limit: 25, endMs: now + 1 });
    expect(quiet.length).toBeGreaterThan(10);
  });

  test("points are evenly spread over the whole time asked for, however few they are", async () => {
    const history = await spokenHistory("CRO", { sinceMs: now - 24 * hour, everyMs: minute, upToMs: now - 1 });
    const end = { endMs: now };
    const half = await history.points("CRO", { spanMs: 24 * hour, limit: 2, ...end });
    expect(half.map(({ atMs }) => now - atMs)).toEqual([12 * hour + minute, minute]);
    const thirds = await history.points("CRO", { spanMs: hour, limit: 3, ...end });
    expect(thirds.map(({ atMs }) => (now - atMs) / minute)).toEqual([41, 21, 1]);
    const eighths = await history.points("CRO", { spanMs: 24 * hour, limit: 8, endMs: now - 25 * minute });
    expect(eighths).toHaveLength(8);
    const [one, ...others] = await history.points("CRO", { spanMs: hour, limit: 1, ...end });
    expect([one?.atMs, others]).toEqual([now - minute, []]);
  });

  test("nothing of a round at or after the end is in a point or a candle, written or not", async () => {
    const begin = now - 2 * hour;
    const last = begin + 3 * minute;
    const history = await spokenHistory("AAVE", { sinceMs: begin, everyMs: 500, upToMs: last - 500 });
    for (const endMs of [
      last - 90_000,
      last - 75_000,
      last - 60_000,
      last - 45_000,
      last - 30_000,
      last - 15_000,
      last,
    ]) {
      const latest = spoken(begin, endMs - 500);
      const fine = await history.points("AAVE", { spanMs: hour, limit: 1_000, endMs });
      const coarse = await history.points("AAVE", { spanMs: 6 * hour, limit: 2, endMs });
      const bars = await history.bars("AAVE", { minutes: 1, limit: 5, endMs });
      const shown = [fine.at(-1)?.price, coarse.at(-1)?.price, bars.at(-1)?.close, bars.at(-1)?.high];
      // A minute that is written holds later rounds: it shows once it has ended.
      const isEnded = endMs % minute === 0 || endMs > last - 60_000;
      if (isEnded) expect(shown).toEqual([latest, latest, latest, latest]);
      for (const price of shown) expect(price).toBeLessThanOrEqual(latest);
    }
  });

  test("a minute in which a server was restarted is one candle: first open, last close, widest range", async () => {
    const first = new Recorder({ clock: new ManualClock(), ledger, ...nothing });
    first.round(priced({ symbol: "DOT", atMs: now - hour, price: "5" }));
    first.round(priced({ symbol: "DOT", atMs: now - hour + 10_000, price: "9" }));
    await first[Symbol.asyncDispose]();
    const restartedAtMs = now - hour + 15_000;
    const second = new Recorder({ clock: new ManualClock(restartedAtMs), ledger, ...nothing });
    second.recover((await readWarmStart(ledger, restartedAtMs)).recovered);
    second.round(priced({ symbol: "DOT", atMs: now - hour + 20_000, price: "3" }));
    second.round(priced({ symbol: "DOT", atMs: now - hour + 30_000, price: "4" }));
    const inMemory = await new History({ ledger, unwritten: second }).bars("DOT", {
      minutes: 60,
      limit: 3,
      endMs: now + 1,
    });
    await second[Symbol.asyncDispose]();
    const written = await new History({ ledger, unwritten: first }).bars("DOT", {
      minutes: 60,
      limit: 3,
      endMs: now + 1,
    });
    const [bar] = written;
    expect(written).toEqual(inMemory);
    expect([bar?.open, bar?.high, bar?.low, bar?.close].map((price) => formatDecimal(price ?? decimal("0")))).toEqual([
      "5",
      "9",
      "3",
      "4",
    ]);
    expect(bar?.atMs).toBe(now - hour);
    expect(bar?.volume).toBeNull();
  });

  test("what a killed server had not written as candles is made again from its rounds, once", async () => {
    const killed = new Recorder({ clock: new ManualClock(), ledger, ...nothing });
    killed.round(priced({ symbol: "UNI", atMs: now - 10 * minute, price: "6" }));
    killed.round(priced({ symbol: "UNI", atMs: now - 9 * minute, price: "7" }));
    await killed.write();
    killed.round(priced({ symbol: "UNI", atMs: now - 9 * minute + 5_000, price: "8" }));
    killed.round(priced({ symbol: "UNI", atMs: now - 9 * minute + 9_000, price: "8.5" }));
    await killed.write();
    const before = await readWarmStart(ledger, now);
    expect(before.minutes.filter(({ symbol }) => symbol === "UNI")).toHaveLength(1);
    const lost = before.recovered.filter(({ symbol }) => symbol === "UNI");
    expect(lost.map(({ open, close, atMs }) => [formatDecimal(open), formatDecimal(close), atMs])).toEqual([
      ["7", "8", now - 9 * minute],
    ]);
    expect(before.last.find(({ symbol }) => symbol === "UNI")).toMatchObject({ price: decimal("8") });
    const next = new Recorder({ clock: new ManualClock(), ledger, ...nothing });
    next.recover(before.recovered);
    await next[Symbol.asyncDispose]();
    const after = await readWarmStart(ledger, now);
    expect(after.recovered).toEqual([]);
    expect(after.minutes.filter(({ symbol }) => symbol === "UNI")).toHaveLength(2);
  });

  test("what two servers write of the same prices is what one writes, in rows, sums and answers", async () => {
    const begin = now - 30 * minute;
    const said: TradedMinute[] = [];
    const prices = new DayWindow();
    const writer = (symbol: string) => {
      const clock = new ManualClock(begin + 4 * minute);
      const traded = new TradedVolumes({ clock, day: prices, recorded: () => undefined });
      const recorder = new Recorder({ clock, ledger, volumes: traded, dropped: () => undefined });
      const hear = (atMs: number): void => {
        const round = priced({ symbol, atMs, price: String(100 + ((atMs - begin) % 7_000) / 1_000) });
        recorder.round(round);
        prices.add(round);
      };
      return { symbol, traded, recorder, hear };
    };
    const [one, two, alone] = [writer("LINK"), writer("LINK"), writer("SOL")];
    for (let at = begin; at < begin + 3 * minute; at += 250) {
      for (const { hear } of [one, alone]) hear(at);
      // The second comes later and speaks a moment after the first.
      if (at >= begin + 40_000) two.hear(at);
    }
    for (let at = begin; at < begin + 3 * minute; at += minute) {
      const amount = decimal(String(1 + at / minute));
      const rest = { source: "kraken", quote: "USD", atMs: at, statedAtMs: at + minute } as const;
      said.push({ ...rest, base: "LINK", baseVolume: amount, quoteVolume: multiply(amount, decimal("103")) });
    }
    for (const { symbol, traded } of [one, two, alone])
      for (const each of said) traded.accept({ ...each, base: symbol });
    for (const { recorder } of [one, two, alone]) await recorder[Symbol.asyncDispose]();
    const history = new History({ ledger, unwritten: new Recorder({ clock: new ManualClock(), ledger, ...nothing }) });
    const answersOf = async (symbol: string) => ({
      minutes: await history.bars(symbol, { minutes: 1, limit: 60, endMs: now }),
      whole: await history.bars(symbol, { minutes: 60, limit: 1, endMs: now }),
      fine: await history.points(symbol, { spanMs: hour, limit: 1_000, endMs: now }),
      coarse: await history.points(symbol, { spanMs: 2 * hour, limit: 20, endMs: now }),
      rows: await Promise.all(
        ["oracle_rounds_by_second", "oracle_candles_by_minute", "oracle_volumes_by_minute"].map((table) =>
          ledger.query(`SELECT count() AS n FROM ${table} FINAL WHERE symbol = {symbol:String}`, { symbol }),
        ),
      ),
    });
    const alike = await answersOf("LINK");
    expect(alike).toEqual(await answersOf("SOL"));
    expect(alike.minutes).toHaveLength(3);
    expect(alike.whole[0]?.volume).toBe(alike.minutes.reduce((sum, { volume }) => add(sum, volume ?? zero), zero));
  });

  test("what is written while an answer is put together is in it, once", async () => {
    const recorder = new Recorder({ clock: new ManualClock(), ledger, ...nothing });
    recorder.round(priced({ symbol: "COMP", atMs: now - 2 * minute, price: "5" }));
    recorder.round(priced({ symbol: "COMP", atMs: now - minute, price: "6" }));
    // The row is not in the ledger when it answers, and not in memory when the answer is here.
    const late = {
      query: async <T>(sql: string, parameters?: Readonly<Record<string, unknown>>) => {
        const rows = await ledger.query<T>(sql, parameters);
        await recorder.write();
        return rows;
      },
    };
    const history = new History({ ledger: late, unwritten: recorder });
    const bars = await history.bars("COMP", { minutes: 1, limit: 10, endMs: now });
    expect(bars.map(({ close }) => formatDecimal(close))).toEqual(["5", "6"]);
    recorder.round(priced({ symbol: "COMP", atMs: now, price: "7" }));
    const points = await history.points("COMP", { spanMs: hour, limit: 60, endMs: now + 1 });
    expect(points.map(({ price }) => formatDecimal(price))).toEqual(["5", "6", "7"]);
  });

  test("of one source and symbol one tick is kept in ten seconds", async () => {
    const recorder = new Recorder({ clock: new ManualClock(), ledger, ...nothing });
    for (let at = now - hour; at < now - hour + 30_000; at += 100) {
      recorder.tick(tick("gate", "CRO", at, decimal("0.1")));
      recorder.tick(tick("okx", "CRO", at, decimal("0.2")));
    }
    await recorder[Symbol.asyncDispose]();
    const sql =
      "SELECT source, toString(count()) AS n FROM oracle_ticks WHERE symbol = 'CRO' GROUP BY source ORDER BY source";
    expect(await ledger.query<{ source: string; n: string }>(sql)).toEqual([
      { source: "gate", n: "3" },
      { source: "okx", n: "3" },
    ]);
  });
});

test("steps cover the time asked for, in whole minutes or, as far as rounds reach back, in whole seconds", () => {
  expect(stepMsFor(24 * hour, 100)).toBe(15 * minute);
  expect(stepMsFor(hour, 1_000)).toBe(4_000);
  expect(stepMsFor(720 * hour, 1_000)).toBe(44 * minute);
  for (const hours of [1, 2, 24, 100, 168, 720]) {
    for (const limit of [1, 2, 3, 10, 99, 100, 1_000]) {
      const stepMs = stepMsFor(hours * hour, limit);
      expect(stepMs * limit).toBeGreaterThanOrEqual(hours * hour);
      expect(stepMs % (stepMs < minute ? 1_000 : minute)).toBe(0);
    }
  }
});
