import { mix } from "../../model/hash.ts";
import type { View } from "../../process/view.ts";
import type { Market, Venue } from "../../venue.ts";
import { type Feed, isObject, objectOf, page, type Session, type Topic, textsOf } from "../exchange.ts";
import { isDue, newsOf } from "../news.ts";
import { type Json, write } from "../number.ts";
import { figures, tradeTime } from "./rest.ts";

const subscribeWithinMs = 5_000;
const framesPerSecondMax = 100;
const knownChannels = ["ticker", "ticker_batch", "heartbeat", "status"];

type Wish = { readonly channel: string; readonly markets: readonly Market[] };

export const feed: Feed = {
  frameBytesMax: 65_536,
  refuses: (path) => (path === "/" || path === "" ? null : page(404, "Not Found")),
  open() {},
  message(session, text, venue) {
    if (!countFrame(session, venue)) return session.close(1008, "rate limit exceeded");
    const frame = objectOf(text);
    if (frame === null) return session.answer(failed("Malformed JSON"));
    const { type } = frame;
    if (type !== "subscribe" && type !== "unsubscribe") return session.answer(failed("Type is not supported"));
    const wishes = wishesOf(frame, venue);
    if (typeof wishes === "string") return session.answer(failed(wishes));
    const added: Topic[] = [];
    for (const { channel, markets } of wishes) {
      for (const market of markets) {
        const key = `${channel}:${market.symbol}`;
        if (type === "unsubscribe") session.topics.delete(key);
        else if (!session.topics.has(key)) {
          const topic = { key, channel, market };
          session.topics.set(key, topic);
          added.push(topic);
        }
      }
    }
    session.notes.set("subscribed", 1);
    session.answer(write({ type: "subscriptions", channels: channelsOf(session) }));
    // The last trade is sent at once, however old it is.
    for (const { channel, market } of added) {
      if (channel.startsWith("ticker")) session.push(write(tickerRow(market, venue.view(market), channel)));
    }
  },
  beat(session, venue) {
    const isIdle = !session.notes.has("subscribed") && venue.clock() - session.openedMs >= subscribeWithinMs;
    if (isIdle) session.close(1000, "subscribe within 5 seconds");
  },
  news(topic, published, venue) {
    const { market, channel } = topic;
    if (channel === "heartbeat") return isDue(published, 1_000, venue) ? [write(heartbeatRow(market, venue))] : [];
    if (channel === "ticker_batch" && !isDue(published, 5_000, venue)) return [];
    const view = newsOf(topic, published, venue, "trades");
    return view === null ? [] : [write(tickerRow(market, view, channel))];
  },
};

const failed = (reason: string): string => write({ type: "error", message: "Failed to subscribe", reason });

/** Rises with the changes of the best prices, ten a second, which the ticker channel reports only sometimes. */
const sequenceOf = (market: Market, atMs: number): number =>
  (mix(market.listing.index, 1, 7) % 1_000_000_000) + Math.floor(atMs / 100);

function tickerRow(market: Market, view: View, channel: string): Json {
  const of = figures(view);
  return {
    type: channel,
    sequence: sequenceOf(market, view.contentMs),
    product_id: market.symbol,
    price: of.price,
    open_24h: of.open,
    volume_24h: of.volume,
    low_24h: of.low,
    high_24h: of.high,
    volume_30d: of.month,
    best_bid: of.bid,
    best_bid_size: of.bidSize,
    best_ask: of.ask,
    best_ask_size: of.askSize,
    side: view.last.isBuy ? "buy" : "sell",
    time: tradeTime(view, 6),
    trade_id: view.last.id,
    last_size: of.size,
  };
}

function heartbeatRow(market: Market, venue: Venue): Json {
  const now = venue.now();
  const trade = market.tape.last(venue.moment(market).contentMs);
  return {
    type: "heartbeat",
    last_trade_id: trade.id,
    product_id: market.symbol,
    sequence: sequenceOf(market, now),
    time: new Date(now).toISOString().replace("Z", "000Z"),
  };
}

/** Product ids stand beside the channels, or inside a channel's object. One bad product fails the whole frame. */
function wishesOf(frame: Record<string, unknown>, venue: Venue): Wish[] | string {
  const shared = textsOf(frame["product_ids"] ?? []);
  const channels = frame["channels"];
  if (shared === null) return "product_ids must be a list of texts";
  if (!Array.isArray(channels) || channels.length === 0 || channels.length > 16) return "No channels provided";
  const wishes: Wish[] = [];
  for (const channel of channels) {
    const name: unknown = isObject(channel) ? channel["name"] : channel;
    const own = isObject(channel) ? textsOf(channel["product_ids"] ?? []) : [];
    if (typeof name !== "string" || own === null || !knownChannels.includes(name))
      return `${String(name)} is not a valid channel`;
    const ids = [...new Set([...shared, ...own])];
    const markets: Market[] = [];
    for (const id of ids) {
      const market = venue.find(id);
      if (market === undefined) return `${id.slice(0, 64)} is not a valid product`;
      markets.push(market);
    }
    if (name !== "status" && markets.length === 0 && frame["type"] === "subscribe") return "No product ids provided";
    wishes.push({ channel: name, markets: name === "status" ? [] : markets });
  }
  return wishes;
}

/** The whole set that is on, not only what was asked for. */
function channelsOf(session: Session): Json {
  const byName = new Map<string, string[]>();
  for (const { channel, market } of session.topics.values()) {
    byName.set(channel, [...(byName.get(channel) ?? []), market.symbol]);
  }
  return [...byName].map(([name, ids]) => ({ name, product_ids: ids }));
}

function countFrame(session: Session, venue: Venue): boolean {
  const second = Math.floor(venue.now() / 1_000);
  const count = session.notes.get("second") === second ? (session.notes.get("frames") ?? 0) + 1 : 1;
  session.notes.set("second", second);
  session.notes.set("frames", count);
  return count <= framesPerSecondMax;
}
