import { afterAll, describe, expect, test } from "bun:test";
import { marketAssets } from "../model/assets.ts";
import { exponential } from "../model/hash.ts";
import { allListings, exchangeIds, type Quote } from "../model/listings.ts";
import { bootMarket, marketStartMs } from "../testing/market.ts";
import { Path } from "./path.ts";
import { Truth } from "./truth.ts";
import { dayMs } from "./view.ts";

const minuteMs = 60_000;
const markets = bootMarket();
afterAll(() => markets[Symbol.asyncDispose]());
const all = exchangeIds.flatMap((id) => markets.market.venues[id].markets().map((market) => ({ id, market })));
const indexOf = (symbol: string): number => marketAssets.findIndex((asset) => asset.symbol === symbol);

describe("the walk", () => {
  const path = new Path({ seed: 1, deviationPerYear: 1 });

  test("a second has one value, whichever block it is read from, and blocks meet", () => {
    const block = path.block(437_000);
    const next = path.block(437_001);
    expect(block.at(-1)).toBe(next[0] ?? Number.NaN);
    expect(new Path({ seed: 1, deviationPerYear: 1 }).block(437_000)).toEqual(block);
    expect(new Path({ seed: 2, deviationPerYear: 1 }).block(437_000)).not.toEqual(block);
  });

  test("it moves like a Brownian motion of the deviation it was given, over seconds and over hours", () => {
    const perSecond: number[] = [];
    const perBlock: number[] = [];
    for (let index = 400_000; index < 400_400; index += 1) {
      const block = path.block(index);
      perBlock.push((block.at(-1) ?? 0) - (block[0] ?? 0));
      for (let at = 1; at < 200; at += 1) perSecond.push((block[at] ?? 0) - (block[at - 1] ?? 0));
    }
    const deviation = (draws: number[]): number =>
      Math.sqrt(draws.reduce((sum, each) => sum + each * each, 0) / draws.length);
    expect(deviation(perSecond) * Math.sqrt(31_557_600)).toBeWithin(0.95, 1.05);
    expect(deviation(perBlock) * Math.sqrt(31_557_600 / 4_096)).toBeWithin(0.85, 1.15);
  });

  test("it keeps near 0 for fifty years", () => {
    for (let index = 0; index < 400_000; index += 97) expect(Math.abs(path.block(index)[0] ?? 9)).toBeLessThan(1.4);
  });

  test("the exponential is that of the library to a part in 10^14", () => {
    for (let x = -12; x < 12; x += 0.37) expect(Math.abs(exponential(x) / Math.exp(x) - 1)).toBeLessThan(1e-14);
  });
});

describe("the truth", () => {
  const truth = new Truth({ seed: "test" });
  const returns = (symbol: string): number[] =>
    Array.from({ length: 720 }, (_, hour) => {
      const second = marketStartMs / 1_000 - hour * 3_600;
      return Math.log(
        truth.usd(indexOf(symbol), Math.floor(second)) / truth.usd(indexOf(symbol), Math.floor(second - 3_600)),
      );
    });
  const correlation = (a: number[], b: number[]): number => {
    const product = a.reduce((sum, each, index) => sum + each * (b[index] ?? 0), 0);
    const square = (list: number[]): number => list.reduce((sum, each) => sum + each * each, 0);
    return product / Math.sqrt(square(a) * square(b));
  };

  test("coins move together, thin ones less, and stablecoins with none", () => {
    expect(correlation(returns("BTC"), returns("ETH"))).toBeWithin(0.7, 0.95);
    expect(correlation(returns("BTC"), returns("FTT"))).toBeWithin(0.15, 0.6);
    expect(Math.abs(correlation(returns("BTC"), returns("USDT")))).toBeLessThan(0.15);
  });

  test("a year's deviation is the table's: half for BTC, a fifth of a percent for USDT", () => {
    const ofYear = (symbol: string): number => {
      const list = returns(symbol);
      return Math.sqrt((list.reduce((sum, each) => sum + each * each, 0) / list.length) * 8_766);
    };
    expect(ofYear("BTC")).toBeWithin(0.42, 0.58);
    expect(ofYear("USDT")).toBeWithin(0.0015, 0.0025);
  });
});

