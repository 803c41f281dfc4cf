import type { Market, Venue } from "../../venue.ts";
import { answer, type Feed, objectOf, page, type Session, type Topic } from "../exchange.ts";
import { isDue, newsOf } from "../news.ts";
import { type Json, literal, plain, write } from "../number.ts";
import { pingIntervalMs, pingTimeoutMs, sequenceOf, types } from "./rest.ts";
import type { Tokens } from "./tokens.ts";

const symbolsPerTopicMax = 100;
const topicsMax = 400;
const framesPerTenSecondsMax = 100;

export function feedOf(tokens: Tokens): Feed {
  return {
    frameBytesMax: 65_536,
    refuses(path, query, venue) {
      if (!/^\/(endpoint)?$/.test(path)) return page(404, "Not Found");
      const isGood = tokens.isGood(query.get("token") ?? "", venue.clock()) && !venue.refusesTokens();
      return isGood
        ? null
        : answer({ id: query.get("connectId") ?? "", type: "error", code: 401, data: "token is invalid" }, 401);
    },
    open(session) {
      session.answer(write({ id: (session.query.get("connectId") ?? "").slice(0, 128), type: "welcome" }));
    },
    message,
    beat(session, venue) {
      const pingMs = session.notes.get("ping") ?? session.openedMs;
      if (venue.clock() - pingMs >= pingIntervalMs + pingTimeoutMs) session.close(1000, "ping timeout");
    },
    news(topic, published, venue) {
      if (topic.channel === "snapshot" && !isDue(published, 2_000, venue)) return [];
      const view = newsOf(topic, published, venue, topic.channel === "candles" ? "trades" : "quotes");
      if (view === null) return [];
      const { market } = topic;
      if (topic.channel === "candles") return candleFrames(topic, venue);
      if (topic.channel === "snapshot") return [snapshotFrame(market, venue)];
      const { pricePlaces, sizePlaces } = market.listing;
      const price = (units: number): string => plain(units, pricePlaces);
      const size = (units: number): string => plain(units, sizePlaces);
      const data: Json = {
        bestAsk: price(view.ask),
        bestAskSize: size(view.askSize),
        bestBid: price(view.bid),
        bestBidSize: size(view.bidSize),
        price: price(view.last.price),
        sequence: sequenceOf(view),
        size: size(view.last.size),
        time: venue.isFrozen(market) ? view.stampMs : view.last.timeMs,
      };
      if (topic.channel === "all")
        return [write({ topic: "/market/ticker:all", type: "message", subject: market.symbol, data })];
      return [write({ type: "message", topic: `/market/ticker:${market.symbol}`, subject: "trade.ticker", data })];
    },
  };
}

function message(session: Session, text: string, venue: Venue) {
  const now = venue.now();
  const window = Math.floor(now / 10_000);
  const count = session.notes.get("window") === window ? (session.notes.get("frames") ?? 0) + 1 : 1;
  session.notes.set("window", window);
  session.notes.set("frames", count);
  const frame = objectOf(text);
  const value = frame?.["id"];
  // Whatever the id was, it comes back as a text.
  const id = typeof value === "string" ? value.slice(0, 128) : typeof value === "number" ? String(value) : "";
  const fail = (code: number, data: string): void => session.answer(write({ id, type: "error", code, data }));
  if (count > framesPerTenSecondsMax) return fail(509, "exceed max permits per second");
  if (frame === null) return fail(400, "Bad Request");
  if (frame["type"] === "ping") {
    session.notes.set("ping", venue.clock());
    return session.pulse(write({ id, type: "pong" }));
  }
  const { type, topic } = frame;
  if (type !== "subscribe" && type !== "unsubscribe") return fail(415, "type is not supported");
  if (typeof topic !== "string") return fail(400, "topic is invalid");
  const [, kind, list = ""] = /^\/market\/(ticker|snapshot|candles):([\w,-]{1,4096})$/.exec(topic) ?? [];
  if (kind === undefined) return fail(404, `topic ${topic.slice(0, 128)} is not found`);
  const names = list.split(",");
  if (names.length > symbolsPerTopicMax) return fail(400, "exceed max symbols per topic");
  const topics = names.flatMap((name) => topicsOf(kind, name, venue));
  if (type === "subscribe" && session.topics.size + topics.length > topicsMax)
    return fail(509, "exceed max subscription count limitation of 400 per session");
  for (const each of topics) {
    if (type === "subscribe") session.topics.set(each.key, each);
    else session.topics.delete(each.key);
  }
  if (frame["response"] === true) session.answer(write({ id, type: "ack" }));
}

/** A topic that does not exist is acknowledged and stays silent. */
function topicsOf(kind: string, name: string, venue: Venue): Topic[] {
  if (kind === "ticker" && name === "all") {
    return venue.markets().map((market) => ({ key: `all:${market.symbol}`, channel: "all", market }));
  }
  const [symbol = "", type] = kind === "candles" ? name.split("_") : [name];
  const market = venue.find(symbol);
  if (market === undefined || (kind === "candles" && !types.has(type ?? ""))) return [];
  return [{ key: `${kind}:${name}`, channel: kind, market, ...(type !== undefined && { detail: type }) }];
}

/** Figures of the day as JSON numbers, under data.data. */
function snapshotFrame(market: Market, venue: Venue): string {
  const view = venue.view(market);
  const { pricePlaces, sizePlaces } = market.listing;
  const price = (units: number) => literal(plain(units, pricePlaces));
  const { day, last } = view;
  const data: Json = {
    buy: price(view.bid),
    changePrice: price(last.price - day.open),
    high: price(day.high),
    lastTradedPrice: price(last.price),
    low: price(day.low),
    open: price(day.open),
    sell: price(view.ask),
    symbol: market.symbol,
    datetime: view.stampMs,
    vol: literal(plain(day.base, sizePlaces)),
    volValue: literal(plain(day.quote, pricePlaces + sizePlaces)),
  };
  const topic = `/market/snapshot:${market.symbol}`;
  return write({ type: "message", topic, subject: "trade.snapshot", data: { sequence: sequenceOf(view), data } });
}

/** The time is in nanoseconds, which no double holds. */
function candleFrames(topic: Topic, venue: Venue): string[] {
  const { market, detail = "" } = topic;
  const interval = types.get(detail);
  const [candle] = interval === undefined ? [] : venue.candles(market, interval, {}, 1);
  if (candle === undefined) return [];
  const { pricePlaces, sizePlaces } = market.listing;
  const { bar } = candle;
  const prices = [bar.open, bar.close, bar.high, bar.low].map((units) =>
    plain(bar.count === 0 ? candle.previousClose : units, pricePlaces),
  );
  const candles = [
    String(candle.startMs / 1_000),
    ...prices,
    plain(bar.base, sizePlaces),
    plain(bar.quote, pricePlaces + sizePlaces),
  ];
  const time = literal(`${venue.moment(market).stampMs}000034`);
  const subject = bar.count <= 1 ? "trade.candles.add" : "trade.candles.update";
  const name = `/market/candles:${market.symbol}_${detail}`;
  return [write({ data: { symbol: market.symbol, candles, time }, subject, topic: name, type: "message" })];
}
