import { afterAll, describe, expect, test } from "bun:test";
import type { ExchangeId } from "./model/listings.ts";
import { bootMarket, marketStartMs } from "./testing/market.ts";
import { differences, haveSamples, type Json, type Rules, sample } from "./testing/shape.ts";

const markets = bootMarket();
afterAll(() => markets[Symbol.asyncDispose]());
const run = haveSamples() ? test : test.skip;

type Row = readonly [exchange: ExchangeId, sample: string, path: string, rules?: Rules, init?: RequestInit];

const since = Math.floor(marketStartMs / 1_000) - 240;
const later = { optional: ["lowest_size", "highest_size"] };
const binanceInfo = { byPlace: ["filters"] };

/** Each answer, and the sample that it must be shaped as. */
const rows: readonly Row[] = [
  ["binance", "ticker-24hr-full", "/api/v3/ticker/24hr?symbol=BTCUSDT", { exactPlaces: true }],
  ["binance", "ticker-24hr-docs-single", "/api/v3/ticker/24hr?symbol=FTTUSDT", { exactPlaces: true }],
  ["binance", "ticker-24hr-mini", '/api/v3/ticker/24hr?symbols=["BTCUSDT"]&type=MINI', { exactPlaces: true }],
  ["binance", "ticker-book", "/api/v3/ticker/bookTicker?symbol=ETHUSDT", { exactPlaces: true }],
  ["binance", "ticker-price", "/api/v3/ticker/price?symbol=ETHUSDT", { exactPlaces: true }],
  ["binance", "klines", "/api/v3/klines?symbol=BTCUSDT&interval=1m&limit=3", { exactPlaces: true }],
  ["binance", "klines-docs", "/api/v3/klines?symbol=FTTUSDT&interval=1m", { exactPlaces: true }],
  ["binance", "exchange-info-trimmed", "/api/v3/exchangeInfo", binanceInfo],
  ["coinbase", "ticker-btc-usd", "/products/BTC-USD/ticker"],
  ["coinbase", "stats-btc-usd", "/products/BTC-USD/stats"],
  ["coinbase", "product", "/products/BTC-USD"],
  ["coinbase", "candles-3600", "/products/BTC-USD/candles?granularity=3600"],
  ["kraken", "ticker-renamed-key", "/0/public/Ticker?pair=XBTUSD", { exactPlaces: true }],
  ["kraken", "ticker-altname-key", "/0/public/Ticker?pair=XBTUSDT", { exactPlaces: true }],
  ["kraken", "ohlc-since", `/0/public/OHLC?pair=XBTUSD&interval=1&since=${since}`, { exactPlaces: true }],
  ["kraken", "ohlc-1m-trimmed", "/0/public/OHLC?pair=XBTUSDT&interval=1", { exactPlaces: true }],
  ["kraken", "ohlc-display-name-key", "/0/public/OHLC?pair=BTC/USD&interval=60", { exactPlaces: true }],
  [
    "kraken",
    "asset-pairs-trimmed",
    "/0/public/AssetPairs",
    {
      keyed: ["$.result"],
      optional: [
        "cost_decimals",
        "leverage_buy",
        "leverage_sell",
        "fees",
        "fees_maker",
        "costmin",
        "tick_size",
        "status",
      ],
    },
  ],
  ["kraken", "time", "/0/public/Time"],
  ["kraken", "system-status", "/0/public/SystemStatus"],
  ["okx", "ticker-celo-usdt", "/api/v5/market/ticker?instId=BTC-USDT"],
  ["okx", "candles-shape-spot", "/api/v5/market/candles?instId=BTC-USDT&bar=1m&limit=1"],
  ["okx", "candles-1m-futures", "/api/v5/market/candles?instId=BTC-USDT&bar=1m&limit=4"],
  ["okx", "instruments-trimmed", "/api/v5/public/instruments?instType=SPOT", { optional: ["msg"], anyOrder: true }],
  ["bybit", "tickers-spot", "/v5/market/tickers?category=spot&symbol=BTCUSDT"],
  ["bybit", "kline-inverse-docs", "/v5/market/kline?category=spot&symbol=BTCUSDT&interval=60", { anyOrder: true }],
  [
    "bybit",
    "instruments-spot",
    "/v5/market/instruments-info?category=spot",
    { optional: ["category"], anyOrder: true },
  ],
  ["kucoin", "stats-btc-usdt", "/api/v1/market/stats?symbol=BTC-USDT"],
  ["kucoin", "level1-btc-usdt", "/api/v1/market/orderbook/level1?symbol=BTC-USDT"],
  ["kucoin", "all-tickers", "/api/v1/market/allTickers"],
  ["kucoin", "candles-1hour", "/api/v1/market/candles?symbol=BTC-USDT&type=1hour"],
  ["kucoin", "symbols-trimmed", "/api/v1/symbols"],
  ["kucoin", "bullet-public", "/api/v1/bullet-public", {}, { method: "POST" }],
  ["bitstamp", "ticker-btcusd", "/api/v2/ticker/btcusd/", { exactPlaces: true }],
  ["bitstamp", "ticker-all-and-unknown-symbol", "/api/v2/ticker/"],
  ["bitstamp", "ticker-all-and-unknown-symbol", "/api/v2/ticker/nothing/"],
  ["bitstamp", "ohlc-3600", "/api/v2/ohlc/btcusd/?step=3600&limit=5", { exactPlaces: true }],
  ["bitstamp", "trading-pairs-info-trimmed", "/api/v2/trading-pairs-info/"],
  ["gate", "ticker-btc-usdt", "/api/v4/spot/tickers?currency_pair=BTC_USDT", later],
  ["gate", "tickers-all-trimmed", "/api/v4/spot/tickers"],
  ["gate", "candlesticks-1m", "/api/v4/spot/candlesticks?currency_pair=BTC_USDT&interval=1m&limit=6"],
  ["gate", "currency-pairs-trimmed", "/api/v4/spot/currency_pairs", { optional: ["min_base_amount"] }],
];

