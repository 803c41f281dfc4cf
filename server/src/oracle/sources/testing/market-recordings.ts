/**
 * Answers and frames of the development market's exchanges, with what each means. The files are written by
 * `sh bin/with-bun server/src/oracle/sources/testing/record-market.ts`, whose output is looked through before it is
 * committed: what a price, a volume or a time is has to stand in the recorded text.
 */
import { readFileSync } from "node:fs";
import { marketStartMs } from "../../../../../devnet/market/testing/market.ts";
import type { SourceId } from "../../model/tick.ts";
import { minuteMs, minuteOf } from "../../model/traded-minute.ts";
import type { Exchange, RestRequest } from "../exchange.ts";
import { linesOf, linesOfAnswer, readAtMs } from "./readings.ts";

export const recordedSymbols = ["BTC", "ETH", "SOL", "USDC", "USDT"];

export interface RecordedAnswer {
  /** The place of the request among those for all recorded markets. */
  readonly request: number;
  readonly status: number;
  readonly body: string;
  readonly means: readonly string[];
}

export interface MarketRecording {
  readonly answers: readonly RecordedAnswer[];
  readonly frames: readonly { readonly text: string; readonly means: readonly string[] }[];
}

export const recordingPath = (id: SourceId): URL => new URL(`./recordings/${id}.json`, import.meta.url);

export const readRecording = (id: SourceId): MarketRecording => JSON.parse(readFileSync(recordingPath(id), "utf8"));

/** The requests for the recorded markets that an exchange lists: prices, then three minutes of each. */
export function recordedRequests({ markets, rest }: Exchange): readonly RestRequest[] {
  const recorded = markets.filter(({ base }) => recordedSymbols.includes(base));
  const span = { fromMs: minuteOf(marketStartMs) - 2 * minuteMs, nowMs: marketStartMs };
  const candles = recorded.map((market): RestRequest => {
    return { method: "GET", path: rest.candles.path(market, span), markets: [market], part: "candles" };
  });
  return [...rest.requests(recorded), ...candles];
}

export function meaningOfAnswer(
  exchange: Exchange,
  request: RestRequest,
  status: number,
  text: string,
): readonly string[] {
  return linesOfAnswer(exchange.rest.read(request, { status, header: () => null, text, receivedAtMs: readAtMs }));
}

export const meaningOfFrame = (exchange: Exchange, text: string): readonly string[] =>
  linesOf(exchange.stream.read(text));
