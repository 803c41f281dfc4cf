import { afterAll, describe, expect, test } from "bun:test";
import { allListings, exchangeIds } from "./model/listings.ts";
import { clientOf } from "./testing/ccxt.ts";
import { bootMarket } from "./testing/market.ts";

const markets = bootMarket();
afterAll(() => markets[Symbol.asyncDispose]());

/** Exchanges whose client can ask for all tickers at once. */
const withAll = exchangeIds.filter((id) => id !== "coinbase");

describe("ccxt, configured with another host only, reads the market's figures", () => {
  for (const id of exchangeIds) {
    const listings = allListings.filter((each) => each.exchange === id);
    const venue = markets.market.venues[id];
    const viewOf = (symbol: string) => {
      const market = venue.markets().find(({ listing }) => `${listing.base}/${listing.quote}` === symbol);
      if (market === undefined) throw new Error(`${id} lists no ${symbol}`);
      return { view: venue.view(market), listing: market.listing };
    };

    test(`${id}: its list of markets, every ticker, and candles`, async () => {
      const client = clientOf(id, markets.market.exchanges[id].rest);
      await client.loadMarkets();
      const symbols = listings.map(({ base, quote }) => `${base}/${quote}`);
      expect(Object.keys(client.markets).toSorted()).toEqual(symbols.toSorted());
      for (const symbol of symbols) {
        const ticker = await client.fetchTicker(symbol);
        const { view, listing } = viewOf(symbol);
        const price = (units: number): number => Number(`${units}e-${listing.pricePlaces}`);
        expect(ticker.symbol).toBe(symbol);
        expect(ticker.last).toBe(price(view.last.price));
        expect(ticker.bid).toBe(price(view.bid));
        expect(ticker.ask).toBe(price(view.ask));
        expect(ticker.baseVolume).toBe(Number(`${view.day.base}e-${listing.sizePlaces}`));
        // Coinbase's stats contain the figures that its ticker lacks.
        if (id === "coinbase") continue;
        expect(ticker.high).toBe(price(view.day.high));
        expect(ticker.low).toBe(price(view.day.low));
        const quote = Number(view.day.quote) / 10 ** (listing.pricePlaces + listing.sizePlaces);
        // Kraken and Bitstamp report no quote volume: the client multiplies with the rounded mean price.
        expect(Math.abs((ticker.quoteVolume ?? 0) / quote - 1)).toBeLessThan(1e-3);
      }
      await readCandles(client, symbols[0] ?? "");
    });

    async function readCandles(client: ReturnType<typeof clientOf>, symbol: string): Promise<void> {
      // The client asks by its own clock unless the call has a start time.
      const since = Math.floor(markets.now() / 60_000) * 60_000 - 240_000;
      const rows = await client.fetchOHLCV(symbol, "1m", since, 5);
      const { listing } = viewOf(symbol);
      const market = venue.markets().find((each) => each.listing === listing);
      const last = rows.findLast(([, , , , , volume]) => volume !== 0);
      const [startMs = 0, open, high, low, close, volume] = last ?? [];
      const bar = market?.tape.bar(startMs, Math.min(startMs + 60_000, markets.now() + 1));
      const price = (units = 0): number => Number(`${units}e-${listing.pricePlaces}`);
      expect([open, high, low, close]).toEqual([bar?.open, bar?.high, bar?.low, bar?.close].map(price));
      expect(volume).toBe(Number(`${bar?.base}e-${listing.sizePlaces}`));
    }
  }
  for (const id of withAll) {
    test(`${id}: all tickers in one answer are the single ones`, async () => {
      const client = clientOf(id, markets.market.exchanges[id].rest);
      const all = await client.fetchTickers();
      const one = await client.fetchTicker(id === "kraken" || id === "bitstamp" ? "ETH/USD" : "ETH/USDT");
      expect(Object.keys(all).length).toBe(allListings.filter((each) => each.exchange === id).length);
      expect(all[one.symbol]?.last).toBe(one.last ?? -1);
      expect(all[one.symbol]?.high).toBe(one.high ?? -1);
    });
  }
});
