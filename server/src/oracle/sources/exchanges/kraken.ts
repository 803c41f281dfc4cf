import type { Exchange, Market, RestAnswer, RestOutcome, RestRequest, StreamMessage } from "../exchange.ts";
import type { CandleRow, Row } from "../row.ts";
import { elementOf, listOf, memberOf, membersOf, readSourceJson, type SourceValue, textOf } from "../source-json.ts";
import { candlesBesideStreamMs, limitedBy, listMarkets, refusalOf } from "./shared.ts";

const bases = ["BTC", "ETH", "SOL", "ADA", "DOT", "USDC", "USDT", "UNI", "LINK", "AAVE", "COMP", "BNB", "CRO"];

/** Requests know Bitcoin by its old code. */
const coinOf = (base: string): string => (base === "BTC" ? "XBT" : base);

/** Old markets answer under a key with prefixes for coin and currency; which ones do is not said anywhere but there. */
const keysOf = (base: string, quote: string): readonly string[] => [
  `X${coinOf(base)}Z${quote}`,
  `${coinOf(base)}Z${quote}`,
  `${base}${quote}`,
  `${base}/${quote}`,
  `${coinOf(base)}/${quote}`,
];

/** JSON numbers; there is no open but the last trade less the change. */
const streamRow = (row: SourceValue): Row => ({
  name: textOf(memberOf(row, "symbol")),
  part: "ticker",
  last: memberOf(row, "last"),
  bid: memberOf(row, "bid"),
  ask: memberOf(row, "ask"),
  high: memberOf(row, "high"),
  low: memberOf(row, "low"),
  baseVolume: memberOf(row, "volume"),
  vwap: memberOf(row, "vwap"),
  change: memberOf(row, "change"),
  // Servers before 2026 send no time with an update.
  ...(memberOf(row, "timestamp") === undefined
    ? {}
    : { time: { value: memberOf(row, "timestamp"), unit: "iso" as const, means: "generated" as const } }),
  witness: ["last", "bid", "bid_qty", "ask", "ask_qty"].map((name) => memberOf(row, name)),
});

/** There is no quote volume but the mean price times the volume; without a trade the mean is zero. */
const streamCandle = (row: SourceValue): CandleRow => ({
  name: textOf(memberOf(row, "symbol")),
  start: { value: memberOf(row, "interval_begin"), unit: "iso" },
  open: memberOf(row, "open"),
  high: memberOf(row, "high"),
  low: memberOf(row, "low"),
  close: memberOf(row, "close"),
  baseVolume: memberOf(row, "volume"),
  vwap: memberOf(row, "vwap"),
});

const restCandle = (name: string, row: SourceValue): CandleRow => ({
  name,
  start: { value: elementOf(row, 0), unit: "s" },
  open: elementOf(row, 1),
  high: elementOf(row, 2),
  low: elementOf(row, 3),
  close: elementOf(row, 4),
  vwap: elementOf(row, 5),
  baseVolume: elementOf(row, 6),
});

function readCandles(frame: SourceValue): StreamMessage {
  const rows = listOf(memberOf(frame, "data"));
  if (rows === null) return { kind: "malformed", reason: "missing-field" };
  if (rows.some((row) => memberOf(row, "interval") !== "1")) return { kind: "malformed", reason: "unknown-frame" };
  return { kind: "candles", rows: rows.map(streamCandle) };
}

function readFrame(text: string): StreamMessage {
  const frame = readSourceJson(text);
  if (frame === undefined) return { kind: "malformed", reason: "not-json" };
  const method = textOf(memberOf(frame, "method"));
  if (method !== "") {
    if (memberOf(frame, "success") !== false) return { kind: "control" };
    const name = textOf(memberOf(frame, "symbol"));
    return { kind: "refused", name: name === "" ? null : name, message: textOf(memberOf(frame, "error")) };
  }
  const channel = textOf(memberOf(frame, "channel"));
  if (channel === "ticker") {
    const rows = listOf(memberOf(frame, "data"));
    return rows === null ? { kind: "malformed", reason: "missing-field" } : { kind: "rows", rows: rows.map(streamRow) };
  }
  if (channel === "ohlc") return readCandles(frame);
  if (channel !== "") return { kind: "control" };
  if (memberOf(frame, "error") !== undefined)
    return { kind: "refused", name: null, message: textOf(memberOf(frame, "error")) };
  return { kind: "malformed", reason: "unknown-frame" };
}

