import { type Decimal, formatDecimal } from "../../model/decimal.ts";
import type { Exchange, RestOutcome, RestRequest, StreamMessage } from "../exchange.ts";
import { readCandle } from "../read-candle.ts";
import { readRow } from "../read-row.ts";
import type { CandleRow, Row } from "../row.ts";
import type { ExchangeFixture } from "./fixtures.ts";

/** After every recorded answer, so that none lies in the future. */
export const readAtMs = Date.parse("2026-11-01T00:00:00Z");

/** A request of the kind that the recorded answer belongs to, for one market unless the answer holds several. */
export function requestFor(exchange: Exchange, fixture: ExchangeFixture, count = 1): RestRequest {
  const isDay = exchange.id === "coinbase" && fixture.name.startsWith("stats");
  const part = isDay ? "day" : /^(candle|kline|ohlc)/.test(fixture.name) ? "candles" : "price";
  return { method: "GET", path: fixture.request, markets: exchange.markets.slice(0, count), part };
}

export function readFixture(exchange: Exchange, fixture: ExchangeFixture): RestOutcome {
  const header = (name: string): string | null =>
    Object.entries(fixture.headers).find(([each]) => each.toLowerCase() === name)?.[1] ?? null;
  const answer = { status: fixture.status, header, text: fixture.body, receivedAtMs: readAtMs };
  return exchange.rest.read(requestFor(exchange, fixture), answer);
}

const text = (value: Decimal | null): string => (value === null ? "-" : formatDecimal(value));

/** One row in one line: name, last, bid, ask; open, high, low, base and quote volume; time and sequence. */
export function lineOf(row: Row): string {
  const reading = readRow(row, readAtMs);
  if (!reading.ok) return `${row.name} dropped: ${reading.reason}`;
  const { last, bid, ask, day, timeMs, sequence, tradeId } = reading.value;
  const figures =
    day === null ? "-" : [day.open, day.high, day.low, day.baseVolume, day.quoteVolume].map(text).join(" ");
  const prices = [last, bid, ask].map(text).join(" ");
  return `${row.name} ${prices} | ${figures} | ${timeMs ?? "-"} ${sequence ?? tradeId ?? "-"}`;
}

/** One candle of a minute in one line: name, the minute's beginning, base and quote volume, when it was said. */
function candleLineOf(row: CandleRow): string {
  const reading = readCandle(row, readAtMs);
  if (!reading.ok) return `${row.name} candle dropped: ${reading.reason}`;
  const { atMs, baseVolume, quoteVolume, statedAtMs } = reading.value;
  const stated = statedAtMs === readAtMs ? "-" : statedAtMs;
  return `${row.name} candle ${atMs} ${text(baseVolume)} ${text(quoteVolume)} ${stated}`;
}

/** One frame's meaning in one line for each row, or one for the frame. */
export function linesOf(message: StreamMessage): readonly string[] {
  if (message.kind === "rows") return message.rows.map(lineOf);
  if (message.kind === "candles") return message.rows.map(candleLineOf);
  return [message.kind === "malformed" ? `malformed: ${message.reason}` : message.kind];
}

/** An answer's meaning, likewise. */
export function linesOfAnswer(outcome: RestOutcome): readonly string[] {
  if (outcome.kind === "rows") return outcome.rows.map(lineOf);
  if (outcome.kind === "candles") return outcome.rows.map(candleLineOf);
  if (outcome.kind !== "limited") return [outcome.kind];
  return [`${outcome.banned ? "banned" : "limited"} ${outcome.waitMs ?? "-"}`];
}
