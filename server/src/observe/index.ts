/**
 * observe: the primitives of logs, metrics and traces. A room declares its metrics and its events in its own events.ts
 * over these primitives; the events of all endpoints (requests, internal errors, start and end) are here. Secrets are
 * removed from every log line. Fed by all rooms above; feeds the log's stream, the metrics endpoint and, where the
 * operator loads an OpenTelemetry SDK, traces.
 */
export { processDescriptors, watchDescriptors } from "./descriptors.ts";
export {
  type ChildEvents,
  createChildEvents,
  createErrorEvents,
  createServerEvents,
  type ErrorEvents,
  type Observe,
  type ServerEvents,
  type StoreCondition,
  type StoreEvents,
  type StoreSchema,
  serverMetrics,
} from "./events.ts";
export { createLineWriter, createLog, type RootLog } from "./log.ts";
export {
  counter,
  gauge,
  latency,
  type MetricDefinition,
  renderMetricsReference,
} from "./metric-definitions.ts";

export { baseMetrics, createMetrics, type Metrics } from "./metrics.ts";

export {
  type RequestEvents,
  requestMetrics,
  type ServedRequest,
} from "./request-events.ts";
export { createTracing, type Tracing } from "./tracing.ts";
