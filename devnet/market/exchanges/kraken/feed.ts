import { mix, seedOf } from "../../model/hash.ts";
import type { View } from "../../process/view.ts";
import type { Market, Venue } from "../../venue.ts";
import { type Feed, isObject, objectOf, page, type Session, textsOf } from "../exchange.ts";
import { minutes } from "../intervals.ts";
import { newsOf } from "../news.ts";
import { changeRatio, fixed, type Json, literal, mean, write } from "../number.ts";
import { namesOf } from "./names.ts";

const heartbeatMs = 1_000;
const silenceMs = 60_000;
const symbolsMax = 1_000;

/** WebSocket v2. */
export const feed: Feed = {
  frameBytesMax: 65_536,
  refuses: (path) => (path === "/v2" || path === "/" ? null : page(404, "Not Found")),
  open(session, venue) {
    // Larger than 2^53, as real ones are: a reader that takes it for a number loses its last digits.
    const id =
      (BigInt(mix(seedOf(venue.seed), session.number, 9)) << 32n) | BigInt(mix(session.number, 1, 9)) | (1n << 63n);
    const system = { version: "2.0.10", system: "online", api_version: "v2", connection_id: id };
    const data = [{ ...system, upcoming_maintenance: [], emergency: [] }];
    session.answer(write({ channel: "status", type: "update", data }));
  },
  message(session, text, venue) {
    const frame = objectOf(text);
    const reqId = typeof frame?.["req_id"] === "number" ? { req_id: frame["req_id"] } : {};
    const times = timesOf(venue.now());
    if (frame?.["method"] === "ping") return session.pulse(write({ method: "pong", ...reqId, ...times }));
    const method = frame?.["method"];
    const refuse = (error: string, symbol?: string): void =>
      session.answer(write({ error, method: String(method).slice(0, 32), success: false, symbol, ...times, ...reqId }));
    if (method !== "subscribe" && method !== "unsubscribe") return refuse("Unknown method");
    const params = isObject(frame?.["params"]) ? frame["params"] : {};
    const symbols = textsOf(params["symbol"]);
    const channel = params["channel"];
    if (channel !== "ticker" && channel !== "ohlc") return refuse("Channel not supported");
    if (symbols === null || symbols.length === 0 || symbols.length > symbolsMax) return refuse("Symbol(s) not found");
    const wish: Wish = { method, channel, params, reqId };
    for (const symbol of symbols) subscribe(session, venue, symbol, wish, refuse);
  },
  beat(session, venue) {
    const now = venue.clock();
    if (now - Math.max(session.receivedMs, session.sentMs) >= silenceMs) return session.close(1000, "inactivity");
    if (session.topics.size > 0 && now - session.sentMs >= heartbeatMs) session.pulse(write({ channel: "heartbeat" }));
  },
  news(topic, published, venue) {
    const onQuotes = topic.channel === "ticker" && topic.detail === "bbo";
    const view = newsOf(topic, published, venue, onQuotes ? "quotes" : "trades");
    if (view === null) return [];
    return [
      topic.channel === "ticker"
        ? tickerFrame(view, "update")
        : candleFrame(topic.market, venue, topic.detail, "update"),
    ];
  },
};

interface Wish {
  readonly method: "subscribe" | "unsubscribe";
  readonly channel: "ticker" | "ohlc";
  readonly params: Record<string, unknown>;
  readonly reqId: { readonly req_id?: number };
}

