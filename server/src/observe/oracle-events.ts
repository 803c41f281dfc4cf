import type { Log } from "./log.ts";
import { eventMetrics, type MetricDefinition } from "./metric-table.ts";
import type { Metrics } from "./metrics.ts";

/** What happens in the oracle beside its requests. */
export interface OracleHappenings {
  /** A round of the oracle: `price`, or why there is none. Logged when a symbol loses or regains its price. */
  oracleRoundMade(symbol: string, outcome: string): void;
  oracleTickDropped(source: string, reason: string): void;
  /** Told now and then; logged only when the status changes. */
  oracleSourceObserved(source: string, status: string): void;
  oracleSourceTicked(source: string, delayMs: number): void;
  oracleSourceStreamOpened(source: string): void;
  oracleSourceStreamEnded(source: string, reason: string): void;
  oracleSourceRequestEnded(source: string, end: string, durationMs: number): void;
  oracleSocketOpened(): void;
  oracleSocketClosed(code: number): void;
  oraclePricesSent(messages: number): void;
  oraclePricesConflated(messages: number): void;
}

function register(metrics: Metrics) {
  const count = ({ name, help, labels }: MetricDefinition) => metrics.counter(name, help, labels);
  const gauge = ({ name, help, labels }: MetricDefinition) => metrics.gauge(name, help, labels);
  const latency = ({ name, help, labels, buckets }: MetricDefinition) => metrics.histogram(name, help, labels, buckets);
  return {
    oracleRounds: count(eventMetrics.oracleRounds),
    oracleTicksDropped: count(eventMetrics.oracleTicksDropped),
    oracleSources: gauge(eventMetrics.oracleSources),
    oracleTickDelay: latency(eventMetrics.oracleTickDelay),
    oracleStreamsOpened: count(eventMetrics.oracleStreamsOpened),
    oracleStreamsEnded: count(eventMetrics.oracleStreamsEnded),
    oracleSourceRequests: count(eventMetrics.oracleSourceRequests),
    oracleSourceRequestDuration: latency(eventMetrics.oracleSourceRequestDuration),
    oracleSockets: gauge(eventMetrics.oracleSockets),
    oracleSocketsClosed: count(eventMetrics.oracleSocketsClosed),
    oraclePricesSent: count(eventMetrics.oraclePricesSent),
  };
}

export function oracleEvents(metrics: Metrics, log: Log): OracleHappenings {
  const families = register(metrics);
  const statusOf = new Map<string, string>();
  /** Symbols that have had a price, and whether they have one now. */
  const isPriced = new Map<string, boolean>();
  return {
    oracleRoundMade: (symbol: string, outcome: string) => {
      families.oracleRounds.with(symbol, outcome).add();
      const before = isPriced.get(symbol);
      const now = outcome === "price";
      if (before === now || (before === undefined && !now)) return;
      isPriced.set(symbol, now);
      if (!now) log.warn({ symbol, outcome }, "a symbol has no price");
      else if (before === false) log.info({ symbol }, "a symbol has a price again");
    },
    oracleTickDropped: (source: string, reason: string) => families.oracleTicksDropped.with(source, reason).add(),
    oracleSourceObserved: (source: string, status: string) => {
      const before = statusOf.get(source);
      if (before === status) return;
      if (before !== undefined) families.oracleSources.with(source, before).set(0);
      families.oracleSources.with(source, status).set(1);
      statusOf.set(source, status);
      if (before !== undefined) log.info({ source, status }, `source of prices is ${status}`);
    },
    // A source whose clock runs ahead of ours is as fresh as can be; a histogram passes negative times over.
    oracleSourceTicked: (source: string, delayMs: number) =>
      families.oracleTickDelay.with(source).observe(Math.max(0, delayMs) / 1_000),
    oracleSourceStreamOpened: (source: string) => families.oracleStreamsOpened.with(source).add(),
    oracleSourceStreamEnded: (source: string, reason: string) => families.oracleStreamsEnded.with(source, reason).add(),
    oracleSourceRequestEnded: (source: string, end: string, durationMs: number) => {
      families.oracleSourceRequests.with(source, end).add();
      families.oracleSourceRequestDuration.with(source).observe(durationMs / 1_000);
    },
    oracleSocketOpened: () => families.oracleSockets.with().add(1),
    oracleSocketClosed: (code: number) => {
      families.oracleSockets.with().add(-1);
      families.oracleSocketsClosed.with(String(code)).add();
    },
    oraclePricesSent: (messages: number) => families.oraclePricesSent.with("sent").add(messages),
    oraclePricesConflated: (messages: number) => families.oraclePricesSent.with("conflated").add(messages),
  };
}
