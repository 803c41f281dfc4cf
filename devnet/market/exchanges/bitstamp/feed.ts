import type { Trade } from "../../process/tape.ts";
import type { Market, Venue } from "../../venue.ts";
import { type Feed, isObject, objectOf, type PublishedState, page, type Topic } from "../exchange.ts";
import { isDue, newsOf, tradesPerTickMax } from "../news.ts";
import { fixed, type Json, literal, plain, write } from "../number.ts";

const channelsMax = 1_024;
const pingEveryMs = 54_000;
const ageMs = 90 * 86_400_000;
const bookLevels = 100;

const reconnect = write({ event: "bts:request_reconnect", channel: "", data: "" });

/** No ticker: the price comes with trades, the best prices with the order book. */
export const feed: Feed = {
  frameBytesMax: 512,
  refuses: (path) => (path === "/" ? null : page(404, "Not Found")),
  open() {},
  message(session, text, venue) {
    const frame = objectOf(text);
    const event = frame?.["event"];
    const fail = (message: string): void =>
      session.answer(write({ event: "bts:error", channel: "", data: { code: null, message } }));
    if (frame === null) return fail("Incorrect JSON format.");
    if (event === "bts:heartbeat") {
      return session.pulse(write({ event: "bts:heartbeat", channel: "", data: { status: "success" } }));
    }
    const data = isObject(frame["data"]) ? frame["data"] : {};
    const { channel } = data;
    if (event !== "bts:subscribe" && event !== "bts:unsubscribe") return fail("Bad subscription string.");
    if (typeof channel !== "string" || channel === "") return fail("Bad subscription string.");
    const match = /^(live_trades|order_book)_([a-z0-9-]{1,20})$/.exec(channel);
    if (match === null) return fail("Invalid channel provided.");
    const market = venue.find(match[2] ?? "");
    if (event === "bts:unsubscribe") {
      session.topics.delete(channel);
      return session.answer(write({ event: "bts:unsubscription_succeeded", channel, data: {} }));
    }
    if (session.topics.size >= channelsMax) return fail("Too many channels.");
    // A pair that does not exist is acknowledged and stays silent.
    if (market !== undefined) session.topics.set(channel, { key: channel, channel: match[1] ?? "", market });
    session.answer(write({ event: "bts:subscription_succeeded", channel, data: {} }));
  },
  notice: () => reconnect,
  beat(session, venue) {
    const now = venue.clock();
    if (now - session.openedMs >= ageMs) {
      session.answer(reconnect);
      return session.close(1000, "age limit");
    }
    if (now - (session.notes.get("ping") ?? session.openedMs) < pingEveryMs) return;
    session.notes.set("ping", now);
    session.ping("");
  },
  news: (topic, published, venue) =>
    topic.channel === "order_book" ? bookNews(topic, published, venue) : tradeNews(topic, published, venue),
};

function tradeNews(topic: Topic, published: PublishedState, venue: Venue): string[] {
  const { market } = topic;
  const { contentMs, stampMs } = venue.moment(market);
  const fresh = venue.tradesAfter(market, published.contentMs, tradesPerTickMax);
  published.contentMs = Math.max(published.contentMs, contentMs);
  // A market that a fault froze repeats its last trade, at its time or at the running clock's.
  const trades = fresh.length === 0 && venue.isFrozen(market) ? [market.tape.last(contentMs)] : fresh;
  const moved = stampMs - contentMs;
  return trades.map((trade) => write({ data: tradeRow(market, trade, moved), channel: topic.key, event: "trade" }));
}

/** Price and amount stand there twice; the texts are exact. */
function tradeRow(market: Market, trade: Trade, movedMs: number): Json {
  const { pricePlaces, sizePlaces } = market.listing;
  const timeMs = trade.timeMs + movedMs;
  const order = 1_443_875_000_000_000 + (trade.timeMs % 100_000_000_000) + trade.id;
  return {
    id: trade.id,
    timestamp: String(Math.floor(timeMs / 1_000)),
    amount: literal(plain(trade.size, sizePlaces)),
    amount_str: fixed(trade.size, sizePlaces, 8),
    price: literal(plain(trade.price, pricePlaces)),
    price_str: fixed(trade.price, pricePlaces, pricePlaces),
    type: trade.isBuy ? 0 : 1,
    microtimestamp: `${timeMs}000`,
    buy_order_id: order + (trade.isBuy ? 1 : 0),
    sell_order_id: order + (trade.isBuy ? 0 : 1),
  };
}

/** A hundred levels to either side, whole each time, a unit of price apart and below the first as deep as it. */
function bookNews(topic: Topic, published: PublishedState, venue: Venue): string[] {
  if (!isDue(published, 1_000, venue)) return [];
  const view = newsOf(topic, published, venue, "quotes");
  if (view === null) return [];
  const { pricePlaces, sizePlaces } = view.listing;
  const levels = (first: number, step: number, size: number): Json =>
    Array.from({ length: bookLevels }, (_, index) => first + index * step)
      .filter((price) => price > 0)
      .map((price, index) => [fixed(price, pricePlaces, pricePlaces), fixed(size * (1 + index), sizePlaces, 8)]);
  const data: Json = {
    timestamp: String(Math.floor(view.stampMs / 1_000)),
    microtimestamp: `${view.stampMs}000`,
    bids: levels(view.bid, -1, view.bidSize),
    asks: levels(view.ask, 1, view.askSize),
  };
  return [write({ data, channel: topic.key, event: "data" })];
}
