import type { Exchange, Market, RestAnswer, RestOutcome, StreamMessage } from "../exchange.ts";
import type { Row } from "../row.ts";
import { listOf, memberOf, readSourceJson, type SourceValue, textOf } from "../source-json.ts";
import { limitedBy, listMarkets, refusalOf } from "./shared.ts";

const bases = ["BTC", "ETH", "SOL", "ADA", "DOT", "USDC", "UNI", "LINK", "AAVE", "COMP", "BNB", "FTT"];

/** Streams are named in lower case, rows in upper case. */
const streamOf = (market: Market): string => `${market.streamName.toLowerCase()}@ticker`;

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

function readFrame(text: string): StreamMessage {
  const frame = readSourceJson(text);
  if (frame === undefined) return { kind: "malformed", reason: "not-json" };
  // A combined stream wraps each event.
  const event = memberOf(frame, "data") ?? frame;
  switch (textOf(memberOf(event, "e"))) {
    case "24hrTicker":
      return { kind: "rows", rows: [streamRow(event)] };
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

function readAnswer(answer: RestAnswer): RestOutcome {
  const body = readSourceJson(answer.text);
  if (answer.status === 429 || answer.status === 418) {
    const until = /banned until (\d{13})/.exec(textOf(memberOf(body, "msg")))?.[1];
    const waitMs = until === undefined ? null : Math.max(0, Number(until) - answer.receivedAtMs);
    return limitedBy(answer, { waitMs, banned: answer.status === 418 });
  }
  const code = textOf(memberOf(body, "code"));
  if (code === "-1121") return { kind: "unknown-market", message: textOf(memberOf(body, "msg")) };
  if (code === "-1003") return limitedBy(answer, { waitMs: null, banned: false });
  if (answer.status !== 200 || code !== "") return refusalOf(answer, textOf(memberOf(body, "msg")));
  if (body === undefined) return { kind: "malformed" };
  // One symbol asked by `symbol` is an object, a list of one an array.
  const rows = listOf(body) ?? [body];
  return { kind: "rows", rows: rows.map(restRow) };
}

/** Binance, spot. Every host of its name is the same engine. */
export const binance: Exchange = {
  id: "binance",
  endpoint: { rest: "https://api.binance.com", ws: "wss://stream.binance.com:9443" },
  markets: listMarkets("USDT", bases, { name: (base, quote) => base + quote }),
  cadenceMs: 10_000,
  stream: {
    path: "/ws",
    subscribeAfter: "open",
    subscribe: (markets) => [JSON.stringify({ method: "SUBSCRIBE", params: markets.map(streamOf), id: 1 })],
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
    read: (_request, answer) => readAnswer(answer),
    gapMs: 500,
    pollMs: 5_000,
    besideStreamMs: null,
  },
};
