import type { View } from "../../process/view.ts";
import type { Market, Venue } from "../../venue.ts";
import { type Answer, type Ask, answer, wholeOf } from "../exchange.ts";
import { days, hours, minutes, months, weeks } from "../intervals.ts";
import { changeRatio, fixed, type Json, mean, plain } from "../number.ts";
import type { Tokens } from "./tokens.ts";

const success = (data: Json): Answer => answer({ code: "200000", data });
const failure = (code: string, msg: string, status = 200): Answer => answer({ msg, code }, status);

export const pingIntervalMs = 18_000;
export const pingTimeoutMs = 10_000;
const rowsMax = 1_500;
/** The list of all tickers is made anew only so often. */
const snapshotMs = 2_000;

export const types: ReadonlyMap<string, ReturnType<typeof minutes>> = new Map([
  ...[1, 3, 5, 15, 30].map((count) => [`${count}min`, minutes(count)] as const),
  ...[1, 2, 4, 6, 8, 12].map((count) => [`${count}hour`, hours(count)] as const),
  ["1day", days(1)],
  ["1week", weeks()],
  ["1month", months(1)],
]);

/** Errors often come with status 200. */
export function rest(ask: Ask, venue: Venue, tokens: Tokens): Answer {
  const { query, path } = ask;
  if (path === "/api/v1/bullet-public") {
    if (ask.method !== "POST") return failure("405000", "Request method not supported", 405);
    const server = { endpoint: `ws://${ask.host}/`, encrypt: false, protocol: "websocket" };
    const life = { pingInterval: pingIntervalMs, pingTimeout: pingTimeoutMs };
    return success({ token: tokens.issue(venue.clock()), instanceServers: [{ ...server, ...life }] });
  }
  if (ask.method !== "GET") return failure("405000", "Request method not supported", 405);
  const market = venue.find(query.get("symbol") ?? "");
  switch (path) {
    case "/api/v1/timestamp":
      return success(venue.now());
    case "/api/v1/status":
      return success({ status: "open", msg: "" });
    case "/api/v1/symbols":
    case "/api/v2/symbols":
      return success(venue.markets().map(symbolRow));
    case "/api/v1/market/allTickers":
      return success(allTickers(venue));
    case "/api/v1/market/stats":
      return success(market === undefined ? null : statsRow(market, venue.view(market)));
    case "/api/v1/market/orderbook/level1":
      return success(market === undefined ? null : levelRow(venue.view(market)));
    case "/api/v1/market/candles":
      return market === undefined ? failure("400100", "symbol not exists") : candles(ask, market, venue);
  }
  const id = /^\/api\/v2\/symbols\/([\w-]{1,32})$/.exec(path)?.[1];
  if (id === undefined) return failure("404", "Not Found", 404);
  const named = venue.find(id);
  return named === undefined ? failure("900001", `Trading pair ${id} does not exist.`) : success(symbolRow(named));
}

/** A change is cut off after four places, not rounded; `buy` is the best bid and `sell` the best ask. */
function figures(view: View) {
  const { pricePlaces, sizePlaces } = view.listing;
  const price = (units: number): string => plain(units, pricePlaces);
  return {
    buy: price(view.bid),
    sell: price(view.ask),
    changeRate: plain(changeRatio(view, 4, "cut"), 4),
    changePrice: price(view.last.price - view.day.open),
    high: price(view.day.high),
    low: price(view.day.low),
    vol: plain(view.day.base, sizePlaces),
    volValue: plain(view.day.quote, pricePlaces + sizePlaces),
    last: price(view.last.price),
    averagePrice: mean(view.day.quote, view.day.base, pricePlaces, 8),
    takerFeeRate: "0.001",
    makerFeeRate: "0.001",
    takerCoefficient: "1",
    makerCoefficient: "1",
  };
}

const statsRow = ({ symbol }: Market, view: View): Json => ({ time: view.stampMs, symbol, ...figures(view) });

function allTickers(venue: Venue): Json {
  const ticker = venue.markets().map((market) => {
    const { symbol } = market;
    return { symbol, symbolName: symbol, ...figures(venue.view(market)) };
  });
  return { time: Math.floor(venue.now() / snapshotMs) * snapshotMs, ticker };
}

/** Greater is newer, with gaps. */
export const sequenceOf = (view: View): string =>
  String(Math.floor(view.contentMs / 10) - 100_000_000_000 + view.last.id);

function levelRow(view: View): Json {
  const of = figures(view);
  const size = (units: number): string => plain(units, view.listing.sizePlaces);
  return {
    time: view.stampMs,
    sequence: sequenceOf(view),
    price: of.last,
    size: size(view.last.size),
    bestBid: of.buy,
    bestBidSize: size(view.bidSize),
    bestAsk: of.sell,
    bestAskSize: size(view.askSize),
  };
}

function symbolRow({ listing, symbol }: Market): Json {
  const step = fixed(1, listing.sizePlaces, listing.sizePlaces);
  return {
    symbol,
    name: symbol,
    baseCurrency: listing.base,
    quoteCurrency: listing.quote,
    feeCurrency: listing.quote,
    market: "USDS",
    baseMinSize: step,
    quoteMinSize: "0.1",
    baseMaxSize: "10000000000",
    quoteMaxSize: "99999999",
    baseIncrement: step,
    quoteIncrement: "0.000001",
    priceIncrement: fixed(1, listing.pricePlaces, listing.pricePlaces),
    priceLimitRate: "0.1",
    isMarginEnabled: false,
    enableTrading: true,
  };
}

/** Newest first; open, CLOSE, high, low; a stretch without a trade has no row. */
function candles(ask: Ask, market: Market, venue: Venue): Answer {
  const interval = types.get(ask.query.get("type") ?? "");
  const startAt = wholeOf(ask.query, "startAt");
  const endAt = wholeOf(ask.query, "endAt");
  if (interval === undefined) return failure("400100", "type is invalid");
  if (startAt === null || endAt === null) return failure("400100", "startAt or endAt is invalid");
  const { pricePlaces, sizePlaces } = market.listing;
  const range = {
    fromMs: startAt === undefined || startAt === 0 ? undefined : startAt * 1_000,
    untilMs: endAt === undefined || endAt === 0 ? undefined : endAt * 1_000,
  };
  const found = venue.candles(market, interval, range, rowsMax).filter(({ bar }) => bar.count > 0);
  return success(
    found.toReversed().map(({ startMs, bar }) => {
      const prices = [bar.open, bar.close, bar.high, bar.low].map((units) => plain(units, pricePlaces));
      const amounts = [plain(bar.base, sizePlaces), plain(bar.quote, pricePlaces + sizePlaces)];
      return [String(startMs / 1_000), ...prices, ...amounts];
    }),
  );
}
