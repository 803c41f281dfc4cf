import { dayMs, type View } from "../../process/view.ts";
import type { Market, Venue } from "../../venue.ts";
import { type Answer, type Ask, answer, wholeOf } from "../exchange.ts";
import { days, hours, minutes, months, seconds } from "../intervals.ts";
import { changeRatio, type Json, plain, rounded } from "../number.ts";

const failure = (label: string, message: string): Answer => answer({ label, message }, 400);
const notFound = answer({ label: "NOT_FOUND", message: "Not Found" }, 404);
const rowsMax = 1_000;

export const barIntervals: ReadonlyMap<string, ReturnType<typeof minutes>> = new Map([
  ...[1, 10].map((count) => [`${count}s`, seconds(count)] as const),
  ...[1, 5, 15, 30].map((count) => [`${count}m`, minutes(count)] as const),
  ...[1, 4, 8].map((count) => [`${count}h`, hours(count)] as const),
  ["1d", days(1)],
  ["7d", days(7)],
  ["30d", months(1)],
]);

/** Success is the bare value, an error an object with a label. */
export function rest(ask: Ask, venue: Venue): Answer {
  if (ask.method !== "GET") return answer({ label: "METHOD_NOT_ALLOWED", message: "Method Not Allowed" }, 405);
  const now = venue.now();
  const pair = ask.query.get("currency_pair");
  if (ask.path === "/api/v4/spot/time") return answer({ server_time: now });
  if (ask.path === "/api/v4/spot/currency_pairs") return answer(venue.markets().map(pairRow));
  // Nothing is lent here, which clients that ask for all markets at once accept.
  if (ask.path === "/api/v4/margin/currency_pairs") return answer([]);
  if (ask.path === "/api/v4/spot/tickers") {
    if (pair === null) return answer(venue.markets().map((market) => tickerRow(market, venue, "list")));
    const market = venue.find(pair);
    return market === undefined ? unknown(pair) : answer([tickerRow(market, venue, "one")]);
  }
  if (ask.path === "/api/v4/spot/candlesticks") return candles(ask, pair ?? "", venue);
  const id = /^\/api\/v4\/spot\/currency_pairs\/([\w-]{1,32})$/.exec(ask.path)?.[1];
  if (id === undefined) return notFound;
  const market = venue.find(id);
  return market === undefined ? unknown(id) : answer(pairRow(market));
}

export function unknown(pair: string): Answer {
  const [base = ""] = pair.split("_");
  return pair.includes("_")
    ? failure("INVALID_CURRENCY", `Invalid currency ${base.slice(0, 32)}`)
    : failure("INVALID_CURRENCY_PAIR", `Invalid currency pair ${pair.slice(0, 32)}`);
}

/** Sizes of the best prices stand only in the row of one pair, changes of the day only in the whole list. */
export function tickerRow(market: Market, venue: Venue, form: "one" | "list" | "stream"): Json {
  const view = venue.view(market);
  const { pricePlaces, sizePlaces } = market.listing;
  const price = (units: number): string => plain(units, pricePlaces);
  const size = (units: number): string => plain(units, sizePlaces);
  const since = (open: number): string => plain(rounded(BigInt(view.last.price - open) * 10_000n, BigInt(open)), 2);
  return {
    currency_pair: market.symbol,
    last: price(view.last.price),
    lowest_ask: price(view.ask),
    ...(form === "one" && { lowest_size: size(view.askSize) }),
    highest_bid: price(view.bid),
    ...(form === "one" && { highest_size: size(view.bidSize) }),
    change_percentage: percentOf(view, form === "stream" ? 4 : 2),
    ...(form === "list" && {
      change_utc0: since(venue.today(market).open),
      change_utc8: since(venue.todayInSingapore(market).open),
    }),
    base_volume: size(view.day.base),
    quote_volume: plain(view.day.quote, pricePlaces + sizePlaces),
    high_24h: price(view.day.high),
    low_24h: price(view.day.low),
  };
}

const percentOf = (view: View, places: number): string => plain(changeRatio(view, places + 2, "round"), places);

function pairRow({ listing, symbol }: Market): Json {
  return {
    id: symbol,
    base: listing.base,
    quote: listing.quote,
    fee: "0.2",
    min_base_amount: plain(1, listing.sizePlaces),
    min_quote_amount: "1",
    amount_precision: listing.sizePlaces,
    precision: listing.pricePlaces,
    trade_status: "tradable",
    sell_start: 0,
    buy_start: 0,
  };
}

/** Oldest first: time, amount in QUOTE, close, high, low, open, base volume, whether it is over. */
function candles(ask: Ask, pair: string, venue: Venue): Answer {
  const interval = barIntervals.get(ask.query.get("interval") ?? "30m");
  if (interval === undefined) return failure("INVALID_PARAM_VALUE", "Invalid interval");
  const limit = wholeOf(ask.query, "limit");
  const from = wholeOf(ask.query, "from");
  const to = wholeOf(ask.query, "to");
  if (limit === null || from === null || to === null || (limit !== undefined && limit < 1)) {
    return failure("INVALID_PARAM_VALUE", "Invalid parameter");
  }
  if (limit !== undefined && (from !== undefined || to !== undefined)) {
    return failure("INVALID_PARAM_VALUE", "limit conflicts with from and to");
  }
  const market = venue.find(pair);
  if (market === undefined) return unknown(pair);
  const untilMs = to === undefined ? venue.now() : to * 1_000;
  const lengthMs = "lengthMs" in interval ? interval.lengthMs : 30 * dayMs;
  const isTooBroad =
    (from !== undefined && untilMs - from * 1_000 > (rowsMax - 1) * lengthMs) || (limit ?? 0) > rowsMax;
  if (isTooBroad) {
    const message = `Candlestick range too broad. Maximum ${rowsMax} data points are allowed per request`;
    return failure("INVALID_PARAM_VALUE", message);
  }
  const fromMs = from === undefined ? undefined : from * 1_000;
  const found = venue.candles(market, interval, { fromMs, untilMs }, fromMs === undefined ? (limit ?? 100) : rowsMax);
  return answer(found.map((candle) => candleRow(market, candle)));
}

export function candleRow({ listing }: Market, candle: ReturnType<Venue["candles"]>[number]): Json {
  const { pricePlaces, sizePlaces } = listing;
  const { bar } = candle;
  const price = (units: number): string => plain(bar.count === 0 ? candle.previousClose : units, pricePlaces);
  const prices = [bar.close, bar.high, bar.low, bar.open].map(price);
  const quote = plain(bar.quote, pricePlaces + sizePlaces);
  return [String(candle.startMs / 1_000), quote, ...prices, plain(bar.base, sizePlaces), String(candle.isOver)];
}
