import type { ErrorCode } from "@sluice/contract/errors";
import { createLedgerEvents, type RequestFact } from "../../ledger/index.ts";
import { counter, createErrorEvents, type ErrorEvents, gauge, latency, type Observe } from "../../observe/index.ts";

export const oracleMetrics = {
  rounds: counter("sluice_oracle_rounds_total", "Rounds of the oracle, by outcome: a price, or why there is none", [
    "symbol",
    "outcome",
  ]),
  ticksDropped: counter("sluice_oracle_ticks_dropped_total", "Ticks that no price was computed from, by reason", [
    "source",
    "reason",
  ]),
  coinRates: gauge("sluice_oracle_coin_rate_status", "1 for how a dollar coin's rate is known now", ["coin", "status"]),
  sources: gauge("sluice_oracle_source_status", "1 for the present status of a price source", ["source", "status"]),
  tickDelay: latency("sluice_oracle_tick_delay_seconds", "Time from a tick's own time to its arrival", ["source"]),
  streamsOpened: counter("sluice_oracle_source_streams_opened_total", "Streams of sources that were opened", [
    "source",
  ]),
  streamsEnded: counter(
    "sluice_oracle_source_streams_ended_total",
    "Streams of sources that ended or could not be opened, by reason",
    ["source", "reason"],
  ),
  sourceRequests: counter("sluice_oracle_source_requests_total", "Requests to sources, by how they ended", [
    "source",
    "end",
  ]),
  sourceRequestDuration: latency(
    "sluice_oracle_source_request_duration_seconds",
    "Time that requests to sources took, however they ended",
    ["source"],
  ),
  sourceCandles: counter(
    "sluice_oracle_source_candles_total",
    "Candles of sources that said how much was traded in a minute, by the way they came",
    ["source", "way"],
  ),
  volumes: counter(
    "sluice_oracle_volumes_total",
    "What sources said was traded in a minute, by what came of it when the minute was recorded",
    ["source", "outcome"],
  ),
  sockets: gauge("sluice_oracle_sockets", "Connected clients of the price stream"),
  socketsClosed: counter("sluice_oracle_sockets_closed_total", "Price stream clients that left, by close code", [
    "code",
  ]),
  pricesSent: counter("sluice_oracle_stream_prices_total", "Prices for clients of the stream", ["outcome"]),
} as const;

/**
 * Why the ledger does not get rows of prices: a value that its columns cannot hold, no room to wait, a refusal for
 * good, or a ledger that was unavailable until the process ended.
 */
export type RowDropReason = "unstorable" | "full" | "refused" | "unavailable";

/** Requests of the oracle's endpoint; they are counted, and kept in the ledger, with those of all endpoints. */
export interface OracleRequestEvents {
  requestServed(fact: RequestFact): void;
  requestRefused(code: ErrorCode): void;
}

/**
 * What became of a source's volume of a minute: counted as it stands, counted as far as one source may count, or left
 * out because its prices of the minute were not the agreed ones.
 */
export type VolumeOutcome = "counted" | "capped" | "off-price";

export interface OracleEvents extends OracleRequestEvents, ErrorEvents {
  /** A round ended: `price`, or why there is none. Logged when a symbol loses or regains its price. */
  roundMade(symbol: string, outcome: string): void;
  /** How the rate of a dollar coin is known changed, and lasted: `agreed`, `held` or `unsure`. */
  rateChanged(coin: string, status: string): void;
  /** Prices of a symbol are served with very low confidence now, or no longer. */
  confidenceChanged(symbol: string, isVeryLow: boolean, confidencePercent: number): void;
  /** A row or tick of a source that no price is computed from. */
  sourceDropped(source: string, reason: string): void;
  sourceStatusChanged(source: string, from: string, to: string): void;
  /** A price arrived; `delayMs` lies between the time that its source states and its arrival. */
  sourceTicked(source: string, delayMs: number): void;
  /** A candle of one minute was read. */
  sourceTraded(source: string, way: string): void;
  /** A source's volume of a minute was recorded, or left out. */
  volumeRecorded(source: string, outcome: VolumeOutcome): void;
  sourceStreamOpened(source: string): void;
  /** A stream's connection, or its attempt, ended. */
  sourceStreamEnded(source: string, reason: string): void;
  sourceRequestEnded(source: string, end: string, durationMs: number): void;
  /** An unexpected error while a source was read; the source goes on. */
  sourceFault(source: string, error: unknown): void;
  /** Rows that the ledger does not get, and why. */
  rowsDropped(table: string, rows: number, reason: RowDropReason): void;
  socketOpened(): void;
  socketClosed(code: number): void;
  /** Price messages that were sent. */
  pricesSent(messages: number): void;
  /** Price messages that a slow client never received, because a newer one replaced them. */
  pricesConflated(messages: number): void;
}