/** Pairs of figures are [today, 24 hours]; `o` is today's open and no use here; a row reports no time. */
const restRow = (name: string, row: SourceValue): Row => {
  const at = (column: string, index: number): SourceValue | undefined => elementOf(memberOf(row, column), index);
  return {
    name,
    part: "ticker",
    last: at("c", 0),
    bid: at("b", 0),
    ask: at("a", 0),
    high: at("h", 1),
    low: at("l", 1),
    baseVolume: at("v", 1),
    vwap: at("p", 1),
    witness: [at("c", 0), at("c", 1), at("b", 0), at("b", 2), at("a", 0), at("a", 2), at("t", 0), at("v", 0)],
  };
};

/** The answer's only key may be any of a market's names; `known` are those that its rows can be matched by. */
function rowsOf(request: RestRequest, result: SourceValue | undefined): readonly Row[] | null {
  const members = membersOf(result)?.filter(([key]) => key !== "last") ?? [];
  if (members.length === 0) return null;
  const only = request.markets.length === 1 && members.length === 1 ? request.markets[0] : undefined;
  return members.map(([key, row]) => restRow(only?.name ?? key, row));
}

/** The only list of the result: its key is one of the market's names. */
function candlesOf({ markets }: RestRequest, result: SourceValue | undefined): readonly CandleRow[] | null {
  const lists = membersOf(result)?.flatMap(([, value]) => listOf(value) ?? []) ?? [];
  return lists.length === 0 ? null : lists.map((row) => restCandle(markets[0]?.name ?? "", row));
}

function readError(answer: RestAnswer, error: string): RestOutcome {
  const throttledUntil = /^EService:Throttled:(\d{10})/.exec(error)?.[1];
  if (throttledUntil !== undefined)
    return limitedBy(answer, { waitMs: Number(throttledUntil) * 1_000 - answer.receivedAtMs, banned: false });
  if (/lockout/i.test(error)) return limitedBy(answer, { waitMs: 15 * 60_000, banned: true });
  if (/too many requests|rate limit/i.test(error)) return limitedBy(answer, { waitMs: null, banned: false });
  if (/^EQuery:Unknown asset pair/i.test(error)) return { kind: "unknown-market", message: error };
  if (/^EService:/.test(error)) return { kind: "unavailable" };
  return refusalOf(answer, error);
}

/** Errors come with HTTP 200; a warning (`W...`) is none. */
function readAnswer(request: RestRequest, answer: RestAnswer): RestOutcome {
  const body = readSourceJson(answer.text);
  if (answer.status === 429) return limitedBy(answer, { waitMs: null, banned: false });
  const error = listOf(memberOf(body, "error"))
    ?.map(textOf)
    .find((text) => !text.startsWith("W"));
  if (error !== undefined) return readError(answer, error);
  if (answer.status !== 200) return refusalOf(answer, "");
  const result = memberOf(body, "result");
  if (request.part === "candles") {
    const candles = candlesOf(request, result);
    return candles === null ? { kind: "malformed" } : { kind: "candles", rows: candles };
  }
  const rows = rowsOf(request, result);
  return rows === null ? { kind: "malformed" } : { kind: "rows", rows };
}

/** Kraken, spot: REST by its old names, the stream of version 2 by the new ones. */
export const kraken: Exchange = {
  id: "kraken",
  endpoint: { rest: "https://api.kraken.com", ws: "wss://ws.kraken.com" },
  markets: listMarkets("USD", bases, {
    name: (base, quote) => `${coinOf(base)}${quote}`,
    streamName: (base, quote) => `${base}/${quote}`,
    aliases: keysOf,
  }),
  cadenceMs: 15_000,
  stream: {
    path: "/v2",
    subscribeAfter: "open",
    subscribe: (markets) => [
      JSON.stringify({
        method: "subscribe",
        // By best price as well as by trade, so that a market without trades still speaks.
        params: {
          channel: "ticker",
          symbol: markets.map((each) => each.streamName),
          event_trigger: "bbo",
          snapshot: true,
        },
        req_id: 1,
      }),
      JSON.stringify({
        method: "subscribe",
        params: { channel: "ohlc", symbol: markets.map((each) => each.streamName), interval: 1, snapshot: true },
        req_id: 2,
      }),
    ],
    read: readFrame,
    ping: { everyMs: 10_000, frame: (id) => JSON.stringify({ method: "ping", req_id: id }) },
    silenceMs: 25_000,
    sessionMs: null,
  },
  rest: {
    requests: (markets) => [
      {
        method: "GET",
        path: `/0/public/Ticker?pair=${markets.map((each) => each.name).join(",")}`,
        markets,
        part: "price",
      },
    ],
    read: readAnswer,
    candles: {
      path: ({ name }: Market, { fromMs }) =>
        `/0/public/OHLC?pair=${name}&interval=1&since=${Math.floor(fromMs / 1_000)}`,
      everyMs: candlesBesideStreamMs,
    },
    gapMs: 1_200,
    pollMs: 5_000,
    besideStreamMs: null,
  },
};
