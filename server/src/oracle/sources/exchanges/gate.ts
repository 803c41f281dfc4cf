import type { Exchange, Market, RestAnswer, RestOutcome, RestRequest, StreamMessage } from "../exchange.ts";
import type { CandleRow, Row } from "../row.ts";
import { elementOf, listOf, memberOf, readSourceJson, type SourceValue, textOf } from "../source-json.ts";
import { candlesBesideStreamMs, limitedBy, listMarkets, minutesIn, refusalOf, waitUntilHeader } from "./shared.ts";

const bases = ["BTC", "ETH", "SOL", "ADA", "DOT", "USDC", "UNI", "LINK", "AAVE", "COMP", "BNB", "CRO", "FTT"];

/** The same in answers, which report no time, and on the stream, whose time is that of sending. */
const tickerRow = (row: SourceValue, time: Row["time"]): Row => ({
  name: textOf(memberOf(row, "currency_pair")),
  part: "ticker",
  last: memberOf(row, "last"),
  bid: memberOf(row, "highest_bid"),
  ask: memberOf(row, "lowest_ask"),
  high: memberOf(row, "high_24h"),
  low: memberOf(row, "low_24h"),
  baseVolume: memberOf(row, "base_volume"),
  quoteVolume: memberOf(row, "quote_volume"),
  changePercent: memberOf(row, "change_percentage"),
  ...(time === undefined ? {} : { time }),
  witness: ["last", "highest_bid", "lowest_ask", "quote_volume"].map((column) => memberOf(row, column)),
});

const candleInterval = "1m_";

/** `v` is the volume in the quote, `a` in the base. */
const streamCandle = (frame: SourceValue, row: SourceValue): CandleRow => {
  const { value, unit } = timeOf(frame);
  return {
    name: textOf(memberOf(row, "n")).slice(candleInterval.length),
    start: { value: memberOf(row, "t"), unit: "s" },
    open: memberOf(row, "o"),
    high: memberOf(row, "h"),
    low: memberOf(row, "l"),
    close: memberOf(row, "c"),
    baseVolume: memberOf(row, "a"),
    quoteVolume: memberOf(row, "v"),
    time: { value, unit },
  };
};

/** The volume in the quote comes first, and prices in an order of their own. */
const restCandle = (name: string, row: SourceValue): CandleRow => ({
  name,
  start: { value: elementOf(row, 0), unit: "s" },
  quoteVolume: elementOf(row, 1),
  close: elementOf(row, 2),
  high: elementOf(row, 3),
  low: elementOf(row, 4),
  open: elementOf(row, 5),
  baseVolume: elementOf(row, 6),
});

function timeOf(frame: SourceValue): NonNullable<Row["time"]> {
  const ms = memberOf(frame, "time_ms");
  return ms === undefined
    ? { value: memberOf(frame, "time"), unit: "s", means: "generated" }
    : { value: ms, unit: "ms", means: "generated" };
}

function readFrame(text: string): StreamMessage {
  const frame = readSourceJson(text);
  if (frame === undefined) return { kind: "malformed", reason: "not-json" };
  if (textOf(memberOf(frame, "type")) === "upgrade") return { kind: "reconnect" };
  const error = memberOf(frame, "error");
  if (error !== undefined && error !== null) {
    // Pairs are subscribed one by one, so the payload that comes back is the one refused; an interval may precede it.
    const name = textOf(listOf(memberOf(frame, "payload"))?.at(-1));
    return { kind: "refused", name: name === "" ? null : name, message: textOf(memberOf(error, "message")) };
  }
  if (textOf(memberOf(frame, "event")) !== "update")
    return memberOf(frame, "channel") === undefined
      ? { kind: "malformed", reason: "unknown-frame" }
      : { kind: "control" };
  const row = memberOf(frame, "result");
  const isCandle = textOf(memberOf(frame, "channel")) === "spot.candlesticks";
  if (isCandle && textOf(memberOf(row, "n")).startsWith(candleInterval))
    return { kind: "candles", rows: row === undefined ? [] : [streamCandle(frame, row)] };
  if (row === undefined || textOf(memberOf(frame, "channel")) !== "spot.tickers")
    return { kind: "malformed", reason: "unknown-frame" };
  return { kind: "rows", rows: [tickerRow(row, timeOf(frame))] };
}

function readAnswer({ part, markets }: RestRequest, answer: RestAnswer): RestOutcome {
  const body = readSourceJson(answer.text);
  const label = textOf(memberOf(body, "label"));
  if (answer.status === 429 || label === "TOO_MANY_REQUESTS")
    return limitedBy(answer, {
      waitMs: waitUntilHeader(answer, "x-gate-ratelimit-reset-timestamp", 1_000),
      banned: false,
    });
  const message = textOf(memberOf(body, "message"));
  if (label === "INVALID_CURRENCY" || label === "INVALID_CURRENCY_PAIR") return { kind: "unknown-market", message };
  if (answer.status !== 200 || label !== "") return refusalOf(answer, message);
  // An array also for one pair.
  const rows = listOf(body);
  if (part === "candles" && rows !== null)
    return { kind: "candles", rows: rows.map((row) => restCandle(markets[0]?.name ?? "", row)) };
  return rows === null || rows.length === 0
    ? { kind: "malformed" }
    : { kind: "rows", rows: rows.map((row) => tickerRow(row, undefined)) };
}

const requestOf = (market: Market): RestRequest => ({
  method: "GET",
  path: `/api/v4/spot/tickers?currency_pair=${market.name}`,
  markets: [market],
  part: "price",
});

const subscription = (
  id: number,
  nowMs: number,
  wish: { readonly channel: string; readonly payload: readonly string[] },
): string =>
  JSON.stringify({
    time: Math.floor(nowMs / 1_000),
    id,
    channel: wish.channel,
    event: "subscribe",
    payload: wish.payload,
  });

/** Gate, spot of version 4. */
export const gate: Exchange = {
  id: "gate",
  endpoint: { rest: "https://api.gateio.ws", ws: "wss://api.gateio.ws" },
  markets: listMarkets("USDT", bases, { name: (base, quote) => `${base}_${quote}` }),
  cadenceMs: 15_000,
  stream: {
    path: "/ws/v4/",
    subscribeAfter: "open",
    // One frame for each pair and channel: an unknown one refuses its whole frame.
    subscribe: (markets, nowMs) =>
      markets.flatMap(({ streamName }, index) => [
        subscription(2 * index + 1, nowMs, { channel: "spot.tickers", payload: [streamName] }),
        subscription(2 * index + 2, nowMs, { channel: "spot.candlesticks", payload: ["1m", streamName] }),
      ]),
    read: readFrame,
    ping: {
      everyMs: 15_000,
      frame: (_id, nowMs) => JSON.stringify({ time: Math.floor(nowMs / 1_000), channel: "spot.ping" }),
    },
    silenceMs: 40_000,
    sessionMs: null,
  },
  rest: {
    requests: (markets) => markets.map(requestOf),
    read: readAnswer,
    candles: {
      path: ({ name }, span) => `/api/v4/spot/candlesticks?currency_pair=${name}&interval=1m&limit=${minutesIn(span)}`,
      everyMs: candlesBesideStreamMs,
    },
    gapMs: 100,
    pollMs: 5_000,
    besideStreamMs: null,
  },
};
