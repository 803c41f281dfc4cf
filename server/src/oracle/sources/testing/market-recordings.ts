/**
 * Answers and frames of the development market's exchanges, with what each means. The files are written by
 * `sh bin/with-bun server/src/oracle/sources/testing/record-market.ts`, whose output is looked through before it is
 * committed: what a price, a volume or a time is has to stand in the recorded text.
 */
import { readFileSync } from "node:fs";
import type { SourceId } from "../../model/tick.ts";
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

/** The requests for the recorded markets that an exchange lists. */
export function recordedRequests({ markets, rest }: Exchange): readonly RestRequest[] {
  return rest.requests(markets.filter(({ base }) => recordedSymbols.includes(base)));
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
