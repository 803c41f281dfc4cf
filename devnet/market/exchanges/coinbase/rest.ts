import type { View } from "../../process/view.ts";
import type { Market, Venue } from "../../venue.ts";
import { type Answer, type Ask, answer } from "../exchange.ts";
import { seconds } from "../intervals.ts";
import { fixed, type Json, literal, plain } from "../number.ts";

const notFound = answer({ message: "NotFound" }, 404);
const granularities = [60, 300, 900, 3_600, 21_600, 86_400];
/** Steps between start and end; one row more is answered. */
const stepsMax = 300;

export function rest(ask: Ask, venue: Venue): Answer {
  if (ask.method !== "GET") return notFound;
  if (ask.path === "/time") {
    const now = venue.now();
    return answer({ iso: new Date(now).toISOString(), epoch: literal(plain(now, 3)) });
  }
  if (ask.path === "/products") return answer(venue.markets().map(product));
  const [, id = "", what] = /^\/products\/([A-Za-z0-9-]{1,20})(?:\/(ticker|stats|candles))?$/.exec(ask.path) ?? [];
  const market = venue.find(id.toUpperCase());
  if (market === undefined) return notFound;
  if (what === "ticker") return answer(ticker(venue.view(market)));
  if (what === "stats") return answer(stats(market, venue));
  if (what === "candles") return candles(ask, market, venue);
  return answer(product(market));
}

/** Nanoseconds beyond the millisecond follow from the trade's id, since no two trades share them. */
export function tradeTime(view: View, digits: 6 | 9): string {
  const beyond = String((view.last.id * 7_919) % 1_000_000).padStart(6, "0");
  return new Date(view.last.timeMs).toISOString().replace("Z", `${beyond.slice(0, digits - 3)}Z`);
}

/** Zeros at the end are not shown. */
export function figures(view: View) {
  const { pricePlaces, sizePlaces } = view.listing;
  const price = (units: number): string => plain(units, pricePlaces);
  const size = (units: number): string => plain(units, sizePlaces);
  return {
    price: price(view.last.price),
    size: size(view.last.size),
    bid: price(view.bid),
    ask: price(view.ask),
    bidSize: size(view.bidSize),
    askSize: size(view.askSize),
    open: price(view.day.open),
    high: price(view.day.high),
    low: price(view.day.low),
    volume: size(view.day.base),
    rfq: size(Math.floor(view.day.base / 89)),
    // The volume of thirty days is derived from the last day: no client relies on it.
    month: size(view.day.base * 30 + (view.last.id % 1_000)),
    rfqMonth: size(Math.floor((view.day.base * 30) / 89)),
  };
}

function ticker(view: View): Json {
  const { ask, bid, volume, price, size, rfq } = figures(view);
  const time = tradeTime(view, 9);
  return { ask, bid, volume, trade_id: view.last.id, price, size, time, rfq_volume: rfq };
}

function stats(market: Market, venue: Venue): Json {
  const of = figures(venue.view(market));
  return {
    open: of.open,
    high: of.high,
    low: of.low,
    last: of.price,
    volume: of.volume,
    volume_30day: of.month,
    rfq_volume_24hour: of.rfq,
    rfq_volume_30day: of.rfqMonth,
  };
}

function product({ listing, symbol }: Market): Json {
  return {
    id: symbol,
    base_currency: listing.base,
    quote_currency: listing.quote,
    quote_increment: fixed(1, listing.pricePlaces, listing.pricePlaces),
    base_increment: fixed(1, listing.sizePlaces, listing.sizePlaces),
    display_name: symbol,
    min_market_funds: "1",
    margin_enabled: false,
    post_only: false,
    limit_only: false,
    cancel_only: false,
    status: "online",
    status_message: "",
    trading_disabled: false,
    fx_stablecoin: listing.base === "USDT",
    max_slippage_percentage: "0.02000000",
    auction_mode: false,
    high_bid_limit_percentage: "",
  };
}

/** ISO 8601 or Unix seconds; undefined when it is missing, null when it is neither. */
function moment(text: string | null): number | null | undefined {
  if (text === null || text === "") return undefined;
  const ms = /^\d{1,11}(\.\d+)?$/.test(text) ? Number(text) * 1_000 : Date.parse(text);
  return Number.isNaN(ms) ? null : ms;
}

/**
 * Newest first; a stretch without a trade has no row; numbers, with the low before the high and both before the open.
 */
function candles(ask: Ask, market: Market, venue: Venue): Answer {
  const granularity = Number(ask.query.get("granularity") ?? "60");
  if (!granularities.includes(granularity)) return answer({ message: "Unsupported granularity" }, 400);
  const end = moment(ask.query.get("end"));
  const start = moment(ask.query.get("start"));
  if (end === null || start === null) return answer({ message: "Invalid start or end" }, 400);
  const stepMs = granularity * 1_000;
  const untilMs = end ?? (start === undefined ? venue.now() : start + stepsMax * stepMs);
  const fromMs = start ?? untilMs - stepsMax * stepMs;
  if (untilMs - fromMs > stepsMax * stepMs) {
    const message = `granularity too small for the requested time range. Count of aggregations requested exceeds ${stepsMax}`;
    return answer({ message }, 400);
  }
  const { pricePlaces, sizePlaces } = market.listing;
  const price = (units: number) => literal(plain(units, pricePlaces));
  const rows = venue
    .candles(market, seconds(granularity), { fromMs, untilMs }, stepsMax + 1)
    .filter(({ bar }) => bar.count > 0)
    .map(({ startMs, bar }): Json => {
      const prices = [bar.low, bar.high, bar.open, bar.close].map(price);
      return [startMs / 1_000, ...prices, literal(plain(bar.base, sizePlaces))];
    });
  return answer(rows.toReversed());
}