describe("answers are shaped as the real ones: members, their order, types, texts of numbers and times", () => {
  for (const [exchange, name, path, rules, init] of rows) {
    run(`${exchange} ${path.slice(0, 70)} is shaped as ${name}`, async () => {
      const real = sample(exchange, name);
      const response = await markets.get(exchange, path, init);
      expect(response.status).toBe(real.httpStatus ?? 200);
      expect(response.headers.get("content-type")).toStartWith("application/json");
      const ours = (await response.json()) as Json;
      const keyed = exchange === "kraken" && path.includes("pair=") ? { keyed: ["$.result"], ...rules } : rules;
      expect(differences(ours, real.body ?? null, keyed)).toEqual([]);
      if (Array.isArray(real.body) !== Array.isArray(ours)) throw new Error("an object for an array, or the other way");
    });
  }
});

/** Requests that fail, with the sample of the failure. */
const errorAnswers: readonly (readonly [ExchangeId, string, string])[] = [
  ["binance", "error-unknown-symbol", "/api/v3/ticker/24hr?symbol=NOTACOINUSDT"],
  ["binance", "error-unknown-symbol", '/api/v3/ticker/24hr?symbols=["BTCUSDT","NOTACOINUSDT"]'],
  ["binance", "error-bad-interval", "/api/v3/klines?symbol=BTCUSDT&interval=7m"],
  ["coinbase", "error-not-found", "/products/NOTACOIN-USD/ticker"],
  ["coinbase", "error-candles-granularity", "/products/BTC-USD/candles?granularity=120"],
  [
    "coinbase",
    "error-candles-too-many",
    `/products/BTC-USD/candles?granularity=60&start=${since - 18_100}&end=${since}`,
  ],
  ["kraken", "error-unknown-pair", "/0/public/Ticker?pair=NOTACOINUSD"],
  ["kraken", "error-unknown-pair", "/0/public/Ticker?pair=XBT/USD"],
  ["kraken", "error-unknown-pair", "/0/public/Ticker?pair=XBTUSD,NOTACOINUSD"],
  ["kraken", "error-invalid-arguments", "/0/public/OHLC?pair=XBTUSD&interval=360"],
  ["okx", "error-unknown-instrument", "/api/v5/market/ticker?instId=NOTACOIN-USDT"],
  ["okx", "error-parameter", "/api/v5/market/candles?instId=BTC-USDT&bar=7m"],
  ["okx", "error-route-not-found", "/api/v5/market/nothing"],
  [
    "okx",
    "candles-empty-window",
    `/api/v5/market/candles?instId=BTC-USDT&bar=1m&after=${marketStartMs}&before=${marketStartMs}`,
  ],
  ["kucoin", "error-unknown-symbol", "/api/v2/symbols/NOTACOIN-USDT"],
  ["kucoin", "level1-unknown-symbol", "/api/v1/market/orderbook/level1?symbol=NOTACOIN-USDT"],
  ["gate", "error-unknown-currency", "/api/v4/spot/currency_pairs/NOTACOIN_USDT"],
  ["gate", "error-unknown-currency", "/api/v4/spot/tickers?currency_pair=NOTACOIN_USDT"],
  [
    "gate",
    "error-candles-range",
    `/api/v4/spot/candlesticks?currency_pair=BTC_USDT&interval=1m&from=${since - 90_000}&to=${since}`,
  ],
];

