import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { formatDecimal } from "../model/decimal.ts";
import { CandleReads } from "./candle-reads.ts";
import { binance } from "./exchanges/binance.ts";
import { coinbase } from "./exchanges/coinbase.ts";
import { okx } from "./exchanges/okx.ts";
import { readCandle } from "./read-candle.ts";
import type { CandleRow } from "./row.ts";
import { Bench } from "./testing/fake-exchange.ts";

// What is waited for decides; this only ends a run that waits in vain on a busy machine.
setDefaultTimeout(60_000);

const startMs = Date.parse("2026-11-01T00:00:00Z");
const minuteMs = 60_000;

const kline = (startAtMs: number, baseVolume: string, atMs: number, changes: object = {}) => ({
  e: "kline",
  E: atMs,
  s: "BTCUSDT",
  k: {
    ...{ t: startAtMs, s: "BTCUSDT", i: "1m", o: "100", h: "100", l: "100", c: "100" },
    ...{ v: baseVolume, q: `${baseVolume}00` },
    ...changes,
  },
});
/** A row of an answer: as above. */
const row = (startAtMs: number, baseVolume: string) =>
  [
    startAtMs,
    "100",
    "100",
    "100",
    "100",
    baseVolume,
    startAtMs + minuteMs - 1,
    `${baseVolume}00`,
    1,
    "0",
    "0",
    "0",
  ] as const;

const said = (bench: Bench): string[] =>
  bench.traded.map(({ atMs, quoteVolume }) => `${(atMs - startMs) / minuteMs} ${formatDecimal(quoteVolume)}`);

describe("an exchange's candles", () => {
  test("are read from its stream, and from before the start by requests that go back two hours", async () => {
    await using bench = new Bench(binance, { bases: ["BTC"], startMs });
    bench.fake.answerCandles = () => Response.json([row(startMs - minuteMs, "7"), row(startMs, "1")]);
    await bench.reach(() => bench.traded.length === 2 && bench.fake.received.length > 0);
    expect(bench.fake.candleRequests).toEqual([
      `/api/v3/klines?symbol=BTCUSDT&interval=1m&startTime=${startMs - 119 * minuteMs}&limit=120`,
    ]);
    await bench.push(kline(startMs, "2", bench.clock.now()));
    expect(said(bench)).toEqual(["-1 700", "0 100", "0 200"]);
    expect(bench.traded.at(-1)).toMatchObject({ source: "binance", base: "BTC", quote: "USDT" });
    expect(bench.count("sourceDropped")).toBe(0);
  });

  test("of minutes in which the connection was lost are read by request, each minute once more than is needed", async () => {
    await using bench = new Bench(binance, { bases: ["BTC"], startMs: startMs + 10_000 });
    bench.fake.answer = () => Response.json([]);
    await bench.reach(() => bench.fake.candleRequests.length === 1 && bench.fake.received.length > 0);
    await bench.push(kline(startMs, "2", bench.clock.now()));
    bench.fake.cutAll();
    bench.fake.accepts = () => false;
    bench.fake.answerCandles = () => Response.json([row(startMs, "5"), row(startMs + minuteMs, "3")]);
    await bench.reach(() => bench.fake.candleRequests.length === 2 && bench.traded.length === 3);
    const asked = new URL(bench.fake.candleRequests[1] ?? "", "http://x").searchParams;
    expect(Number(asked.get("startTime"))).toBeLessThanOrEqual(startMs - minuteMs);
    expect(said(bench)).toEqual(["0 200", "0 500", "1 300"]);
  });

  test("that were not to be had are asked for as far back as they are missing", async () => {
    await using bench = new Bench(binance, { bases: ["BTC"], startMs });
    await bench.reach(() => bench.fake.candleRequests.length === 1);
    bench.fake.answerCandles = () => new Response("", { status: 503 });
    await bench.reach(() => bench.clock.now() >= startMs + 6 * minuteMs);
    bench.fake.answerCandles = () => Response.json([]);
    const failed = bench.fake.candleRequests.length;
    await bench.reach(() => bench.fake.candleRequests.length > failed);
    const asked = new URL(bench.fake.candleRequests.at(-1) ?? "", "http://x").searchParams;
    expect(Number(asked.get("startTime"))).toBe(startMs - 2 * minuteMs);
  });

  test("are read from an address of their own where the exchange has one, beside that of prices", async () => {
    await using bench = new Bench(okx, { bases: ["BTC"], startMs });
    const candleSocket = () => bench.fake.sockets.find(({ data }) => data.url.pathname === "/ws/v5/business");
    await bench.reach(() => bench.fake.received.length === 2 && candleSocket() !== undefined);
    expect(bench.fake.received.map((text) => JSON.parse(text).args[0].channel).toSorted()).toEqual([
      "candle1m",
      "tickers",
    ]);
    const arg = { channel: "candle1m", instId: "BTC-USDT" };
    const candle = [String(startMs), "100", "101", "99", "100", "2", "200", "200", "0"];
    candleSocket()?.send(JSON.stringify({ arg, data: [candle] }));
    await bench.until(() => bench.traded.length === 1);
    expect(said(bench)).toEqual(["0 200"]);
    // One that is lost is taken again, and prices go on.
    candleSocket()?.terminate();
    await bench.reach(() => bench.fake.opened.length === 3);
    expect(bench.fake.opened.at(-1)?.pathname).toBe("/ws/v5/business");
    expect(bench.fake.sockets.some(({ data }) => data.url.pathname === "/ws/v5/public")).toBe(true);
    expect(bench.count("sourceDropped")).toBe(0);
  });

  test("come after prices: requests for them never keep one waiting, and a market that is not listed costs none", async () => {
    await using bench = new Bench(coinbase, { bases: ["BTC", "ETH"], startMs });
    bench.fake.answer = () => Response.json({ message: "NotFound" }, { status: 404 });
    await bench.reach(() => bench.fake.requests.length >= 2);
    const asked = bench.fake.candleRequests.length;
    expect(asked).toBeLessThanOrEqual(2);
    await bench.reach(() => bench.clock.now() >= startMs + 2 * minuteMs);
    expect(bench.fake.candleRequests.length).toBeLessThanOrEqual(2);
  });

  test("that are no candles of a minute of this market are dropped by name, and none of them is passed on", async () => {
    await using bench = new Bench(binance, { bases: ["BTC"], startMs });
    await bench.reach(() => bench.fake.received.length > 0);
    const now = bench.clock.now();
    const garbage: readonly (readonly [object, string])[] = [
      [kline(startMs, "1", now, { s: "XYZUSDT" }), "unknown-market"],
      [kline(startMs + 1, "1", now), "not-a-minute"],
      [kline(startMs + 60 * minuteMs, "1", now), "future"],
      [kline(startMs / 1_000, "1", now), "time-unit"],
      [kline(startMs, "-1", now), "not-positive"],
      [kline(startMs, "x", now), "not-a-number"],
      [kline(startMs, "1", now, { v: null }), "missing-field"],
      [kline(startMs, "1", now, { q: "1" }), "volume-columns"],
      [kline(startMs, "0", now, { q: "1000" }), "volume-columns"],
      [kline(startMs, "1", now, { h: "99" }), "outside-day-range"],
      [kline(startMs, "1", now, { l: "101" }), "outside-day-range"],
      [kline(startMs, "1", now, { o: "0" }), "not-positive"],
      [kline(startMs, "1", now, { v: "9".repeat(22), q: `${"9".repeat(22)}00` }), "absurd"],
      [kline(startMs, "1", now, { i: "5m" }), "unknown-frame"],
    ];
    for (const [frame, reason] of garbage) {
      const before = bench.count("sourceDropped", reason);
      await bench.push(frame);
      expect(`${reason} ${bench.count("sourceDropped", reason)}`).toBe(`${reason} ${before + 1}`);
    }
    expect(bench.traded).toEqual([]);
  });
});

