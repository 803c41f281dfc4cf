import type { Market, Venue } from "../../venue.ts";
import { type Feed, isObject, type PublishedState, page, type Session, type Topic } from "../exchange.ts";
import { isDue, newsOf } from "../news.ts";
import { type Json, write } from "../number.ts";
import { barIntervals } from "./rest.ts";
import { candleRow, figures } from "./rows.ts";

const streamsMax = 1_024;
const framesPerSecondMax = 5;
const pingEveryMs = 20_000;
const pongWithinMs = 60_000;
const lifeMs = 86_400_000;
const methods = ["SUBSCRIBE", "UNSUBSCRIBE", "LIST_SUBSCRIPTIONS", "SET_PROPERTY", "GET_PROPERTY"];

const isCombined = (session: Session): boolean =>
  session.path.endsWith("/stream") || session.notes.get("combined") === 1;

/** Streams named in the URL come at once; what does not exist is taken and stays silent. */
export const feed: Feed = {
  frameBytesMax: 65_536,
  refuses(path) {
    return /^\/(ws(\/.*)?|stream)?$/.test(path) ? null : page(404, "Not Found");
  },
  open(session, venue) {
    const inPath = session.path.startsWith("/ws/") ? session.path.slice(4).split("/") : [];
    const inQuery = session.query.get("streams")?.split("/") ?? [];
    for (const name of [...inPath, ...inQuery].slice(0, streamsMax)) join(session, venue, name);
  },
  message(session, text, venue) {
    if (!countFrame(session, venue)) return;
    session.answer(reply(session, text, venue));
  },
  beat(session, venue) {
    const now = venue.clock();
    if (now - session.openedMs >= lifeMs) return session.close(1001, "connection life ended");
    const pingMs = session.notes.get("ping") ?? session.openedMs;
    if (pingMs > session.openedMs && now - Math.max(session.pongMs, session.openedMs) >= pongWithinMs) {
      return session.close(1008, "pong timeout");
    }
    if (now - pingMs < pingEveryMs) return;
    session.notes.set("ping", now);
    session.ping(String(now));
  },
  news(topic, published, venue) {
    if (topic.channel === "bookTicker") return bookNews(topic, published, venue);
    if (!isDue(published, 1_000, venue)) return [];
    const { market } = topic;
    if (topic.channel === "kline") return klineNews(topic, published, venue);
    const view = newsOf(topic, published, venue, "quotes");
    if (view === null) return [];
    const of = figures(view);
    const event = {
      e: topic.channel === "ticker" ? "24hrTicker" : "24hrMiniTicker",
      E: view.stampMs,
      s: market.symbol,
    };
    const short = { o: of.open, h: of.high, l: of.low, v: of.volume, q: of.quoteVolume };
    if (topic.channel === "miniTicker") return [write({ ...event, c: of.last, ...short })];
    const row: Json = {
      ...event,
      ...{ p: of.change, P: of.percent, w: of.mean, x: of.previous, c: of.last, Q: of.lastSize },
      ...{ b: of.bid, B: of.bidSize, a: of.ask, A: of.askSize },
      ...short,
      ...{ O: of.openTime, C: of.closeTime, F: of.firstId, L: of.lastId, n: of.count },
    };
    return [write(row)];
  },
  notice(session, venue) {
    const text = write({ e: "serverShutdown", E: venue.now() });
    return isCombined(session) ? `{"stream":"!serverShutdown","data":${text}}` : text;
  },
  wrap: (session, topic, text) =>
    isCombined(session) ? `{"stream":${JSON.stringify(topic.key)},"data":${text}}` : text,
};

function bookNews(topic: Topic, published: PublishedState, venue: Venue): string[] {
  const view = newsOf(topic, published, venue, "quotes");
  if (view === null) return [];
  const of = figures(view);
  const u = Math.floor(view.contentMs / 100);
  return [write({ u, s: topic.market.symbol, b: of.bid, B: of.bidSize, a: of.ask, A: of.askSize })];
}

