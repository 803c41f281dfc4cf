import type { Exchange, Market, RestAnswer, RestFault, RestOutcome, RestRequest, StreamMessage } from "../exchange.ts";
import type { CandleRow, Row } from "../row.ts";
import { elementOf, listOf, memberOf, readSourceJson, type SourceValue, textOf } from "../source-json.ts";
import { candlesBesideStreamMs, limitedBy, listMarkets, minutesIn, refusalOf } from "./shared.ts";

const bases = ["BTC", "ETH", "SOL", "ADA", "DOT", "USDC", "UNI", "LINK", "AAVE", "COMP", "BNB", "FTT"];

/** Streams are named in lower case, rows in upper case. */
const streamsOf = (market: Market): readonly string[] => {
  const name = market.streamName.toLowerCase();
  return [`${name}@ticker`, `${name}@kline_1m`];
};

/**
 * Both times of a row run with the clock on a dead market; the last trade's id and the best orders do not. Figures of
 * the rolling day move by themselves as old trades leave it.
 */
const restRow = (row: SourceValue): Row => ({
  name: textOf(memberOf(row, "symbol")),
  part: "ticker",
  last: memberOf(row, "lastPrice"),
  bid: memberOf(row, "bidPrice"),
  ask: memberOf(row, "askPrice"),
  open: memberOf(row, "openPrice"),
  high: memberOf(row, "highPrice"),
  low: memberOf(row, "lowPrice"),
  baseVolume: memberOf(row, "volume"),
  quoteVolume: memberOf(row, "quoteVolume"),
  time: { value: memberOf(row, "closeTime"), unit: "ms", means: "generated" },
  tradeId: memberOf(row, "lastId"),
  witness: ["lastId", "bidPrice", "bidQty", "askPrice", "askQty"].map((name) => memberOf(row, name)),
});

const streamRow = (row: SourceValue): Row => ({
  name: textOf(memberOf(row, "s")),
  part: "ticker",
  last: memberOf(row, "c"),
  bid: memberOf(row, "b"),
  ask: memberOf(row, "a"),
  open: memberOf(row, "o"),
  high: memberOf(row, "h"),
  low: memberOf(row, "l"),
  baseVolume: memberOf(row, "v"),
  quoteVolume: memberOf(row, "q"),
  time: { value: memberOf(row, "E"), unit: "ms", means: "generated" },
  tradeId: memberOf(row, "L"),
  witness: ["L", "b", "B", "a", "A"].map((name) => memberOf(row, name)),
});

const streamCandle = (event: SourceValue, kline: SourceValue | undefined): CandleRow => ({
  name: textOf(memberOf(kline, "s")),
  start: { value: memberOf(kline, "t"), unit: "ms" },
  open: memberOf(kline, "o"),
  high: memberOf(kline, "h"),
  low: memberOf(kline, "l"),
  close: memberOf(kline, "c"),
  baseVolume: memberOf(kline, "v"),
  quoteVolume: memberOf(kline, "q"),
  time: { value: memberOf(event, "E"), unit: "ms" },
});

const restCandle = (name: string, row: SourceValue): CandleRow => ({
  name,
  start: { value: elementOf(row, 0), unit: "ms" },
  open: elementOf(row, 1),
  high: elementOf(row, 2),
  low: elementOf(row, 3),
  close: elementOf(row, 4),
  baseVolume: elementOf(row, 5),
  quoteVolume: elementOf(row, 7),
});

function readFrame(text: string): StreamMessage {
  const frame = readSourceJson(text);
  if (frame === undefined) return { kind: "malformed", reason: "not-json" };
  // A combined stream wraps each event.
  const event = memberOf(frame, "data") ?? frame;
  switch (textOf(memberOf(event, "e"))) {
    case "24hrTicker":
      return { kind: "rows", rows: [streamRow(event)] };
    case "kline": {
      const kline = memberOf(event, "k");
      if (textOf(memberOf(kline, "i")) !== "1m") return { kind: "malformed", reason: "unknown-frame" };
      return { kind: "candles", rows: [streamCandle(event, kline)] };
    }
    case "serverShutdown":
      return { kind: "reconnect" };
    case "":
      break;
    default:
      return { kind: "control" };
  }
  const error = memberOf(frame, "error") ?? frame;
  if (memberOf(error, "code") !== undefined)
    return { kind: "refused", name: null, message: textOf(memberOf(error, "msg")) };
  if (memberOf(frame, "id") !== undefined) return { kind: "control" };
  return { kind: "malformed", reason: "unknown-frame" };
}

function readFault(answer: RestAnswer, body: SourceValue | undefined): RestFault | null {
  if (answer.status === 429 || answer.status === 418) {
    const until = /banned until (\d{13})/.exec(textOf(memberOf(body, "msg")))?.[1];
    const waitMs = until === undefined ? null : Math.max(0, Number(until) - answer.receivedAtMs);
    return limitedBy(answer, { waitMs, banned: answer.status === 418 });
  }
  const code = textOf(memberOf(body, "code"));
  if (code === "-1121") return { kind: "unknown-market", message: textOf(memberOf(body, "msg")) };
  if (code === "-1003") return limitedBy(answer, { waitMs: null, banned: false });
  if (answer.status !== 200 || code !== "") return refusalOf(answer, textOf(memberOf(body, "msg")));
  return body === undefined ? { kind: "malformed" } : null;
}

function readAnswer({ part, markets }: RestRequest, answer: RestAnswer): RestOutcome {
  const body = readSourceJson(answer.text);
  const fault = readFault(answer, body);
  if (fault !== null || body === undefined) return fault ?? { kind: "malformed" };
  if (part === "candles") return { kind: "candles", rows: readCandles(markets[0]?.name ?? "", body) };
  // One symbol asked by `symbol` is an object, a list of one an array.
  const rows = listOf(body) ?? [body];
  return { kind: "rows", rows: rows.map(restRow) };
}

const readCandles = (name: string, body: SourceValue): readonly CandleRow[] =>
  (listOf(body) ?? []).map((row) => restCandle(name, row));

/** Binance, spot. Every host of its name is the same engine. */
export const binance: Exchange = {
  id: "binance",
  endpoint: { rest: "https://api.binance.com", ws: "wss://stream.binance.com:9443" },
  markets: listMarkets("USDT", bases, { name: (base, quote) => base + quote }),
  cadenceMs: 10_000,
  stream: {
    path: "/ws",
    subscribeAfter: "open",
    subscribe: (markets) => [JSON.stringify({ method: "SUBSCRIBE", params: markets.flatMap(streamsOf), id: 1 })],
    read: readFrame,
    // Its own pings are the protocol's and unseen here; any answer to a frame that Sluice sent is a sign of life.
    ping: { everyMs: 20_000, frame: (id) => JSON.stringify({ method: "LIST_SUBSCRIPTIONS", id }) },
    silenceMs: 50_000,
    sessionMs: 24 * 3_600_000,
  },
  rest: {
    requests: (markets) => [
      {
        method: "GET",
        path: `/api/v3/ticker/24hr?symbols=${encodeURIComponent(JSON.stringify(markets.map((each) => each.name)))}`,
        markets,
        part: "price",
      },
    ],
    read: readAnswer,
    candles: {
      path: ({ name }, span) =>
        `/api/v3/klines?symbol=${name}&interval=1m&startTime=${span.fromMs}&limit=${minutesIn(span)}`,
      everyMs: candlesBesideStreamMs,
    },
    gapMs: 500,
    pollMs: 5_000,
    besideStreamMs: null,
  },
};
