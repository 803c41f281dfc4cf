import { mix, seedOf } from "../../model/hash.ts";
import type { Venue } from "../../venue.ts";
import { type Feed, objectOf, page, type Session, type Topic, textsOf } from "../exchange.ts";
import { isDue, newsOf } from "../news.ts";
import { type Json, plain, write } from "../number.ts";
import { barIntervals, candleRow, tickerRow } from "./rest.ts";

const pairsMax = 1_024;
const channels = ["spot.tickers", "spot.book_ticker", "spot.candlesticks"];

export const feed: Feed = {
  frameBytesMax: 65_536,
  refuses: (path) => (/^\/(ws\/v4\/?)?$/.test(path) ? null : page(404, "Not Found")),
  open() {},
  message(session, text, venue) {
    const now = venue.now();
    const times = { time: Math.floor(now / 1_000), time_ms: now };
    const frame = objectOf(text);
    const fail = (code: number, message: string): void =>
      session.answer(write({ ...times, channel: "", event: "", error: { code, message }, result: null }));
    if (frame === null) return fail(1, "invalid request body");
    const { channel, event, payload } = frame;
    if (channel === "spot.ping") {
      return session.pulse(write({ ...times, channel: "spot.pong", event: "", error: null, result: null }));
    }
    if (typeof channel !== "string" || !channels.includes(channel)) return fail(2, "unknown channel");
    if (event !== "subscribe" && event !== "unsubscribe") return fail(2, "unknown event");
    subscribe(session, venue, { channel, event, id: frame["id"], pairs: textsOf(payload), times });
  },
  notice: () =>
    write({ type: "upgrade", msg: "The connection will soon be closed for a service upgrade. Please reconnect." }),
  beat() {},
  news(topic, published, venue) {
    const everyMs = { "spot.tickers": 1_000, "spot.candlesticks": 2_000 }[topic.channel] ?? 0;
    if (!isDue(published, everyMs, venue)) return [];
    const view = newsOf(topic, published, venue, topic.channel === "spot.candlesticks" ? "trades" : "quotes");
    if (view === null) return [];
    const { market, channel } = topic;
    // The time is that of sending, and so moves on with unchanged content.
    const now = venue.isFrozen(market) ? view.stampMs : venue.now();
    const frame = { time: Math.floor(now / 1_000), time_ms: now, channel, event: "update" };
    if (channel === "spot.tickers") return [write({ ...frame, result: tickerRow(market, venue, "stream") })];
    if (channel === "spot.candlesticks") return candleFrames(topic, venue, frame);
    const { pricePlaces, sizePlaces } = market.listing;
    const [bid, ask] = [view.bid, view.ask].map((units) => plain(units, pricePlaces));
    const [bidSize, askSize] = [view.bidSize, view.askSize].map((units) => plain(units, sizePlaces));
    const best = { t: view.stampMs, u: Math.floor(view.contentMs / 10), s: market.symbol };
    return [write({ ...frame, result: { ...best, b: bid, B: bidSize, a: ask, A: askSize } })];
  },
};

interface Wish {
  readonly channel: string;
  readonly event: "subscribe" | "unsubscribe";
  readonly id: unknown;
  readonly pairs: readonly string[] | null;
  readonly times: { readonly time: number; readonly time_ms: number };
}

/** One unknown pair refuses the whole payload. */
function subscribe(session: Session, venue: Venue, { channel, event, id, pairs, times }: Wish) {
  const echo = typeof id === "number" && Number.isSafeInteger(id) ? { id } : {};
  const topics: Topic[] = [];
  const refuse = (message: string): void => {
    const trace = mix(seedOf(venue.seed), session.number, times.time).toString(16).padStart(8, "0");
    const connection = { conn_id: `${trace}${trace}`, trace_id: trace };
    const outcome = { error: { code: 2, message }, result: { status: "fail" }, requestId: trace };
    session.answer(write({ ...times, ...echo, ...connection, channel, event, payload: pairs, ...outcome }));
  };
  if (pairs === null || pairs.length === 0 || pairs.length > pairsMax) return refuse("invalid argument");
  const isCandles = channel === "spot.candlesticks";
  const [detail = ""] = pairs;
  if (isCandles && !barIntervals.has(detail)) return refuse("invalid interval");
  for (const pair of isCandles ? pairs.slice(1) : pairs) {
    const market = venue.find(pair);
    if (market === undefined) return refuse(`unknown currency pair: ${pair.slice(0, 64)}`);
    const key = isCandles ? `${channel}:${detail}:${pair}` : `${channel}:${pair}`;
    topics.push({ key, channel, market, ...(isCandles && { detail }) });
  }
  for (const topic of topics) {
    if (event === "subscribe") session.topics.set(topic.key, topic);
    else session.topics.delete(topic.key);
  }
  session.answer(write({ ...times, ...echo, channel, event, error: null, result: { status: "success" } }));
}

function candleFrames(topic: Topic, venue: Venue, frame: { readonly [member: string]: Json }): string[] {
  const { market, detail = "" } = topic;
  const interval = barIntervals.get(detail);
  const [candle] = interval === undefined ? [] : venue.candles(market, interval, {}, 1);
  const row = candle === undefined ? null : candleRow(market, candle);
  if (!Array.isArray(row) || candle === undefined) return [];
  const [t, v, c, h, l, o, a] = row;
  return [write({ ...frame, result: { t, v, c, h, l, o, n: `${detail}_${market.symbol}`, a, w: candle.isOver } })];
}