test("a candle's quote volume is what the exchange says, its mean price times the volume, or lies between its prices", () => {
  const base: CandleRow = {
    name: "BTC",
    start: { value: String(startMs), unit: "ms" },
    ...{ open: "10", high: "12", low: "8", close: "11", baseVolume: "2" },
  };
  const quoteOf = (changes: Partial<CandleRow>): string => {
    const reading = readCandle({ ...base, ...changes }, startMs + 5_000);
    return reading.ok ? formatDecimal(reading.value.quoteVolume) : reading.reason;
  };
  expect(quoteOf({ quoteVolume: "21" })).toBe("21");
  expect(quoteOf({ vwap: "10.4" })).toBe("20.8");
  expect(quoteOf({})).toBe("20.5");
  expect(quoteOf({ quoteVolume: "25" })).toBe("volume-columns");
  expect(quoteOf({ vwap: "0.1" })).toBe("volume-columns");
  // A market in which nothing was traded writes a mean price of zero.
  expect(quoteOf({ baseVolume: "0", vwap: "0.0" })).toBe("0");
});

test("turns come once for each interval, after minutes have settled, also when the clock is set back", () => {
  const market = binance.markets[0];
  if (market === undefined) throw new Error("no market");
  const reads = new CandleReads({ exchange: binance, markets: [market] });
  const turns = (fromMs: number, toMs: number): number[] => {
    const found: number[] = [];
    for (let at = fromMs; at < toMs; at += 250) {
      if (reads.due(at, () => false).length > 0) found.push(at - startMs);
      reads.read(market, at);
    }
    return found;
  };
  expect(turns(startMs + 10_000, startMs + 4 * minuteMs)).toEqual([10_000, 63_000, 123_000, 183_000]);
  expect(turns(startMs - 600 * minuteMs, startMs - 598 * minuteMs)).toHaveLength(3);
});
