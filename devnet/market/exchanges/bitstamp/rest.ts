import { marketAssets } from "../../model/assets.ts";
import type { Bar } from "../../process/bar.ts";
import type { Market, Venue } from "../../venue.ts";
import { type Answer, type Ask, answer, page, wholeOf } from "../exchange.ts";
import { seconds } from "../intervals.ts";
import { changeRatio, fixed, type Json, mean } from "../number.ts";

const steps = [60, 180, 300, 900, 1_800, 3_600, 7_200, 14_400, 21_600, 43_200, 86_400, 259_200];
/** The edge keeps an answer so long. */
const edgeMs = 2_000;
const hourMs = 3_600_000;

const failure = (code: string, reason: string): Answer => answer({ status: "error", reason, code }, 400);
const displayOf = ({ listing }: Market): string => `${listing.base}/${listing.quote}`;

/** Paths end with a slash and may be written in any case. */
export function rest(ask: Ask, venue: Venue): Answer {
  if (ask.method !== "GET") return page(405, "Method Not Allowed");
  const path = ask.path.toLowerCase();
  if (!path.endsWith("/")) return { ...page(301, "Moved Permanently"), headers: { Location: `${ask.path}/` } };
  const [, what, pair] =
    /^\/api\/v2\/(ticker|ticker_hour|ohlc|markets|trading-pairs-info|order_book)\/(?:([a-z0-9-]{1,20})\/)?$/.exec(
      path,
    ) ?? [];
  const market = pair === undefined ? undefined : venue.find(pair);
  switch (what) {
    case "ticker":
    case "ticker_hour":
      // An unknown pair is answered with everything there is.
      if (market === undefined) return answer(venue.markets().map((each) => tickerRow(each, venue, what, true)));
      return answer(tickerRow(market, venue, what, false));
    case "ohlc":
      return market === undefined ? page(404, "Not Found") : candles(ask, market, venue);
    case "markets":
      return pair === undefined ? answer(venue.markets().map(marketRow)) : page(404, "Not Found");
    case "trading-pairs-info":
      return pair === undefined ? answer(venue.markets().map(pairRow)) : page(404, "Not Found");
    default:
      return page(404, "Not Found");
  }
}

function tickerRow(market: Market, venue: Venue, what: "ticker" | "ticker_hour", isList: boolean): Json {
  const view = venue.view(market);
  const { pricePlaces, sizePlaces } = market.listing;
  const price = (units: number): string => fixed(units, pricePlaces, pricePlaces);
  const today = venue.today(market);
  const hour = market.tape.bar(view.contentMs - hourMs + 1, view.contentMs + 1);
  // An hour may pass without a trade; it then is as flat as it was.
  if (hour.count === 0) Object.assign(hour, { open: view.last.price, high: view.last.price, low: view.last.price });
  const bar: Bar = what === "ticker" ? view.day : hour;
  const name = displayOf(market);
  return {
    timestamp: String(Math.floor(view.stampMs / edgeMs) * (edgeMs / 1_000)),
    open: price(what === "ticker" ? today.open : hour.open),
    high: price(bar.high),
    low: price(bar.low),
    last: price(view.last.price),
    volume: fixed(bar.base, sizePlaces, 8),
    vwap: bar.count === 0 ? price(view.last.price) : mean(bar.quote, bar.base, pricePlaces, pricePlaces),
    bid: price(view.bid),
    ask: price(view.ask),
    side: view.last.isBuy ? "0" : "1",
    open_24: price(view.day.open),
    percent_change_24: fixed(changeRatio(view, 4, "round"), 2, 2),
    market_type: "SPOT",
    ...(isList && { pair: name, market: name }),
  };
}

const minimum = (market: Market): string => (market.listing.quote === "USD" ? "10.00" : "10.00000");

function marketRow(market: Market): Json {
  const { listing, symbol } = market;
  return {
    name: displayOf(market),
    market_symbol: symbol,
    base_currency: listing.base,
    base_decimals: 8,
    counter_currency: listing.quote,
    counter_decimals: listing.pricePlaces,
    minimum_order_value: minimum(market),
    trading: "Enabled",
    instant_order_counter_decimals: 2,
    instant_and_market_orders: "Enabled",
    description: describe(market),
    market_type: "SPOT",
  };
}

function pairRow(market: Market): Json {
  const { listing, symbol } = market;
  return {
    trading: "Enabled",
    base_decimals: 8,
    url_symbol: symbol,
    name: displayOf(market),
    instant_and_market_orders: "Enabled",
    minimum_order: `10.0 ${listing.quote}`,
    counter_decimals: listing.pricePlaces,
    description: describe(market),
  };
}

function describe({ listing }: Market): string {
  const nameOf = (symbol: string): string =>
    symbol === "USD" ? "U.S. dollar" : (marketAssets.find((asset) => asset.symbol === symbol)?.name ?? symbol);
  return `${nameOf(listing.base)} / ${nameOf(listing.quote)}`;
}

/** Oldest first. With `end` and `limit`, `start` has no effect. */
function candles(ask: Ask, market: Market, venue: Venue): Answer {
  const step = wholeOf(ask.query, "step") ?? 0;
  if (!steps.includes(step)) return failure("400.002", "Invalid step");
  const limit = wholeOf(ask.query, "limit");
  if (limit === undefined || limit === null || limit < 1 || limit > 1_000) return failure("400.002", "Invalid limit");
  const start = wholeOf(ask.query, "start");
  const end = wholeOf(ask.query, "end");
  if (start === null || end === null) return failure("400.002", "Invalid start or end");
  const range =
    end === undefined && start !== undefined
      ? { fromMs: start * 1_000, oldest: true }
      : { untilMs: end === undefined ? undefined : end * 1_000 };
  const { pricePlaces, sizePlaces } = market.listing;
  const ohlc = venue.candles(market, seconds(step), range, limit).map(({ startMs, bar, previousClose }): Json => {
    const price = (units: number): string => fixed(bar.count === 0 ? previousClose : units, pricePlaces, pricePlaces);
    return {
      timestamp: String(startMs / 1_000),
      open: price(bar.open),
      high: price(bar.high),
      low: price(bar.low),
      close: price(bar.close),
      volume: fixed(bar.base, sizePlaces, 8),
    };
  });
  return answer({ data: { pair: displayOf(market), ohlc } });
}
