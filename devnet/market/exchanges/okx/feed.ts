import { mix, seedOf } from "../../model/hash.ts";
import type { Venue } from "../../venue.ts";
import { type Feed, isObject, objectOf, page, type Session, type Topic } from "../exchange.ts";
import { newsOf } from "../news.ts";
import { type Json, write } from "../number.ts";
import { bars, candleRow, tickerRow } from "./rest.ts";

const silenceMs = 30_000;
const argsMax = 480;
const requestsPerHourMax = 480;
const hourMs = 3_600_000;

const connectionId = (session: Session, venue: Venue): string =>
  mix(seedOf(venue.seed), session.number, 11).toString(16).padStart(8, "0");

const candlePrefix = "candle";
/** Candles live on this path and nothing else does. */
const business = "/ws/v5/business";

/** The public endpoint, and the one of candles. */
export const feed: Feed = {
  frameBytesMax: 65_536,
  refuses: (path) => (["/ws/v5/public", business, "/"].includes(path) ? null : page(404, "Not Found")),
  open() {},
  message(session, text, venue) {
    if (text === "ping") return session.pulse("pong");
    const connId = connectionId(session, venue);
    const fail = (code: string, msg: string): void => session.answer(write({ event: "error", msg, code, connId }));
    const frame = objectOf(text);
    const op = frame?.["op"];
    const args = frame?.["args"];
    if (
      (op !== "subscribe" && op !== "unsubscribe") ||
      !Array.isArray(args) ||
      args.length === 0 ||
      args.length > argsMax
    ) {
      return session.answer(
        write({ event: "error", code: "60012", msg: `Invalid request: ${text.slice(0, 512)}`, connId }),
      );
    }
    const hour = Math.floor(venue.now() / hourMs);
    const asked = session.notes.get("hour") === hour ? (session.notes.get("requests") ?? 0) + 1 : 1;
    session.notes.set("hour", hour);
    session.notes.set("requests", asked);
    if (asked > requestsPerHourMax) return fail("60014", "Requests too frequent");
    const id = frame?.["id"];
    const echo = typeof id === "string" ? { id } : {};
    // A bad argument does not undo the good ones of the same frame.
    for (const arg of args) {
      const channel = isObject(arg) ? String(arg["channel"]) : "";
      const instId = isObject(arg) ? String(arg["instId"]) : "";
      const market = isServed(channel, session.path) ? venue.find(instId) : undefined;
      if (market === undefined) {
        const named = `channel:${channel.slice(0, 32)},instId:${instId.slice(0, 32)}`;
        const advice = "Please use the correct URL, channel and parameters referring to API document.";
        fail("60018", `Subscribe failed, wrong URL or ${named} doesn't exist. ${advice}`);
        continue;
      }
      const named: Json = { channel, instId };
      const key = `${channel}:${instId}`;
      session.answer(write({ ...echo, event: op, arg: named, connId }));
      if (op === "unsubscribe") session.topics.delete(key);
      else {
        const topic = { key, channel, market };
        session.topics.set(key, topic);
        session.push(frameOf(topic, venue));
      }
    }
  },
  notice(session, venue) {
    const msg = "The connection will soon be closed for a service upgrade. Please reconnect.";
    return write({ event: "notice", code: "64008", msg, connId: connectionId(session, venue) });
  },
  beat(session, venue) {
    const isQuiet = venue.clock() - Math.max(session.receivedMs, session.sentMs) >= silenceMs;
    if (isQuiet) session.close(4004, "No data received in 30s.");
  },
  news(topic, published, venue) {
    const what = topic.channel === "tickers" ? "quotes" : "trades";
    return newsOf(topic, published, venue, what) === null ? [] : [frameOf(topic, venue)];
  },
};

const barOf = (channel: string) =>
  channel.startsWith(candlePrefix) ? bars.get(channel.slice(candlePrefix.length)) : undefined;

const isServed = (channel: string, path: string): boolean =>
  path === business ? barOf(channel) !== undefined : channel === "tickers";

function frameOf({ channel, market }: Topic, venue: Venue): string {
  const interval = barOf(channel);
  const data: Json =
    interval === undefined
      ? [tickerRow(market, venue, true)]
      : venue.candles(market, interval, {}, 1).map((candle) => candleRow(market, candle));
  return write({ arg: { channel, instId: market.symbol }, data });
}