describe("errors are the documented ones, to the letter", () => {
  for (const [exchange, name, path] of errorAnswers) {
    run(`${exchange} ${path.slice(0, 70)} is ${name}`, async () => {
      const real = sample(exchange, name);
      const response = await markets.get(exchange, path);
      expect(response.status).toBe(real.httpStatus ?? 0);
      expect((await response.json()) as Json).toEqual(real.body ?? null);
    });
  }
  run("bybit errors are its own but for the time", async () => {
    const of = async (path: string, name: string) => {
      const ours = (await markets.json("bybit", path)) as Record<string, unknown>;
      expect({ ...ours, time: 0 }).toEqual({ ...(sample("bybit", name).body as object), time: 0 });
    };
    await of("/v5/market/tickers?category=spot&symbol=NOTACOINUSDT", "error-unknown-symbol");
    await of("/v5/market/instruments-info?category=spot&symbol=NOTACOINUSDT", "instruments-unknown-symbol");
  });
});

describe("the comparison sees what differs", () => {
  const real: Json = { a: "1.50", b: [1, "2.5", "x"], c: { t: "2026-09-25T15:20:30.123Z" }, d: null };
  const same = { a: "9.25", b: [2, "3.1", "y"], c: { t: "2020-01-01T00:00:00.000Z" }, d: "whatever" };
  test("nothing in an equal shape", () => expect(differences(same, real, { exactPlaces: true })).toEqual([]));
  const breaches: readonly (readonly [string, Json])[] = [
    ["a wrong type", { ...same, a: 9.25 }],
    ["a text that is no number", { ...same, a: "NaN" }],
    ["other decimals", { ...same, a: "9.250" }],
    ["a missing member", { a: "9.25", b: [2, "3.1", "y"], c: same.c }],
    ["a member too many", { ...same, e: 1 }],
    ["another order", { b: [2, "3.1", "y"], a: "9.25", c: same.c, d: null }],
    ["a column too many", { ...same, b: [2, "3.1", "y", "z"] }],
    ["columns exchanged", { ...same, b: ["3.1", 2, "y"] }],
    ["another precision of time", { ...same, c: { t: "2020-01-01T00:00:00Z" } }],
  ];
  for (const [what, value] of breaches) {
    test(what, () => expect(differences(value, real, { exactPlaces: true })).not.toEqual([]));
  }
});
