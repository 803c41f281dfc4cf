import type {
  Exchange,
  Market,
  RestAnswer,
  RestOutcome,
  RestRequest,
  StreamMessage,
  StreamRules,
} from "../exchange.ts";
import type { CandleRow, Row } from "../row.ts";
import { elementOf, listOf, memberOf, readSourceJson, type SourceValue, textOf } from "../source-json.ts";
import { candlesBesideStreamMs, limitedBy, listMarkets, minutesIn, refusalOf } from "./shared.ts";

const bases = ["BTC", "ETH", "SOL", "ADA", "DOT", "USDC", "UNI", "LINK", "AAVE", "COMP", "BNB", "CRO"];

/** A derivative's `volCcy24h` is in the base, and its price another: only spot is a row. */
const isSpot = (row: SourceValue): boolean => textOf(memberOf(row, "instType")) === "SPOT";

/** The same in answers and on the stream. Answers come from several caches, so `ts` may go back. */
const tickerRow = (row: SourceValue): Row => ({
  name: textOf(memberOf(row, "instId")),
  part: "ticker",
  last: memberOf(row, "last"),
  bid: memberOf(row, "bidPx"),
  ask: memberOf(row, "askPx"),
  open: memberOf(row, "open24h"),
  high: memberOf(row, "high24h"),
  low: memberOf(row, "low24h"),
  baseVolume: memberOf(row, "vol24h"),
  quoteVolume: memberOf(row, "volCcy24h"),
  time: { value: memberOf(row, "ts"), unit: "ms", means: "generated" },
  witness: ["last", "lastSz", "bidPx", "bidSz", "askPx", "askSz"].map((name) => memberOf(row, name)),
});

/** Of spot the volumes are base, quote and quote again; the same in answers and on the stream. */
const candleOf = (name: string, row: SourceValue): CandleRow => ({
  name,
  start: { value: elementOf(row, 0), unit: "ms" },
  open: elementOf(row, 1),
  high: elementOf(row, 2),
  low: elementOf(row, 3),
  close: elementOf(row, 4),
  baseVolume: elementOf(row, 5),
  quoteVolume: elementOf(row, 7),
});

const candleChannel = "candle1m";

/** What a frame is besides data, or the frame itself. */
function readEvent(text: string): StreamMessage | { readonly kind: "data"; readonly frame: SourceValue } {
  // The pong is bare text.
  if (text === "pong") return { kind: "control" };
  const frame = readSourceJson(text);
  if (frame === undefined) return { kind: "malformed", reason: "not-json" };
  switch (textOf(memberOf(frame, "event"))) {
    case "":
      return { kind: "data", frame };
    case "error":
      return { kind: "refused", name: null, message: textOf(memberOf(frame, "msg")) };
    case "notice":
      return textOf(memberOf(frame, "code")) === "64008" ? { kind: "reconnect" } : { kind: "control" };
    default:
      return { kind: "control" };
  }
}

const channelOf = (frame: SourceValue): string => textOf(memberOf(memberOf(frame, "arg"), "channel"));

function readCandleFrame(text: string): StreamMessage {
  const event = readEvent(text);
  if (event.kind !== "data") return event;
  const rows = listOf(memberOf(event.frame, "data"));
  if (rows === null || channelOf(event.frame) !== candleChannel) return { kind: "malformed", reason: "unknown-frame" };
  const name = textOf(memberOf(memberOf(event.frame, "arg"), "instId"));
  return { kind: "candles", rows: rows.map((row) => candleOf(name, row)) };
}

function readFrame(text: string): StreamMessage {
  const event = readEvent(text);
  if (event.kind !== "data") return event;
  const rows = listOf(memberOf(event.frame, "data"));
  if (rows === null || channelOf(event.frame) !== "tickers") return { kind: "malformed", reason: "unknown-frame" };
  const spot = rows.filter(isSpot);
  return { kind: "rows", rows: spot.map(tickerRow), drops: Array(rows.length - spot.length).fill("wrong-kind") };
}

/** Errors mostly come with HTTP 200 and a code; a limit with either 200 or 429. */
function readAnswer({ part, markets }: RestRequest, answer: RestAnswer): RestOutcome {
  const body = readSourceJson(answer.text);
  const code = textOf(memberOf(body, "code"));
  const message = textOf(memberOf(body, "msg"));
  if (code === "50011" || answer.status === 429) return limitedBy(answer, { waitMs: null, banned: false });
  if (code === "51001") return { kind: "unknown-market", message };
  if (/^500(01|13|26)$/.test(code)) return { kind: "unavailable" };
  if (answer.status !== 200 || code !== "0") return refusalOf(answer, message);
  const data = listOf(memberOf(body, "data"));
  if (part === "candles" && data !== null)
    return { kind: "candles", rows: data.map((row) => candleOf(markets[0]?.name ?? "", row)) };
  const rows = data?.filter(isSpot);
  return rows === undefined || rows.length === 0 ? { kind: "malformed" } : { kind: "rows", rows: rows.map(tickerRow) };
}

const requestOf = (market: Market): RestRequest => ({
  method: "GET",
  path: `/api/v5/market/ticker?instId=${market.name}`,
  markets: [market],
  part: "price",
});

const subscription = (markets: readonly Market[], channel: string): readonly string[] => [
  JSON.stringify({ op: "subscribe", args: markets.map((each) => ({ channel, instId: each.streamName })) }),
];

const stream: StreamRules = {
  path: "/ws/v5/public",
  subscribeAfter: "open",
  subscribe: (markets) => subscription(markets, "tickers"),
  read: readFrame,
  ping: { everyMs: 15_000, frame: () => "ping" },
  silenceMs: 35_000,
  sessionMs: null,
};

/** OKX, spot. */
export const okx: Exchange = {
  id: "okx",
  endpoint: { rest: "https://www.okx.com", ws: "wss://ws.okx.com:8443" },
  markets: listMarkets("USDT", bases, { name: (base, quote) => `${base}-${quote}` }),
  cadenceMs: 10_000,
  stream,
  candleStream: {
    ...stream,
    path: "/ws/v5/business",
    subscribe: (markets) => subscription(markets, candleChannel),
    read: readCandleFrame,
  },
  rest: {
    requests: (markets) => markets.map(requestOf),
    read: readAnswer,
    candles: {
      path: ({ name }, span) => `/api/v5/market/candles?instId=${name}&bar=1m&limit=${minutesIn(span)}`,
      everyMs: candlesBesideStreamMs,
    },
    gapMs: 150,
    pollMs: 5_000,
    besideStreamMs: null,
  },
};
