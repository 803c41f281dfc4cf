import type {
  Exchange,
  Market,
  RestAnswer,
  RestFault,
  RestOutcome,
  RestRequest,
  SourceEndpoint,
  StreamMessage,
  TicketOutcome,
} from "../exchange.ts";
import type { CandleRow, Row } from "../row.ts";
import { elementOf, listOf, memberOf, readSourceJson, type SourceValue, textOf } from "../source-json.ts";
import { candlesBesideStreamMs, limitedBy, listMarkets, refusalOf } from "./shared.ts";

const bases = ["BTC", "ETH", "SOL", "ADA", "DOT", "USDC", "UNI", "LINK", "AAVE", "COMP", "BNB", "CRO"];

const topicPrefix = "/market/ticker:";

/** The stream says nothing of the day; answers do. */
const streamRow = (name: string, row: SourceValue): Row => ({
  name,
  part: "ticker",
  last: memberOf(row, "price"),
  bid: memberOf(row, "bestBid"),
  ask: memberOf(row, "bestAsk"),
  time: { value: memberOf(row, "time"), unit: "ms", means: "generated" },
  sequence: memberOf(row, "sequence"),
  witness: ["sequence", "price", "bestBid", "bestAsk"].map((column) => memberOf(row, column)),
});

const candlePrefix = "/market/candles:";
const candleSuffix = "_1min";

/** The close stands before high and low; the stream has the same columns in one member. */
const candleOf = (name: string, row: SourceValue | undefined, time?: CandleRow["time"]): CandleRow => ({
  name,
  start: { value: elementOf(row, 0), unit: "s" },
  open: elementOf(row, 1),
  close: elementOf(row, 2),
  high: elementOf(row, 3),
  low: elementOf(row, 4),
  baseVolume: elementOf(row, 5),
  quoteVolume: elementOf(row, 6),
  ...(time === undefined ? {} : { time }),
});

/** Their time is in nanoseconds. */
function readCandle(topic: string, data: SourceValue): StreamMessage {
  if (!topic.endsWith(candleSuffix)) return { kind: "malformed", reason: "unknown-frame" };
  const name = topic.slice(candlePrefix.length, -candleSuffix.length);
  const time = { value: memberOf(data, "time"), unit: "ns" } as const;
  return { kind: "candles", rows: [candleOf(name, memberOf(data, "candles"), time)] };
}

function readFrame(text: string): StreamMessage {
  const frame = readSourceJson(text);
  if (frame === undefined) return { kind: "malformed", reason: "not-json" };
  switch (textOf(memberOf(frame, "type"))) {
    case "welcome":
      return { kind: "welcome" };
    case "ack":
    case "pong":
      return { kind: "control" };
    case "error":
      return { kind: "refused", name: null, message: textOf(memberOf(frame, "data")) };
    case "message":
      break;
    default:
      return { kind: "malformed", reason: "unknown-frame" };
  }
  const topic = textOf(memberOf(frame, "topic"));
  const row = memberOf(frame, "data");
  if (row !== undefined && topic.startsWith(candlePrefix)) return readCandle(topic, row);
  if (row === undefined || !topic.startsWith(topicPrefix)) return { kind: "malformed", reason: "unknown-frame" };
  const named = topic.slice(topicPrefix.length);
  // The topic of all markets names each in its subject.
  const name = named === "all" ? textOf(memberOf(frame, "subject")) : named;
  return { kind: "rows", rows: [streamRow(name, row)] };
}

/** `buy` is the best bid and `sell` the best ask; the change is cut, not rounded, so the open comes from its amount. */
const restRow = (row: SourceValue, time: SourceValue | undefined): Row => ({
  name: textOf(memberOf(row, "symbol")),
  part: "ticker",
  last: memberOf(row, "last"),
  bid: memberOf(row, "buy"),
  ask: memberOf(row, "sell"),
  high: memberOf(row, "high"),
  low: memberOf(row, "low"),
  baseVolume: memberOf(row, "vol"),
  quoteVolume: memberOf(row, "volValue"),
  change: memberOf(row, "changePrice"),
  time: { value: time, unit: "ms", means: "generated" },
  witness: ["last", "buy", "sell", "vol"].map((column) => memberOf(row, column)),
});

/** What an answer says other than data; null for success. The code is text, and most errors come with HTTP 200. */
function readError(answer: RestAnswer, body: SourceValue | undefined): RestFault | null {
  const code = textOf(memberOf(body, "code"));
  const message = textOf(memberOf(body, "msg"));
  if (code === "429000" || answer.status === 429) {
    const reset = answer.header("gw-ratelimit-reset") ?? "";
    return limitedBy(answer, { waitMs: /^\d{1,9}$/.test(reset) ? Number(reset) : null, banned: false });
  }
  if (code === "200003" || code === "1015") return limitedBy(answer, { waitMs: null, banned: false });
  if (code === "900001") return { kind: "unknown-market", message };
  if (answer.status !== 200 || code !== "200000") return refusalOf(answer, message);
  // An unknown market may be a success without data.
  return memberOf(body, "data") === null ? { kind: "unknown-market", message: "no data" } : null;
}

