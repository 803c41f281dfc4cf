import { mix, seedOf } from "../../model/hash.ts";
import type { Venue } from "../../venue.ts";
import { type Feed, objectOf, page, type Session, type Topic, textsOf } from "../exchange.ts";
import { newsOf } from "../news.ts";
import { type Json, plain, write } from "../number.ts";
import { barIntervals, figures, indexOf } from "./rest.ts";

const silenceMs = 600_000;
const argsMax = 10;
const argCharactersMax = 21_000;

/** The public spot endpoint, where every message of a ticker is a snapshot without bid and ask. */
export const feed: Feed = {
  frameBytesMax: 65_536,
  refuses: (path) => (path === "/v5/public/spot" || path === "/" ? null : page(404, "Not Found")),
  open() {},
  message(session, text, venue) {
    const frame = objectOf(text);
    const reqId = typeof frame?.["req_id"] === "string" ? { req_id: frame["req_id"] } : {};
    const connection = { conn_id: connectionId(session, venue), ...reqId };
    const op = frame?.["op"];
    const refuse = (ret_msg: string): void =>
      session.answer(write({ success: false, ret_msg, ...connection, op: String(op).slice(0, 32) }));
    if (op === "ping") return session.pulse(write({ success: true, ret_msg: "pong", ...connection, op }));
    if (op !== "subscribe" && op !== "unsubscribe") return refuse("Invalid op");
    const args = textsOf(frame?.["args"]);
    if (args === null || args.length === 0) return refuse("Invalid args");
    if (args.length > argsMax) return refuse("args size >10");
    const topics: Topic[] = [];
    for (const arg of args) {
      const topic = topicOf(arg, venue);
      // One topic that does not exist refuses the frame.
      if (topic === null) return refuse(`Invalid topic: ${arg.slice(0, 128)}`);
      topics.push(topic);
    }
    const length = [...session.topics.keys(), ...args].join("").length;
    if (op === "subscribe" && length > argCharactersMax) return refuse("args exceed 21000 characters");
    session.answer(write({ success: true, ret_msg: op, ...connection, op }));
    for (const topic of topics) {
      if (op === "unsubscribe") session.topics.delete(topic.key);
      else {
        session.topics.set(topic.key, topic);
        session.push(frameOf(topic, venue));
      }
    }
  },
  beat(session, venue) {
    if (venue.clock() - session.receivedMs >= silenceMs) session.close(1000, "no traffic");
  },
  news: (topic, published, venue) => {
    const what = topic.channel === "orderbook" ? "quotes" : "trades";
    return newsOf(topic, published, venue, what) === null ? [] : [frameOf(topic, venue)];
  },
};

function connectionId(session: Session, venue: Venue): string {
  const seed = seedOf(venue.seed);
  const [a, b, c, d] = [1, 2, 3, 4].map((part) => mix(seed, session.number, part).toString(16).padStart(8, "0"));
  return `${a}-${b?.slice(0, 4)}-4${b?.slice(5)}-a${c?.slice(1, 4)}-${c?.slice(4)}${d}`;
}

function topicOf(name: string, venue: Venue): Topic | null {
  const [, channel = "", detail, symbol = ""] =
    /^(tickers|orderbook|kline)(?:\.(\w{1,4}))?\.(\w{1,20})$/.exec(name) ?? [];
  const market = venue.find(symbol);
  if (market === undefined) return null;
  if (channel === "tickers" && detail === undefined) return { key: name, channel, market };
  if (channel === "orderbook" && detail === "1") return { key: name, channel, market };
  if (channel === "kline" && barIntervals.has(detail ?? ""))
    return { key: name, channel, market, detail: detail ?? "" };
  return null;
}

function frameOf(topic: Topic, venue: Venue): string {
  const { market, key } = topic;
  const view = venue.view(market);
  const ts = view.stampMs;
  // Greater is newer; it follows the best prices, so it stands still when they do.
  const cs = Math.floor(view.contentMs / 10) - 100_000_000_000;
  const of = figures(view);
  if (topic.channel === "orderbook") {
    const data = { s: market.symbol, b: [[of.bid, of.bidSize]], a: [[of.ask, of.askSize]], u: cs, seq: cs };
    return write({ topic: key, ts, type: "snapshot", data, cts: ts });
  }
  if (topic.channel === "kline") return klineFrame(topic, venue, ts);
  const data: Json = {
    symbol: market.symbol,
    lastPrice: of.last,
    highPrice24h: of.high,
    lowPrice24h: of.low,
    prevPrice24h: of.open,
    volume24h: of.volume,
    turnover24h: of.turnover,
    price24hPcnt: of.change,
    usdIndexPrice: indexOf(market, view),
  };
  return write({ topic: key, ts, type: "snapshot", cs, data });
}

function klineFrame(topic: Topic, venue: Venue, ts: number): string {
  const { market, detail = "" } = topic;
  const interval = barIntervals.get(detail);
  const { pricePlaces, sizePlaces } = market.listing;
  const candles = interval === undefined ? [] : venue.candles(market, interval, {}, 1);
  const data = candles.map(({ startMs, endMs, bar, previousClose, isOver }): Json => {
    const price = (units: number): string => plain(bar.count === 0 ? previousClose : units, pricePlaces);
    return {
      ...{ start: startMs, end: endMs - 1, interval: detail, open: price(bar.open), close: price(bar.close) },
      ...{ high: price(bar.high), low: price(bar.low), volume: plain(bar.base, sizePlaces) },
      ...{ turnover: plain(bar.quote, pricePlaces + sizePlaces, 8), confirm: isOver, timestamp: ts },
    };
  });
  return write({ topic: topic.key, data, ts, type: "snapshot" });
}