/** One acknowledgement for each symbol; a refusal leaves the others as they are. */
function subscribe(
  session: Session,
  venue: Venue,
  symbol: string,
  { method, channel, params, reqId }: Wish,
  refuse: (error: string, symbol: string) => void,
) {
  const market = venue.markets().find(({ listing }) => namesOf(listing).display === symbol);
  if (market === undefined) return refuse(`Currency pair not supported ${symbol.slice(0, 64)}`, symbol.slice(0, 64));
  const trigger = params["event_trigger"] === "bbo" ? "bbo" : "trades";
  const detail = channel === "ticker" ? trigger : String(params["interval"] ?? 1);
  if (channel === "ohlc" && !/^(1|5|15|30|60|240|1440)$/.test(detail)) return refuse("Interval not supported", symbol);
  const key = `${channel}:${symbol}:${detail}`;
  const times = timesOf(venue.now());
  const wantsSnapshot = params["snapshot"] !== false;
  if (method === "unsubscribe") {
    if (!session.topics.delete(key)) return refuse("Subscription Not Found", symbol);
    const result = { channel, ...(channel === "ticker" && { event_trigger: trigger }), symbol };
    return session.answer(write({ method, result, success: true, ...times, ...reqId }));
  }
  if (session.topics.has(key)) return refuse("Already subscribed", symbol);
  session.topics.set(key, { key, channel, market, detail });
  const asked = params["event_trigger"] === undefined ? {} : { event_trigger: trigger };
  const interval = channel === "ohlc" ? { interval: Number(detail) } : {};
  const result = { channel, ...asked, ...interval, snapshot: wantsSnapshot, symbol };
  session.answer(write({ method, result, success: true, ...times, ...reqId }));
  if (!wantsSnapshot) return;
  const isTicker = channel === "ticker";
  session.push(isTicker ? tickerFrame(venue.view(market), "snapshot") : candleFrame(market, venue, detail, "snapshot"));
}

const micros = (ms: number): string => new Date(ms).toISOString().replace("Z", "000Z");

const timesOf = (now: number): { readonly time_in: string; readonly time_out: string } => ({
  time_in: micros(now),
  time_out: micros(now).replace("000Z", "041Z"),
});

/** Every number is a JSON number that keeps its zeros. */
function tickerFrame(view: View, type: "snapshot" | "update"): string {
  const { pricePlaces, sizePlaces } = view.listing;
  const price = (units: number) => literal(fixed(units, pricePlaces, pricePlaces));
  const size = (units: number) => literal(fixed(units, sizePlaces, 8));
  const { day, last } = view;
  const row: Json = {
    symbol: namesOf(view.listing).display,
    bid: price(view.bid),
    bid_qty: size(view.bidSize),
    ask: price(view.ask),
    ask_qty: size(view.askSize),
    last: price(last.price),
    volume: size(day.base),
    vwap: literal(mean(day.quote, day.base, pricePlaces, pricePlaces)),
    low: price(day.low),
    high: price(day.high),
    change: price(last.price - day.open),
    change_pct: literal(fixed(changeRatio(view, 4, "round"), 2, 2)),
    trades: day.count,
    timestamp: micros(view.stampMs),
  };
  return write({ channel: "ticker", type, data: [row] });
}

function candleFrame(market: Market, venue: Venue, detail: string | undefined, type: "snapshot" | "update"): string {
  const interval = Number(detail ?? 1);
  const { pricePlaces, sizePlaces } = market.listing;
  const now = venue.moment(market).stampMs;
  const rows = venue.candles(market, minutes(interval), {}, 1).map(({ startMs, endMs, bar, previousClose }): Json => {
    const price = (units: number) => literal(fixed(bar.count === 0 ? previousClose : units, pricePlaces, pricePlaces));
    return {
      symbol: namesOf(market.listing).display,
      open: price(bar.open),
      high: price(bar.high),
      low: price(bar.low),
      close: price(bar.close),
      trades: bar.count,
      volume: literal(fixed(bar.base, sizePlaces, 8)),
      vwap: literal(mean(bar.quote, bar.base, pricePlaces, pricePlaces)),
      interval_begin: micros(startMs).replace("Z", "000Z"),
      interval,
      timestamp: micros(endMs),
    };
  });
  return write({ channel: "ohlc", type, timestamp: micros(now).replace("Z", "000Z"), data: rows });
}
