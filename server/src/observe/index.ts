/**
 * observe: what the server tells about itself. Every room feeds it through one function for each business event, a log
 * or a metric; secrets are taken out here, whatever a room hands in. It feeds the log's stream, the metrics door and,
 * where an operator loads an OpenTelemetry SDK, traces.
 */
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";

export {
  type CacheOutcome,
  createEvents,
  type Events,
  type EventsOptions,
  type KeyCacheOutcome,
  type RequestServed,
  type UpstreamOutcome,
  type UpstreamState,
} from "./events.ts";
export { createLog, type Log, type LogDestination, type LogOptions, type RootLog } from "./log.ts";
export type { CounterHandle, Family, GaugeHandle, HistogramHandle } from "./metric-families.ts";
export { type MetricDefinition, metricTable, renderMetricsReference } from "./metric-table.ts";
export { createMetrics, latencyBuckets, type Metrics, type MetricsOptions } from "./metrics.ts";
export { redactText, redactValue } from "./redaction.ts";
export { createTracing, type SpanNotes, type Tracing } from "./tracing.ts";

/** What rooms that log and count are handed. */
export interface Observe {
  readonly log: Log;
  readonly metrics: Metrics;
}
