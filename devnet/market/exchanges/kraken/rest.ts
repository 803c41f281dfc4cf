import type { Listing } from "../../model/listings.ts";
import type { Bar } from "../../process/bar.ts";
import type { Market, Venue } from "../../venue.ts";
import { type Answer, type Ask, answer, page, wholeOf } from "../exchange.ts";
import { minutes, weeksFromThursday } from "../intervals.ts";
import { fixed, type Json, mean } from "../number.ts";
import { find, namesOf } from "./names.ts";

/** Errors come with status 200. */
const error = (text: string): Answer => answer({ error: [text] });
const unknownPair = error("EQuery:Unknown asset pair");
const invalid = error("EGeneral:Invalid arguments");
const success = (result: Json): Answer => answer({ error: [], result });

const barIntervals = [1, 5, 15, 30, 60, 240, 1_440, 10_080, 21_600];
const rowsMax = 720;
const namesMax = 500;

export function rest(ask: Ask, venue: Venue): Answer {
  if (ask.method !== "GET" && ask.method !== "POST") return page(405, "Method Not Allowed");
  const what = /^\/0\/public\/(\w{1,20})$/.exec(ask.path)?.[1];
  const now = venue.now();
  switch (what) {
    case "Time":
      return success({ unixtime: Math.floor(now / 1_000), rfc1123: rfc1123(now) });
    case "SystemStatus":
      return success({ status: "online", timestamp: new Date(now).toISOString().replace(/\.\d+Z$/, "Z") });
    case "Assets":
      return success(assets(venue));
    case "AssetPairs":
      return pairs(ask, venue, ({ listing }) => pairRow(listing));
    case "Ticker":
      return pairs(ask, venue, (market) => tickerRow(market, venue));
    case "OHLC":
      return candles(ask, venue);
    default:
      return error("EGeneral:Unknown method");
  }
}

function rfc1123(ms: number): string {
  const [day = "", date = "", month = "", year = "", time = ""] = new Date(ms).toUTCString().split(" ");
  return `${day} ${date} ${month} ${year.slice(2)} ${time} +0000`;
}

/** One unknown name fails the whole list. */
function pairs(ask: Ask, venue: Venue, row: (market: Market) => Json): Answer {
  const asked = ask.query.get("pair");
  const shown = ask.query.get("assetVersion") === "1" ? "display" : "key";
  if (asked === null) {
    return success(Object.fromEntries(venue.markets().map((each) => [namesOf(each.listing)[shown], row(each)])));
  }
  const names = asked.split(",", namesMax);
  const found = names.map((name) => find(venue, name));
  const rows: [string, Json][] = [];
  for (const each of found) {
    if (each === null) return unknownPair;
    rows.push([shown === "display" ? namesOf(each.market.listing).display : each.key, row(each.market)]);
  }
  return success(Object.fromEntries(rows));
}

function assets(venue: Venue): Json {
  const known = new Map<string, Json>();
  for (const { listing } of venue.markets()) {
    const names = namesOf(listing);
    const row = (altname: string): Json => ({
      aclass: "currency",
      altname,
      decimals: 10,
      display_decimals: 5,
      status: "enabled",
    });
    known.set(names.base, row(names.wsname.split("/")[0] ?? listing.base));
    known.set(names.quote, row(listing.quote));
  }
  return Object.fromEntries(known);
}

function pairRow(listing: Listing): Json {
  const names = namesOf(listing);
  return {
    altname: names.altname,
    wsname: names.wsname,
    aclass_base: "currency",
    base: names.base,
    aclass_quote: "currency",
    quote: names.quote,
    lot: "unit",
    cost_decimals: 5,
    pair_decimals: listing.pricePlaces,
    lot_decimals: 8,
    lot_multiplier: 1,
    leverage_buy: [],
    leverage_sell: [],
    fees: [[0, 0.4]],
    fees_maker: [[0, 0.25]],
    fee_volume_currency: "ZUSD",
    margin_call: 80,
    margin_stop: 40,
    ordermin: fixed(Math.max(1, Math.round(listing.sizeMean / 20)), listing.sizePlaces, 8),
    costmin: "0.5",
    tick_size: fixed(1, listing.pricePlaces, listing.pricePlaces),
    status: "online",
  };
}

/** Five decimals here, whatever the pair's own are. */
const placesOf = (listing: Listing): number => Math.max(5, listing.pricePlaces);

function tickerRow(market: Market, venue: Venue): Json {
  const { listing } = market;
  const view = venue.view(market);
  const today = venue.today(market);
  const price = (units: number): string => fixed(units, listing.pricePlaces, placesOf(listing));
  const size = (units: number): string => fixed(units, listing.sizePlaces, 8);
  const vwap = (bar: Bar): string => mean(bar.quote, bar.base, listing.pricePlaces, placesOf(listing));
  const side = (units: number, amount: number): Json => {
    const lots = Math.max(1, Math.round(amount / 10 ** listing.sizePlaces));
    return [price(units), String(lots), `${lots}.000`];
  };
  return {
    a: side(view.ask, view.askSize),
    b: side(view.bid, view.bidSize),
    c: [price(view.last.price), size(view.last.size)],
    v: [size(today.base), size(view.day.base)],
    p: [vwap(today), vwap(view.day)],
    t: [today.count, view.day.count],
    l: [price(today.low), price(view.day.low)],
    h: [price(today.high), price(view.day.high)],
    o: price(today.open),
  };
}

/** A flat row with the mean "0.0" where nothing was traded; the last row is still forming. */
function candles(ask: Ask, venue: Venue): Answer {
  const { query } = ask;
  const interval = wholeOf(query, "interval") ?? (query.has("interval") ? null : 1);
  const since = wholeOf(query, "since");
  if (interval === null || !barIntervals.includes(interval) || since === null) return invalid;
  const found = find(venue, query.get("pair") ?? "");
  if (found === null) return unknownPair;
  const { listing } = found.market;
  const { pricePlaces, sizePlaces } = listing;
  const cut = interval === 10_080 ? weeksFromThursday : minutes(interval);
  const fromMs = since === undefined ? undefined : since * 1_000;
  const rows = venue
    .candles(found.market, cut, { fromMs }, rowsMax + 1)
    .map(({ startMs, bar, previousClose }): Json => {
      const price = (units: number): string => fixed(bar.count === 0 ? previousClose : units, pricePlaces, pricePlaces);
      const vwap = bar.count === 0 ? "0.0" : mean(bar.quote, bar.base, pricePlaces, pricePlaces);
      const prices = [bar.open, bar.high, bar.low, bar.close].map(price);
      return [startMs / 1_000, ...prices, vwap, fixed(bar.base, sizePlaces, 8), bar.count];
    });
  const committed = rows.at(-2) ?? rows.at(-1);
  const [last] = Array.isArray(committed) ? committed : [0];
  return success({ [found.key]: rows, last: last ?? 0 });
}