function klineNews(topic: Topic, published: PublishedState, venue: Venue): string[] {
  const interval = barIntervals.get(topic.detail ?? "");
  const { market } = topic;
  const view = newsOf(topic, published, venue, "trades");
  const [candle] = interval === undefined ? [] : venue.candles(market, interval, {}, 1);
  if (view === null || candle === undefined) return [];
  const row = candleRow(candle, market.listing.pricePlaces, market.listing.sizePlaces, 1);
  const [t, o, h, l, c, v, T, q, n, V, Q] = Array.isArray(row) ? row : [];
  const ids = { f: n === 0 ? -1 : view.last.id - candle.bar.count + 1, L: n === 0 ? -1 : view.last.id };
  const k = { t, T, s: market.symbol, i: topic.detail, ...ids, o, c, h, l, v, n, x: candle.isOver, q, V, Q, B: "0" };
  return [write({ e: "kline", E: view.stampMs, s: market.symbol, k })];
}

/** Five frames a second from a client, or the connection ends. */
function countFrame(session: Session, venue: Venue): boolean {
  const second = Math.floor(venue.now() / 1_000);
  const count = session.notes.get("second") === second ? (session.notes.get("frames") ?? 0) + 1 : 1;
  session.notes.set("second", second);
  session.notes.set("frames", count);
  if (count > framesPerSecondMax) session.close(1008, "Too many requests");
  return count <= framesPerSecondMax;
}

function reply(session: Session, text: string, venue: Venue): string {
  let frame: unknown;
  try {
    frame = JSON.parse(text);
  } catch {
    return write({ code: 3, msg: "Invalid JSON: expected value at line 1 column 1" });
  }
  const invalid = (msg: string): string => write({ code: 2, msg: `Invalid request: ${msg}` });
  if (!isObject(frame)) return invalid("property name must be a string");
  const { id, method, params } = frame;
  const isId =
    id === undefined || id === null || typeof id === "string" || (Number.isSafeInteger(id) && Number(id) >= 0);
  if (!isId) return invalid("request ID must be an unsigned integer");
  if (typeof method !== "string" || !methods.includes(method)) {
    const list = methods.map((name) => `\`${name}\``).join(", ");
    return invalid(`unknown variant \`${String(method).slice(0, 64)}\`, expected one of ${list} at line 1 column 28`);
  }
  const echo = typeof id === "string" || typeof id === "number" ? id : null;
  if (method === "LIST_SUBSCRIPTIONS") return write({ result: [...session.topics.keys()], id: echo });
  const names = Array.isArray(params) ? params : [];
  if (method === "GET_PROPERTY") return write({ result: isCombined(session), id: echo });
  if (method === "SET_PROPERTY") {
    session.notes.set("combined", names[1] === true ? 1 : 0);
    return write({ result: null, id: echo });
  }
  if (names.length === 0 || names.some((name) => typeof name !== "string"))
    return invalid("params must be a list of texts");
  for (const name of names) {
    if (method === "UNSUBSCRIBE") session.topics.delete(String(name));
    else if (session.topics.size < streamsMax) join(session, venue, String(name));
  }
  return write({ result: null, id: echo });
}

function join(session: Session, venue: Venue, name: string): void {
  const match = /^([a-z0-9]{1,20})@(ticker|miniTicker|bookTicker|kline)(?:_(\w{1,4}))?$/.exec(name);
  const market: Market | undefined = match === null ? undefined : venue.find((match[1] ?? "").toUpperCase());
  if (match === null || market === undefined) return;
  const [, , channel = "", detail] = match;
  if (channel === "kline" ? !barIntervals.has(detail ?? "") : detail !== undefined) return;
  session.topics.set(name, { key: name, channel, market, ...(detail !== undefined && { detail }) });
}
