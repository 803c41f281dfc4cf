import type { Market, Venue } from "../../venue.ts";
import { type Answer, type Ask, answer, page, wholeOf } from "../exchange.ts";
import { days, hours, minutes, months, seconds, weeks } from "../intervals.ts";
import type { Json } from "../number.ts";
import { exchangeInfo } from "./exchange-info.ts";
import { bookRow, candleRow, dayRow, priceRow } from "./rows.ts";

const error = (code: number, msg: string): Answer => answer({ code, msg }, 400);
const invalidSymbol = error(-1121, "Invalid symbol.");
const illegalSymbol = error(
  -1100,
  "Illegal characters found in parameter 'symbol'; legal range is '^[A-Z0-9-_.]{1,20}$'.",
);
const both = error(-1128, "Combination of optional parameters invalid.");
const symbolPattern = /^[A-Z0-9\-_.]{1,20}$/;
const symbolsMax = 1_000;
const candlesMax = 1_000;

/** Case matters: 1M is a month. */
export const barIntervals: ReadonlyMap<string, ReturnType<typeof minutes>> = new Map([
  ["1s", seconds(1)],
  ...[1, 3, 5, 15, 30].map((count) => [`${count}m`, minutes(count)] as const),
  ...[1, 2, 4, 6, 8, 12].map((count) => [`${count}h`, hours(count)] as const),
  ["1d", days(1)],
  ["3d", days(3)],
  ["1w", weeks()],
  ["1M", months(1)],
]);

export function rest(ask: Ask, venue: Venue, scale: number): Answer {
  if (ask.method !== "GET") return page(405, "Method Not Allowed");
  switch (ask.path) {
    case "/api/v3/ping":
      return answer({});
    case "/api/v3/time":
      return answer({ serverTime: venue.now() * scale });
    case "/api/v3/exchangeInfo":
      return asked(ask, venue, (markets) => exchangeInfo(markets, venue.now()));
    case "/api/v3/ticker/24hr": {
      const kind = ask.query.get("type") ?? "FULL";
      if (kind !== "FULL" && kind !== "MINI") return error(-1100, "Illegal characters found in parameter 'type'.");
      return rows(ask, venue, (market) => dayRow(market.symbol, venue.view(market), kind, scale));
    }
    case "/api/v3/ticker/price":
      return rows(ask, venue, (market) => priceRow(market.symbol, venue.view(market)));
    case "/api/v3/ticker/bookTicker":
      return rows(ask, venue, (market) => bookRow(market.symbol, venue.view(market)));
    case "/api/v3/klines":
      return candles(ask, venue, scale);
    default:
      return page(404, "Not Found");
  }
}

/** One symbol gives an object, `symbols` or nothing an array: the spelling decides, not the number. */
function rows(ask: Ask, venue: Venue, row: (market: Market) => Json): Answer {
  const isOne = ask.query.has("symbol");
  return asked(ask, venue, (markets) => (isOne ? markets.map(row)[0] : markets.map(row)) ?? null);
}

function asked(ask: Ask, venue: Venue, make: (markets: readonly Market[]) => Json): Answer {
  const symbol = ask.query.get("symbol");
  const list = ask.query.get("symbols");
  if (symbol !== null && list !== null) return both;
  if (symbol === null && list === null) return answer(make(venue.markets()));
  const names = symbol === null ? readList(list ?? "") : [symbol];
  if (names === null) return error(-1100, "Illegal characters found in parameter 'symbols'.");
  if (names.some((name) => !symbolPattern.test(name))) return illegalSymbol;
  if (new Set(names).size !== names.length) return error(-1101, "Duplicate values for parameter 'symbols'.");
  const markets = names.flatMap((name) => venue.find(name) ?? []);
  // One bad name fails the whole call.
  return markets.length === names.length ? answer(make(markets)) : invalidSymbol;
}

function readList(text: string): string[] | null {
  try {
    const value: unknown = JSON.parse(text);
    if (!Array.isArray(value) || value.length === 0 || value.length > symbolsMax) return null;
    const names = value.filter((each): each is string => typeof each === "string");
    return names.length === value.length ? names : null;
  } catch {
    return null;
  }
}

function candles(ask: Ask, venue: Venue, scale: number): Answer {
  const { query } = ask;
  const symbol = query.get("symbol");
  if (symbol === null) return error(-1102, "Mandatory parameter 'symbol' was not sent, was empty/null, or malformed.");
  if (!symbolPattern.test(symbol)) return illegalSymbol;
  const market = venue.find(symbol);
  if (market === undefined) return invalidSymbol;
  const interval = barIntervals.get(query.get("interval") ?? "");
  if (interval === undefined) return error(-1120, "Invalid interval.");
  const [fromMs, untilMs, limit] = ["startTime", "endTime", "limit"].map((name) => wholeOf(query, name));
  if (fromMs === null || untilMs === null || limit === null || (limit !== undefined && limit < 1)) {
    return error(-1100, "Illegal characters found in a parameter.");
  }
  const max = Math.min(limit ?? 500, candlesMax);
  // From a start on the oldest rows are given, else the newest.
  const found = venue.candles(market, interval, { fromMs, untilMs, oldest: fromMs !== undefined }, max);
  const { pricePlaces, sizePlaces } = market.listing;
  return answer(found.map((candle) => candleRow(candle, pricePlaces, sizePlaces, scale)));
}
