import type { Exchange, Market, RestAnswer, RestOutcome, RestRequest, StreamMessage } from "../exchange.ts";
import type { CandleRow, Row } from "../row.ts";
import { elementOf, listOf, memberOf, readSourceJson, type SourceValue, textOf } from "../source-json.ts";
import { candlesWithoutStreamMs, limitedBy, listMarkets, refusalOf } from "./shared.ts";

/** USDC trades in the dollar books here, so it has no market of its own. */
const bases = ["BTC", "ETH", "SOL", "ADA", "DOT", "USDT", "UNI", "LINK", "AAVE", "COMP", "BNB", "CRO"];

/** `time` is the last trade's; a quiet market is vouched for by the heartbeat's `last_trade_id`. */
const streamRow = (row: SourceValue): Row => ({
  name: textOf(memberOf(row, "product_id")),
  part: "ticker",
  last: memberOf(row, "price"),
  bid: memberOf(row, "best_bid"),
  ask: memberOf(row, "best_ask"),
  open: memberOf(row, "open_24h"),
  high: memberOf(row, "high_24h"),
  low: memberOf(row, "low_24h"),
  baseVolume: memberOf(row, "volume_24h"),
  time: { value: memberOf(row, "time"), unit: "iso", means: "trade" },
  sequence: memberOf(row, "sequence"),
  tradeId: memberOf(row, "trade_id"),
  witness: ["trade_id", "best_bid", "best_ask"].map((name) => memberOf(row, name)),
});

function readFrame(text: string): StreamMessage {
  const frame = readSourceJson(text);
  if (frame === undefined) return { kind: "malformed", reason: "not-json" };
  switch (textOf(memberOf(frame, "type"))) {
    case "ticker":
      return { kind: "rows", rows: [streamRow(frame)] };
    case "heartbeat":
      return {
        kind: "heartbeat",
        heartbeat: {
          name: textOf(memberOf(frame, "product_id")),
          tradeId: memberOf(frame, "last_trade_id"),
          sequence: memberOf(frame, "sequence"),
          time: { value: memberOf(frame, "time"), unit: "iso" },
        },
      };
    case "subscriptions":
    case "status":
      return { kind: "control" };
    case "error":
      return { kind: "refused", name: null, message: textOf(memberOf(frame, "reason")) };
    default:
      return { kind: "malformed", reason: "unknown-frame" };
  }
}

/** Neither answer names its market: the path does, and an unknown one is a 404. */
function restRow(request: RestRequest, name: string, body: SourceValue): Row {
  if (request.part === "day") {
    const [open, high, low, volume] = ["open", "high", "low", "volume"].map((column) => memberOf(body, column));
    return { name, part: "day", open, high, low, baseVolume: volume, witness: [open, high, low, volume] };
  }
  return {
    name,
    part: "ticker",
    last: memberOf(body, "price"),
    bid: memberOf(body, "bid"),
    ask: memberOf(body, "ask"),
    time: { value: memberOf(body, "time"), unit: "iso", means: "trade" },
    tradeId: memberOf(body, "trade_id"),
    witness: ["trade_id", "bid", "ask"].map((column) => memberOf(body, column)),
  };
}

/** Low and high stand before open and close; minutes without a trade are left out. */
const restCandle = (name: string, row: SourceValue): CandleRow => ({
  name,
  start: { value: elementOf(row, 0), unit: "s" },
  low: elementOf(row, 1),
  high: elementOf(row, 2),
  open: elementOf(row, 3),
  close: elementOf(row, 4),
  baseVolume: elementOf(row, 5),
});

function readAnswer(request: RestRequest, answer: RestAnswer): RestOutcome {
  const body = readSourceJson(answer.text);
  const message = textOf(memberOf(body, "message"));
  if (answer.status === 429) return limitedBy(answer, { waitMs: null, banned: false });
  if (answer.status === 404) return { kind: "unknown-market", message };
  if (answer.status !== 200) return refusalOf(answer, message);
  const market = request.markets[0];
  if (body === undefined || market === undefined) return { kind: "malformed" };
  if (request.part === "candles") {
    const rows = listOf(body);
    if (rows === null) return { kind: "malformed" };
    return { kind: "candles", rows: rows.map((row) => restCandle(market.name, row)) };
  }
  return { kind: "rows", rows: [restRow(request, market.name, body)] };
}

const requestsOf = (market: Market): readonly RestRequest[] => [
  { method: "GET", path: `/products/${market.name}/ticker`, markets: [market], part: "price" },
  { method: "GET", path: `/products/${market.name}/stats`, markets: [market], part: "day" },
];

const channels = ["ticker", "heartbeat"];

/** Coinbase Exchange (not Advanced Trade). */
export const coinbase: Exchange = {
  id: "coinbase",
  endpoint: { rest: "https://api.exchange.coinbase.com", ws: "wss://ws-feed.exchange.coinbase.com" },
  markets: listMarkets("USD", bases, { name: (base, quote) => `${base}-${quote}` }),
  cadenceMs: 10_000,
  stream: {
    path: "",
    subscribeAfter: "open",
    // One frame for each product: an unknown one refuses its whole frame.
    subscribe: (markets) =>
      markets.map((market) => JSON.stringify({ type: "subscribe", product_ids: [market.streamName], channels })),
    read: readFrame,
    ping: null,
    silenceMs: 15_000,
    sessionMs: null,
  },
  rest: {
    requests: (markets) => markets.flatMap(requestsOf),
    read: readAnswer,
    candles: {
      path: ({ name }, { fromMs, nowMs }) =>
        `/products/${name}/candles?granularity=60&start=${Math.floor(fromMs / 1_000)}&end=${Math.floor(nowMs / 1_000)}`,
      everyMs: candlesWithoutStreamMs,
    },
    gapMs: 200,
    pollMs: 5_000,
    besideStreamMs: null,
  },
};
