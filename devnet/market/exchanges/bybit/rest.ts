import type { View } from "../../process/view.ts";
import type { Market, Venue } from "../../venue.ts";
import { type Answer, type Ask, answer, page, wholeOf } from "../exchange.ts";
import { days, hours, minutes, months, weeks } from "../intervals.ts";
import { changeRatio, fixed, type Json, plain } from "../number.ts";

/** Errors come with status 200. */
export const envelope = (retCode: number, retMsg: string, result: Json, nowMs: number): Answer =>
  answer({ retCode, retMsg, result, retExtInfo: {}, time: nowMs });

const rowsMax = 1_000;

export const barIntervals: ReadonlyMap<string, ReturnType<typeof minutes>> = new Map([
  ...[1, 3, 5, 15, 30].map((count) => [`${count}`, minutes(count)] as const),
  ...[1, 2, 4, 6, 12].map((count) => [`${count * 60}`, hours(count)] as const),
  ["D", days(1)],
  ["W", weeks()],
  ["M", months(1)],
]);

export function rest(ask: Ask, venue: Venue): Answer {
  if (ask.method !== "GET") return page(404, "Not Found");
  const now = venue.now();
  const success = (result: Json): Answer => envelope(0, "OK", result, now);
  switch (ask.path) {
    case "/v5/market/time":
      return success({ timeSecond: String(Math.floor(now / 1_000)), timeNano: `${now}000000` });
    case "/v5/market/tickers":
    case "/v5/market/kline":
    case "/v5/market/instruments-info":
      break;
    default:
      return page(404, "Not Found");
  }
  const isTickers = ask.path.endsWith("/tickers");
  // Forgetting the category silently means the perpetual, which is not traded here.
  const category = ask.query.get("category") ?? (isTickers ? "" : "linear");
  if (!/^(spot|linear|inverse|option)$/.test(category))
    return envelope(10_001, "params error: category invalid", {}, now);
  const symbol = ask.query.get("symbol");
  const market = symbol === null || category !== "spot" ? undefined : venue.find(symbol);
  if (ask.path.endsWith("/instruments-info")) {
    const markets = category !== "spot" ? [] : symbol === null ? venue.markets() : market === undefined ? [] : [market];
    return success({ category, list: markets.map(instrument), nextPageCursor: "" });
  }
  if (category !== "spot") return envelope(10_001, "params error: symbol invalid", {}, now);
  if (symbol !== null && market === undefined) return envelope(10_001, "Not supported symbols", {}, now);
  if (isTickers) {
    const list = market === undefined ? venue.markets() : [market];
    return success({ category, list: list.map((each) => tickerRow(each, venue)) });
  }
  if (market === undefined) return envelope(10_001, "params error: symbol invalid", {}, now);
  const rows = candles(ask, market, venue);
  return typeof rows === "string"
    ? envelope(10_001, `params error: ${rows} invalid`, {}, now)
    : success({ category, symbol: market.symbol, list: rows });
}

export function figures(view: View) {
  const { pricePlaces, sizePlaces } = view.listing;
  const price = (units: number): string => plain(units, pricePlaces);
  const size = (units: number): string => plain(units, sizePlaces);
  return {
    bid: price(view.bid),
    bidSize: size(view.bidSize),
    ask: price(view.ask),
    askSize: size(view.askSize),
    last: price(view.last.price),
    open: price(view.day.open),
    high: price(view.day.high),
    low: price(view.day.low),
    volume: size(view.day.base),
    turnover: plain(view.day.quote, pricePlaces + sizePlaces, 8),
    change: plain(changeRatio(view, 4, "round"), 4),
  };
}

/** An index of several exchanges, which is no source: it is near the middle of the best prices. */
export function indexOf(market: Market, view: View): string {
  const { pricePlaces } = market.listing;
  return plain((BigInt(view.bid) + BigInt(view.ask)) * 5_000n, pricePlaces + 4);
}

function tickerRow(market: Market, venue: Venue): Json {
  const view = venue.view(market);
  const of = figures(view);
  return {
    symbol: market.symbol,
    bid1Price: of.bid,
    bid1Size: of.bidSize,
    ask1Price: of.ask,
    ask1Size: of.askSize,
    lastPrice: of.last,
    prevPrice24h: of.open,
    price24hPcnt: of.change,
    highPrice24h: of.high,
    lowPrice24h: of.low,
    turnover24h: of.turnover,
    volume24h: of.volume,
    usdIndexPrice: indexOf(market, view),
  };
}

function instrument({ listing, symbol }: Market): Json {
  const step = fixed(1, listing.sizePlaces, listing.sizePlaces);
  return {
    symbol,
    baseCoin: listing.base,
    quoteCoin: listing.quote,
    innovation: "0",
    status: "Trading",
    marginTrading: "utaOnly",
    lotSizeFilter: {
      basePrecision: step,
      quotePrecision: fixed(1, 8, 8),
      minOrderQty: step,
      maxOrderQty: "1000000",
      minOrderAmt: "5",
      maxOrderAmt: "1000000",
    },
    priceFilter: { tickSize: fixed(1, listing.pricePlaces, listing.pricePlaces) },
  };
}

/** Newest first. The name of the parameter that is wrong, if one is. */
function candles(ask: Ask, market: Market, venue: Venue): Json[] | string {
  const interval = barIntervals.get(ask.query.get("interval") ?? "");
  if (interval === undefined) return "interval";
  const start = wholeOf(ask.query, "start");
  const end = wholeOf(ask.query, "end");
  const limit = wholeOf(ask.query, "limit");
  if (start === null) return "start";
  if (end === null) return "end";
  if (limit === null || (limit !== undefined && limit < 1)) return "limit";
  const { pricePlaces, sizePlaces } = market.listing;
  const max = Math.min(limit ?? 200, rowsMax);
  const range = { fromMs: start, untilMs: end, oldest: start !== undefined && end === undefined };
  return venue
    .candles(market, interval, range, max)
    .toReversed()
    .map(({ startMs, bar, previousClose }) => {
      const price = (units: number): string => plain(bar.count === 0 ? previousClose : units, pricePlaces);
      const prices = [bar.open, bar.high, bar.low, bar.close].map(price);
      return [String(startMs), ...prices, plain(bar.base, sizePlaces), plain(bar.quote, pricePlaces + sizePlaces, 8)];
    });
}