function readAnswer({ part, markets }: RestRequest, answer: RestAnswer): RestOutcome {
  const body = readSourceJson(answer.text);
  const error = readError(answer, body);
  if (error !== null) return error;
  const data = memberOf(body, "data");
  const candles = part === "candles" ? listOf(data) : null;
  if (candles !== null) return { kind: "candles", rows: candles.map((row) => candleOf(markets[0]?.name ?? "", row)) };
  const time = memberOf(data, "time");
  // The answer for all markets has one time for its rows.
  const rows = listOf(memberOf(data, "ticker")) ?? (data === undefined ? [] : [data]);
  return rows.length === 0
    ? { kind: "malformed" }
    : { kind: "rows", rows: rows.map((row) => restRow(row, memberOf(row, "time") ?? time)) };
}

/** A duty that an answer names in milliseconds, believed within bounds; else the usual one. */
function dutyMs(value: SourceValue | undefined, usualMs: number): number {
  const ms = /^\d{1,6}$/.test(textOf(value)) ? Number(textOf(value)) : usualMs;
  return Math.min(60_000, Math.max(1_000, ms));
}

/**
 * A token comes with the address to use it at. It is followed only to the exchange's own hosts, or to the configured
 * one, so that an answer cannot send this server anywhere else.
 */
function readTicket(answer: RestAnswer, endpoint: SourceEndpoint, connectionId: string): TicketOutcome {
  const body = readSourceJson(answer.text);
  const error = readError(answer, body);
  if (error !== null) return error;
  const data = memberOf(body, "data");
  const server = elementOf(memberOf(data, "instanceServers"), 0);
  const token = textOf(memberOf(data, "token"));
  const address = textOf(memberOf(server, "endpoint"));
  if (token === "" || !URL.canParse(address)) return { kind: "malformed" };
  const url = new URL(address);
  const configured = new URL(endpoint.ws);
  const isTheirs = url.protocol === "wss:" && url.hostname.endsWith(".kucoin.com");
  const isConfigured = url.protocol === configured.protocol && url.host === configured.host;
  if (!isConfigured && !(isTheirs && configured.hostname.endsWith(".kucoin.com"))) return { kind: "malformed" };
  url.searchParams.set("token", token);
  url.searchParams.set("connectId", connectionId);
  const pingEveryMs = dutyMs(memberOf(server, "pingInterval"), 18_000);
  const silenceMs = pingEveryMs + dutyMs(memberOf(server, "pingTimeout"), 10_000);
  return { kind: "ticket", url: url.href, pingEveryMs, silenceMs };
}

const requestOf = (market: Market): RestRequest => ({
  method: "GET",
  path: `/api/v1/market/stats?symbol=${market.name}`,
  markets: [market],
  part: "price",
});

/** KuCoin, classic spot. */
export const kucoin: Exchange = {
  id: "kucoin",
  endpoint: { rest: "https://api.kucoin.com", ws: "wss://ws-api-spot.kucoin.com" },
  markets: listMarkets("USDT", bases, { name: (base, quote) => `${base}-${quote}` }),
  cadenceMs: 10_000,
  stream: {
    path: "",
    subscribeAfter: "welcome",
    subscribe: (markets) => [
      JSON.stringify({
        id: 1,
        type: "subscribe",
        topic: `${topicPrefix}${markets.map((each) => each.streamName).join(",")}`,
        privateChannel: false,
        response: true,
      }),
      JSON.stringify({
        id: 2,
        type: "subscribe",
        topic: `${candlePrefix}${markets.map((each) => each.streamName + candleSuffix).join(",")}`,
        privateChannel: false,
        response: true,
      }),
    ],
    read: readFrame,
    ping: { everyMs: 18_000, frame: (id) => JSON.stringify({ id: String(id), type: "ping" }) },
    silenceMs: 28_000,
    // A token lives 24 hours, and a connection no longer than the token it was opened with.
    sessionMs: 24 * 3_600_000,
    ticket: { path: "/api/v1/bullet-public", read: readTicket },
  },
  rest: {
    requests: (markets) => markets.map(requestOf),
    read: readAnswer,
    candles: {
      path: ({ name }, { fromMs }) =>
        `/api/v1/market/candles?symbol=${name}&type=1min&startAt=${Math.floor(fromMs / 1_000)}`,
      everyMs: candlesBesideStreamMs,
    },
    // 15 of a pool of 2,000 in 30 seconds for each request.
    gapMs: 300,
    pollMs: 5_000,
    besideStreamMs: 60_000,
  },
};
