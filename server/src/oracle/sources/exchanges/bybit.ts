import type { Exchange, Market, RestAnswer, RestOutcome, RestRequest, StreamMessage } from "../exchange.ts";
import type { CandleRow, Row } from "../row.ts";
import { elementOf, listOf, memberOf, readSourceJson, type SourceValue, textOf } from "../source-json.ts";
import { candlesBesideStreamMs, limitedBy, listMarkets, minutesIn, refusalOf, waitUntilHeader } from "./shared.ts";

const bases = ["BTC", "ETH", "SOL", "ADA", "DOT", "USDC", "UNI", "LINK", "AAVE", "COMP", "BNB", "CRO", "FTT"];

/** `usdIndexPrice` is composed of other exchanges' prices and is never read. */
const dayOf = (row: SourceValue) => ({
  open: memberOf(row, "prevPrice24h"),
  high: memberOf(row, "highPrice24h"),
  low: memberOf(row, "lowPrice24h"),
  baseVolume: memberOf(row, "volume24h"),
  quoteVolume: memberOf(row, "turnover24h"),
});

/** The stream's ticker of spot has neither bid nor ask; the book's first level brings them. */
const tickerRow = (frame: SourceValue, row: SourceValue): Row => ({
  name: textOf(memberOf(row, "symbol")),
  part: "last",
  last: memberOf(row, "lastPrice"),
  ...dayOf(row),
  time: { value: memberOf(frame, "ts"), unit: "ms", means: "generated" },
  sequence: memberOf(frame, "cs"),
  witness: [memberOf(row, "lastPrice"), memberOf(frame, "cs")],
});

/** Repeated with the same `u` after three seconds without change: a sign of life of the stream, not of the market. */
const bookRow = (frame: SourceValue, row: SourceValue): Row => {
  const bid = elementOf(elementOf(memberOf(row, "b"), 0), 0);
  const ask = elementOf(elementOf(memberOf(row, "a"), 0), 0);
  const isEmpty = listOf(memberOf(row, "b"))?.length === 0 || listOf(memberOf(row, "a"))?.length === 0;
  return {
    name: textOf(memberOf(row, "s")),
    part: "book",
    bid: isEmpty ? "" : bid,
    ask: isEmpty ? "" : ask,
    time: { value: memberOf(frame, "ts"), unit: "ms", means: "generated" },
    witness: [memberOf(row, "b"), memberOf(row, "a"), memberOf(row, "u")],
  };
};

const candlePrefix = "kline.1.";

const streamCandle = (name: string, row: SourceValue): CandleRow => ({
  name,
  start: { value: memberOf(row, "start"), unit: "ms" },
  open: memberOf(row, "open"),
  high: memberOf(row, "high"),
  low: memberOf(row, "low"),
  close: memberOf(row, "close"),
  baseVolume: memberOf(row, "volume"),
  quoteVolume: memberOf(row, "turnover"),
  time: { value: memberOf(row, "timestamp"), unit: "ms" },
});

const restCandle = (name: string, row: SourceValue): CandleRow => ({
  name,
  start: { value: elementOf(row, 0), unit: "ms" },
  open: elementOf(row, 1),
  high: elementOf(row, 2),
  low: elementOf(row, 3),
  close: elementOf(row, 4),
  baseVolume: elementOf(row, 5),
  quoteVolume: elementOf(row, 6),
});

function readFrame(text: string): StreamMessage {
  const frame = readSourceJson(text);
  if (frame === undefined) return { kind: "malformed", reason: "not-json" };
  if (textOf(memberOf(frame, "op")) !== "" || memberOf(frame, "success") !== undefined) {
    if (memberOf(frame, "success") !== false) return { kind: "control" };
    return { kind: "refused", name: null, message: textOf(memberOf(frame, "ret_msg")) };
  }
  const topic = textOf(memberOf(frame, "topic"));
  const row = memberOf(frame, "data");
  if (row === undefined) return { kind: "malformed", reason: "unknown-frame" };
  // Spot sends whole rows only; a delta is a derivative's, and what it leaves out is not zero.
  if (textOf(memberOf(frame, "type")) !== "snapshot") return { kind: "malformed", reason: "wrong-kind" };
  if (topic.startsWith("tickers.")) return { kind: "rows", rows: [tickerRow(frame, row)] };
  if (topic.startsWith("orderbook.1.")) return { kind: "rows", rows: [bookRow(frame, row)] };
  if (topic.startsWith(candlePrefix)) {
    const name = topic.slice(candlePrefix.length);
    return { kind: "candles", rows: (listOf(row) ?? []).map((each) => streamCandle(name, each)) };
  }
  return { kind: "malformed", reason: "unknown-frame" };
}

