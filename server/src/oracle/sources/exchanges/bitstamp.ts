import type { Exchange, Market, RestAnswer, RestOutcome, RestRequest, StreamMessage } from "../exchange.ts";
import type { CandleRow, Row } from "../row.ts";
import { listOf, memberOf, readSourceJson, type SourceValue, textOf } from "../source-json.ts";
import { candlesWithoutStreamMs, limitedBy, listMarkets, minutesIn, refusalOf } from "./shared.ts";

const bases = ["BTC", "ETH", "SOL", "ADA", "DOT", "USDC", "USDT", "UNI", "LINK", "AAVE", "COMP", "FTT"];

const channelPrefix = "live_trades_";

/** There is no ticker on the stream, only trades; the best orders and the day's figures come from answers. */
const tradeRow = (name: string, row: SourceValue): Row => ({
  name,
  part: "last",
  // The number beside it may have lost its zeros.
  last: memberOf(row, "price_str") ?? memberOf(row, "price"),
  time: { value: memberOf(row, "microtimestamp"), unit: "us", means: "generated" },
  sequence: memberOf(row, "id"),
  tradeId: memberOf(row, "id"),
  witness: [memberOf(row, "id")],
});

function readFrame(text: string): StreamMessage {
  const frame = readSourceJson(text);
  if (frame === undefined) return { kind: "malformed", reason: "not-json" };
  const data = memberOf(frame, "data");
  switch (textOf(memberOf(frame, "event"))) {
    case "trade": {
      const channel = textOf(memberOf(frame, "channel"));
      if (data === undefined || !channel.startsWith(channelPrefix))
        return { kind: "malformed", reason: "unknown-frame" };
      return { kind: "rows", rows: [tradeRow(channel.slice(channelPrefix.length), data)] };
    }
    case "bts:request_reconnect":
      return { kind: "reconnect" };
    case "bts:error":
      return { kind: "refused", name: null, message: textOf(memberOf(data, "message")) };
    case "":
      return { kind: "malformed", reason: "unknown-frame" };
    default:
      return { kind: "control" };
  }
}

/** `open` is the day's and `open_24` the one of 24 hours ago; the edge keeps an answer for about two seconds. */
const restRow = (name: string, row: SourceValue): Row => ({
  name,
  part: "ticker",
  last: memberOf(row, "last"),
  bid: memberOf(row, "bid"),
  ask: memberOf(row, "ask"),
  open: memberOf(row, "open_24"),
  high: memberOf(row, "high"),
  low: memberOf(row, "low"),
  baseVolume: memberOf(row, "volume"),
  vwap: memberOf(row, "vwap"),
  time: { value: memberOf(row, "timestamp"), unit: "s", means: "generated" },
  witness: ["last", "bid", "ask", "volume"].map((column) => memberOf(row, column)),
});

/** Without a quote volume and a mean price. */
const restCandle = (name: string, row: SourceValue): CandleRow => ({
  name,
  start: { value: memberOf(row, "timestamp"), unit: "s" },
  open: memberOf(row, "open"),
  high: memberOf(row, "high"),
  low: memberOf(row, "low"),
  close: memberOf(row, "close"),
  baseVolume: memberOf(row, "volume"),
});

const limitCodes = /"?response_code"?\s*:\s*"?400\.0(02|67|68)\b/;

/**
 * An unknown market answers 200 with the array of all markets, of which perpetuals are a part: only an object is a row.
 */
function readAnswer(request: RestRequest, answer: RestAnswer): RestOutcome {
  if (answer.status === 429 || limitCodes.test(answer.text)) return limitedBy(answer, { waitMs: null, banned: false });
  const body = readSourceJson(answer.text);
  if (answer.status === 404 || listOf(body) !== null)
    return { kind: "unknown-market", message: "the list of all markets" };
  if (answer.status !== 200) return refusalOf(answer, textOf(memberOf(body, "reason")));
  const market = request.markets[0];
  if (body === undefined || market === undefined || textOf(memberOf(body, "status")) === "error")
    return { kind: "malformed" };
  if (request.part === "candles") {
    const rows = listOf(memberOf(memberOf(body, "data"), "ohlc"));
    if (rows === null) return { kind: "malformed" };
    return { kind: "candles", rows: rows.map((row) => restCandle(market.name, row)) };
  }
  // Older servers do not say what kind of market it is.
  const kind = memberOf(body, "market_type");
  if (kind !== undefined && kind !== "SPOT") return { kind: "unknown-market", message: "not a spot market" };
  return { kind: "rows", rows: [restRow(market.name, body)] };
}

const requestOf = (market: Market): RestRequest => ({
  method: "GET",
  path: `/api/v2/ticker/${market.name}/`,
  markets: [market],
  part: "price",
});

/** Bitstamp, spot. */
export const bitstamp: Exchange = {
  id: "bitstamp",
  endpoint: { rest: "https://www.bitstamp.net", ws: "wss://ws.bitstamp.net" },
  markets: listMarkets("USD", bases, { name: (base, quote) => `${base}${quote}`.toLowerCase() }),
  cadenceMs: 20_000,
  stream: {
    path: "",
    subscribeAfter: "open",
    // A frame holds one channel.
    subscribe: (markets) =>
      markets.map((market) =>
        JSON.stringify({ event: "bts:subscribe", data: { channel: channelPrefix + market.streamName } }),
      ),
    read: readFrame,
    ping: { everyMs: 20_000, frame: () => JSON.stringify({ event: "bts:heartbeat" }) },
    silenceMs: 50_000,
    sessionMs: 89 * 24 * 3_600_000,
  },
  rest: {
    requests: (markets) => markets.map(requestOf),
    read: readAnswer,
    candles: {
      // With a limit and without an end the newest come.
      path: ({ name }, span) => `/api/v2/ohlc/${name}/?step=60&limit=${minutesIn(span)}`,
      everyMs: candlesWithoutStreamMs,
    },
    gapMs: 100,
    pollMs: 5_000,
    besideStreamMs: 5_000,
  },
};
