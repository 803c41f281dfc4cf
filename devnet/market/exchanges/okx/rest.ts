import type { Candle, Market, Venue } from "../../venue.ts";
import { type Answer, type Ask, answer, wholeOf } from "../exchange.ts";
import { days, eightHoursEastMs, hours, minutes, months, weeks } from "../intervals.ts";
import { fixed, type Json, plain } from "../number.ts";

const success = (data: Json): Answer => answer({ code: "0", msg: "", data });
/** Status 200, and the members in this order. */
const unknown = answer({
  code: "51001",
  data: [],
  msg: "Instrument ID, Instrument ID code, or Spread ID doesn't exist.",
});
const wrong = (name: string): Answer => answer({ code: "51000", data: [], msg: `Parameter ${name} error` }, 400);
/** Here the code is a number. */
const noRoute = answer(
  { code: 404, data: {}, detailMsg: "", error_code: "404", error_message: "Not Found", msg: "Not Found" },
  404,
);
/** Candles and history candles give so many rows of so many at most. */
const candleRowsMax = 300;
const historyRowsMax = 100;

const east = eightHoursEastMs;
/** From six hours on a bar opens by the clock of UTC+8, but for those that say utc. */
export const bars: ReadonlyMap<string, ReturnType<typeof minutes>> = new Map([
  ...[1, 3, 5, 15, 30].map((count) => [`${count}m`, minutes(count)] as const),
  ...[1, 2, 4].map((count) => [`${count}H`, hours(count)] as const),
  ...[6, 12].flatMap((count) => [[`${count}H`, hours(count, east)] as const, [`${count}Hutc`, hours(count)] as const]),
  ...[1, 2, 3].flatMap((count) => [[`${count}D`, days(count, east)] as const, [`${count}Dutc`, days(count)] as const]),
  ["1W", weeks(east)],
  ["1Wutc", weeks()],
  ...[1, 3].flatMap((count) => [[`${count}M`, months(count, east)] as const, [`${count}Mutc`, months(count)] as const]),
]);

export function rest(ask: Ask, venue: Venue): Answer {
  if (ask.method !== "GET") return noRoute;
  const { query } = ask;
  switch (ask.path) {
    case "/api/v5/public/time":
      return success([{ ts: String(venue.now()) }]);
    case "/api/v5/public/instruments":
      return query.get("instType") === "SPOT"
        ? instruments(ask, venue)
        : isType(query)
          ? success([])
          : wrong("instType");
    case "/api/v5/market/ticker": {
      const market = venue.find(query.get("instId") ?? "");
      if (!query.has("instId")) return wrong("instId");
      return market === undefined ? unknown : success([tickerRow(market, venue)]);
    }
    case "/api/v5/market/tickers":
      if (query.get("instType") === "SPOT") return success(venue.markets().map((market) => tickerRow(market, venue)));
      return isType(query) ? success([]) : wrong("instType");
    case "/api/v5/market/candles":
      return candles(ask, venue, candleRowsMax);
    case "/api/v5/market/history-candles":
      return candles(ask, venue, historyRowsMax);
    default:
      return noRoute;
  }
}

const isType = (query: URLSearchParams): boolean =>
  /^(SPOT|MARGIN|SWAP|FUTURES|OPTION)$/.test(query.get("instType") ?? "");

/**
 * The row, all strings; the stream has the days' opens in another place. For spot `vol24h` is base and `volCcy24h`
 * quote.
 */
export function tickerRow(market: Market, venue: Venue, isStream = false): Json {
  const view = venue.view(market);
  const { pricePlaces, sizePlaces } = market.listing;
  const price = (units: number): string => plain(units, pricePlaces);
  const size = (units: number): string => plain(units, sizePlaces);
  const opens = { sodUtc0: price(venue.today(market).open), sodUtc8: price(venue.todayInSingapore(market).open) };
  return {
    instType: "SPOT",
    instId: market.symbol,
    last: price(view.last.price),
    lastSz: size(view.last.size),
    askPx: price(view.ask),
    askSz: size(view.askSize),
    bidPx: price(view.bid),
    bidSz: size(view.bidSize),
    open24h: price(view.day.open),
    high24h: price(view.day.high),
    low24h: price(view.day.low),
    ...(isStream && opens),
    volCcy24h: plain(view.day.quote, pricePlaces + sizePlaces, 9),
    vol24h: size(view.day.base),
    ts: String(view.stampMs),
    ...(!isStream && opens),
  };
}

function instruments(ask: Ask, venue: Venue): Answer {
  const id = ask.query.get("instId");
  const markets = id === null ? venue.markets() : [venue.find(id)].filter((market) => market !== undefined);
  if (markets.length === 0) return unknown;
  return success(
    markets.map(({ listing, symbol }) => {
      const lot = fixed(1, listing.sizePlaces, listing.sizePlaces);
      const most = { maxIcebergSz: "9999999999", maxLmtSz: "9999999999", maxMktSz: "1000000", maxStopSz: "1000000" };
      return {
        ...{ alias: "", baseCcy: listing.base, category: "1", ctMult: "", ctType: "", ctVal: "", ctValCcy: "" },
        ...{ expTime: "", instId: symbol, instType: "SPOT", lever: "10", listTime: "1548133413000", lotSz: lot },
        ...{ ...most, maxTriggerSz: "9999999999", maxTwapSz: "9999999999", minSz: lot, optType: "" },
        ...{ quoteCcy: listing.quote, settleCcy: "", state: "live", stk: "" },
        ...{ tickSz: fixed(1, listing.pricePlaces, listing.pricePlaces), uly: "" },
      };
    }),
  );
}

/** Newest first. `after` asks for what is older and `before` for what is newer, both without the moment itself. */
function candles(ask: Ask, venue: Venue, rowsMax: number): Answer {
  const { query } = ask;
  if (!query.has("instId")) return wrong("instId");
  const interval = bars.get(query.get("bar") ?? "1m");
  if (interval === undefined) return wrong("bar");
  const after = wholeOf(query, "after");
  const before = wholeOf(query, "before");
  const limit = wholeOf(query, "limit");
  if (after === null) return wrong("after");
  if (before === null) return wrong("before");
  if (limit === null || (limit !== undefined && limit < 1)) return wrong("limit");
  const market = venue.find(query.get("instId") ?? "");
  if (market === undefined) return unknown;
  const range = {
    fromMs: before === undefined ? undefined : before + 1,
    untilMs: after === undefined ? undefined : after - 1,
  };
  const found = venue.candles(market, interval, range, Math.min(limit ?? 100, rowsMax));
  return success(found.toReversed().map((candle) => candleRow(market, candle)));
}

/** The same in answers and on the stream. */
export function candleRow(market: Market, { startMs, bar, previousClose, isOver }: Candle): Json {
  const { pricePlaces, sizePlaces } = market.listing;
  const price = (units: number): string => plain(bar.count === 0 ? previousClose : units, pricePlaces);
  const quote = plain(bar.quote, pricePlaces + sizePlaces);
  const prices = [bar.open, bar.high, bar.low, bar.close].map(price);
  return [String(startMs), ...prices, plain(bar.base, sizePlaces), quote, quote, isOver ? "1" : "0"];
}