/** The events of the sources. */
export type SourceEvents = Pick<
  OracleEvents,
  | "sourceStatusChanged"
  | "sourceTicked"
  | "sourceDropped"
  | "sourceTraded"
  | "sourceStreamOpened"
  | "sourceStreamEnded"
  | "sourceRequestEnded"
  | "sourceFault"
>;

const rateTexts: Readonly<Record<string, string>> = {
  held: "exchanges disagree on the rate of a dollar coin, or are silent; the last agreed one is used",
  unsure: "the rate of a dollar coin is unknown; quotes in it are left out",
};

export function createOracleEvents(observe: Observe, requests: OracleRequestEvents): OracleEvents {
  const { log, metrics } = observe;
  const families = registerOracle(metrics);
  const errors = createErrorEvents(observe);
  const { ledgerDropped } = createLedgerEvents(observe);
  const rateOf = new Map<string, string>();
  /** Symbols that have had a price, and whether they have one now. */
  const isPriced = new Map<string, boolean>();
  return {
    ...requests,
    ...errors,
    ...reachEvents(log, families),
    sourceFault: (_source, error) => errors.internalError("oracle source", error),
    roundMade: (symbol, outcome) => {
      families.rounds.with(symbol, outcome).add();
      const before = isPriced.get(symbol);
      const now = outcome === "price";
      if (before === now || (before === undefined && !now)) return;
      isPriced.set(symbol, now);
      if (!now) log.warn({ symbol, outcome }, "a symbol has no price");
      else if (before === false) log.info({ symbol }, "a symbol has a price again");
    },
    rateChanged: (coin, status) => {
      const before = rateOf.get(coin);
      if (before !== undefined) families.coinRates.with(coin, before).set(0);
      families.coinRates.with(coin, status).set(1);
      rateOf.set(coin, status);
      if (status !== "agreed")
        log.warn({ coin, status }, rateTexts[status] ?? "the rate of a dollar coin is not agreed");
      else if (before !== undefined) log.info({ coin }, "the rate of a dollar coin is agreed again");
    },
    confidenceChanged: (symbol, isVeryLow, confidence) => {
      if (isVeryLow) log.warn({ symbol, confidence }, "a price is served with very low confidence");
      else log.info({ symbol, confidence }, "a price is served with confidence again");
    },
    sourceDropped: (source, reason) => families.ticksDropped.with(source, reason).add(),
    // A source whose clock runs ahead has no delay; a histogram ignores negative times.
    sourceTicked: (source, delayMs) => families.tickDelay.with(source).observe(Math.max(0, delayMs) / 1_000),
    sourceTraded: (source, way) => families.sourceCandles.with(source, way).add(),
    volumeRecorded: (source, outcome) => families.volumes.with(source, outcome).add(),
    sourceStreamOpened: (source) => families.streamsOpened.with(source).add(),
    sourceRequestEnded: (source, end, durationMs) => {
      families.sourceRequests.with(source, end).add();
      families.sourceRequestDuration.with(source).observe(durationMs / 1_000);
    },
    rowsDropped: (table, rows, reason) => {
      ledgerDropped(table, rows, reason);
      log.error({ table, rows, reason }, "rows of prices were dropped");
    },
    socketOpened: () => families.sockets.with().add(1),
    socketClosed: (code) => {
      families.sockets.with().add(-1);
      families.socketsClosed.with(String(code)).add();
    },
    pricesSent: (messages) => families.pricesSent.with("sent").add(messages),
    pricesConflated: (messages) => families.pricesSent.with("conflated").add(messages),
  };
}

const registerOracle = (metrics: Observe["metrics"]) => metrics.register(oracleMetrics);

type ReachEvents = Pick<SourceEvents, "sourceStatusChanged" | "sourceStreamEnded">;

/** Which sources give prices: told once of those that cannot be reached, and then of each change. */
function reachEvents(
  log: Observe["log"],
  families: Pick<ReturnType<typeof registerOracle>, "sources" | "streamsEnded">,
): ReachEvents {
  const statusOf = new Map<string, string>();
  /** Sources that never gave a price, and were told to be out of reach. */
  const unreached = new Set<string>();
  return {
    sourceStatusChanged: (source, _from, status) => {
      const before = statusOf.get(source);
      if (before === status) return;
      if (before !== undefined) families.sources.with(source, before).set(0);
      families.sources.with(source, status).set(1);
      statusOf.set(source, status);
      if (before === undefined && !unreached.delete(source)) return;
      if (status === "down") log.warn({ source, status }, "a source of prices gives none");
      else log.info({ source, status }, "the status of a price source changed");
    },
    sourceStreamEnded: (source, reason) => {
      families.streamsEnded.with(source, reason).add();
      if (statusOf.has(source) || unreached.has(source)) return;
      unreached.add(source);
      log.warn({ source, reason }, "a source of prices cannot be reached");
    },
  };
}