describe("a market's figures agree with each other, on every exchange, for every pair", () => {
  test("the 24 hours hold the last trade, the mean and the change, and ids count the trades", () => {
    for (const { id, market } of all) {
      const view = markets.market.venues[id].view(market);
      const { day, last } = view;
      const scale = 10n ** BigInt(market.listing.sizePlaces);
      expect(day.low).toBeLessThanOrEqual(last.price);
      expect(day.high).toBeGreaterThanOrEqual(last.price);
      expect(day.low).toBeLessThanOrEqual(day.open);
      expect(day.high).toBeGreaterThanOrEqual(day.open);
      expect(day.close).toBe(last.price);
      expect(view.bid).toBeLessThan(view.ask);
      expect(scale).toBeGreaterThan(0n);
      // Amounts in price units times size units: their ratio is the mean price.
      expect(day.quote >= BigInt(day.low) * BigInt(day.base)).toBe(true);
      expect(day.quote <= BigInt(day.high) * BigInt(day.base)).toBe(true);
      expect(last.id - view.firstId + 1).toBe(day.count);
      expect(last.timeMs).toBeLessThanOrEqual(markets.now());
      expect(market.tape.last(markets.now() - dayMs).price).toBe(view.previousClose);
    }
  });

  test("the day is the sum of its trades, one by one", () => {
    for (const symbol of ["FTT", "COMP", "CRO"]) {
      const found = all.filter(({ market }) => market.listing.base === symbol);
      expect(found.length).toBeGreaterThan(2);
      for (const { id, market } of found) {
        const { day } = markets.market.venues[id].view(market);
        const trades = market.tape.between(markets.now() - dayMs, markets.now(), 100_000);
        expect(trades.length).toBe(day.count);
        expect(trades.reduce((sum, trade) => sum + trade.size, 0)).toBe(day.base);
        expect(trades.reduce((sum, trade) => sum + BigInt(trade.price * trade.size), 0n)).toBe(day.quote);
        const buys = trades.filter((trade) => trade.isBuy);
        expect(buys.reduce((sum, trade) => sum + trade.size, 0)).toBe(day.buyBase);
        expect(buys.reduce((sum, trade) => sum + BigInt(trade.price * trade.size), 0n)).toBe(day.buyQuote);
        expect(Math.max(...trades.map((trade) => trade.price))).toBe(day.high);
        expect(Math.min(...trades.map((trade) => trade.price))).toBe(day.low);
        expect(trades[0]?.price).toBe(day.open);
      }
    }
  });

  test("candles of any length are the sum of their minutes, and each closes where the next one's trades go on", () => {
    const venue = markets.market.venues.binance;
    const market = venue.find("FTTUSDT");
    if (market === undefined) throw new Error("FTT is not listed");
    const cut = (minutes: number) => ({ lengthMs: minutes * minuteMs, anchorMs: 0 });
    const untilMs = Math.floor(marketStartMs / 3_600_000) * 3_600_000 - 1;
    const hours = venue.candles(market, cut(60), { untilMs }, 5);
    const minutes = venue.candles(market, cut(1), { untilMs }, 300);
    expect(hours.length).toBe(5);
    for (const { startMs, endMs, bar } of hours) {
      const inside = minutes.filter((each) => each.startMs >= startMs && each.endMs <= endMs);
      expect(inside.length).toBe(60);
      expect(inside.reduce((sum, each) => sum + each.bar.base, 0)).toBe(bar.base);
      expect(inside.reduce((sum, each) => sum + each.bar.quote, 0n)).toBe(bar.quote);
      expect(inside.some((each) => each.bar.count === 0)).toBe(true);
    }
    for (const { startMs, previousClose, bar } of minutes) {
      if (bar.count === 0) expect(previousClose).toBe(market.tape.last(startMs - 1).price);
    }
  });

  test("exchanges agree to some basis points once USDT and USDC are taken for what they are worth", () => {
    const worth = (quote: Quote): number =>
      quote === "USD" ? 1 : markets.market.truth.usd(indexOf(quote), Math.floor(markets.now() / 1_000));
    for (const { market } of all) {
      const { bid, ask } = market.tape.quotes(markets.now());
      const middle = ((bid + ask) / 2 / 10 ** market.listing.pricePlaces) * worth(market.listing.quote);
      const truth = markets.market.truth.usd(indexOf(market.listing.base), Math.floor(markets.now() / 1_000));
      expect(Math.abs(middle / truth - 1) * 10_000).toBeLessThan(15);
    }
  });

  test("no amount of a minute leaves the whole numbers that a double holds", () => {
    for (const listing of allListings) {
      const asset = marketAssets[indexOf(listing.base)];
      const highest = (asset?.usd ?? 0) * Math.exp(1.4 * (asset?.deviationPerYear ?? 0));
      const price = highest * 10 ** listing.pricePlaces;
      // No size exceeds four mean ones, and a minute holds a trade for each slot.
      const most = price * listing.sizeMean * 4 * Math.ceil(60 / listing.slotSeconds);
      expect(most).toBeLessThan(Number.MAX_SAFE_INTEGER);
    }
  });
});

describe("nothing but the seed and the clock decides", () => {
  const routes = [
    ["binance", "/api/v3/ticker/24hr"],
    ["coinbase", "/products/ETH-USD/candles?granularity=300"],
    ["kraken", "/0/public/Ticker"],
    ["okx", "/api/v5/market/tickers?instType=SPOT"],
    ["bybit", "/v5/market/tickers?category=spot"],
    ["kucoin", "/api/v1/market/allTickers"],
    ["bitstamp", "/api/v2/ticker/"],
    ["gate", "/api/v4/spot/tickers"],
  ] as const;
  const read = (from: ReturnType<typeof bootMarket>) =>
    Promise.all(routes.map(async ([id, path]) => await (await from.get(id, path)).text()));

  test("two markets of one seed answer with the same bytes, however they came to the moment; another seed does not", async () => {
    await using early = bootMarket();
    await using late = bootMarket();
    await using other = bootMarket({ seed: "other" });
    late.pass(-3 * dayMs);
    await read(late);
    late.pass(3 * dayMs);
    const ours = await read(early);
    expect(await read(late)).toEqual(ours);
    for (const [index, text] of (await read(other)).entries()) expect(text).not.toBe(ours[index] ?? "");
  });

  test("a candle that is over is the same a day later", async () => {
    await using market = bootMarket();
    const endTime = marketStartMs - minuteMs;
    const path = `/api/v3/klines?symbol=BTCUSDT&interval=15m&endTime=${endTime - 900_000}&limit=50`;
    const before = await market.json("binance", path);
    market.pass(dayMs);
    expect(await market.json("binance", path)).toEqual(before as object);
  });
});