/** A row reports no time; the envelope's is the server's clock and runs on whatever the row does. */
const restRow = (body: SourceValue, row: SourceValue): Row => ({
  name: textOf(memberOf(row, "symbol")),
  part: "ticker",
  last: memberOf(row, "lastPrice"),
  bid: memberOf(row, "bid1Price"),
  ask: memberOf(row, "ask1Price"),
  ...dayOf(row),
  time: { value: memberOf(body, "time"), unit: "ms", means: "generated" },
  witness: ["lastPrice", "bid1Price", "bid1Size", "ask1Price", "ask1Size", "turnover24h"].map((name) =>
    memberOf(row, name),
  ),
});

/** Errors come with HTTP 200; a 403 is a ban of the address for ten minutes, or a page for its country. */
function readAnswer({ part, markets }: RestRequest, answer: RestAnswer): RestOutcome {
  if (answer.status === 403) return limitedBy(answer, { waitMs: 10 * 60_000, banned: true });
  const body = readSourceJson(answer.text);
  const code = textOf(memberOf(body, "retCode"));
  const message = textOf(memberOf(body, "retMsg"));
  if (code === "10006" || code === "10429" || answer.status === 429)
    return limitedBy(answer, { waitMs: waitUntilHeader(answer, "x-bapi-limit-reset-timestamp", 1), banned: false });
  if (code === "10016") return { kind: "unavailable" };
  if (code === "10001" || code === "10029") return { kind: "unknown-market", message };
  if (answer.status !== 200 || code !== "0" || body === undefined) return refusalOf(answer, message);
  const result = memberOf(body, "result");
  const rows = listOf(memberOf(result, "list"));
  // Without its category the exchange answers with the perpetual of the same name.
  if (rows === null || textOf(memberOf(result, "category")) !== "spot") return { kind: "malformed" };
  if (part === "candles") return { kind: "candles", rows: rows.map((row) => restCandle(markets[0]?.name ?? "", row)) };
  if (rows.length === 0) return { kind: "unknown-market", message: "an empty list" };
  return { kind: "rows", rows: rows.map((row) => restRow(body, row)) };
}

const requestOf = (market: Market): RestRequest => ({
  method: "GET",
  path: `/v5/market/tickers?category=spot&symbol=${market.name}`,
  markets: [market],
  part: "price",
});

/** Bybit, spot of version 5. */
export const bybit: Exchange = {
  id: "bybit",
  endpoint: { rest: "https://api.bybit.com", ws: "wss://stream.bybit.com" },
  markets: listMarkets("USDT", bases, { name: (base, quote) => base + quote }),
  cadenceMs: 10_000,
  stream: {
    path: "/v5/public/spot",
    subscribeAfter: "open",
    // One frame for each market: an unknown topic refuses its whole frame, and a frame holds ten.
    subscribe: (markets) =>
      markets.map((market, index) =>
        JSON.stringify({
          req_id: String(index),
          op: "subscribe",
          args: ["tickers.", "orderbook.1.", candlePrefix].map((topic) => topic + market.streamName),
        }),
      ),
    read: readFrame,
    ping: { everyMs: 20_000, frame: (id) => JSON.stringify({ req_id: String(id), op: "ping" }) },
    silenceMs: 45_000,
    sessionMs: null,
  },
  rest: {
    requests: (markets) => markets.map(requestOf),
    read: readAnswer,
    candles: {
      path: ({ name }, span) =>
        `/v5/market/kline?category=spot&symbol=${name}&interval=1&start=${span.fromMs}&limit=${minutesIn(span)}`,
      everyMs: candlesBesideStreamMs,
    },
    gapMs: 100,
    pollMs: 5_000,
    besideStreamMs: null,
  },
};
