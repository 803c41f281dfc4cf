import { foldedMetric, latencyBuckets } from "./metrics.ts";
import { processMetricTable } from "./process-metrics.ts";

/** One metric, as it is registered and as the reference shows it. */
export interface MetricDefinition {
  readonly type: "counter" | "gauge" | "histogram";
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds of a histogram's buckets, in the metric's unit. */
  readonly buckets?: readonly number[];
}

const counter = (name: string, help: string, labels: readonly string[] = []): MetricDefinition => ({
  type: "counter",
  name,
  help,
  labels,
});
const gauge = (name: string, help: string, labels: readonly string[] = []): MetricDefinition => ({
  type: "gauge",
  name,
  help,
  labels,
});
const latency = (name: string, help: string, labels: readonly string[]): MetricDefinition => ({
  type: "histogram",
  name,
  help,
  labels,
  buckets: latencyBuckets,
});

/** The metrics that business events feed. Base units, and labels with few values; `events.ts` registers each of them. */
export const eventMetrics = {
  requests: counter("sluice_requests_total", "Requests answered, by us or by a node", [
    "door",
    "network",
    "method",
    "status",
  ]),
  requestDuration: latency("sluice_request_duration_seconds", "Time from a request's arrival to its answer", [
    "door",
    "network",
    "method",
  ]),
  requestBytes: counter("sluice_request_bytes_total", "Bytes of request bodies", ["door"]),
  responseBytes: counter("sluice_response_bytes_total", "Bytes of response bodies", ["door"]),
  credits: counter("sluice_credits_charged_total", "Credits charged for answered requests", ["door", "network"]),
  creditsReconciledBooks: counter(
    "sluice_credit_books_reconciled_total",
    "Account months of dead processes whose leases were settled",
    ["meter"],
  ),
  creditsReturned: counter(
    "sluice_credits_returned_total",
    "Credits, or requests, that a dead process had leased and not spent, and that were given back",
    ["meter"],
  ),
  creditsUnproved: counter(
    "sluice_credits_unproved_total",
    "Credits, or requests, that a dead process had leased and that stay charged, since its tally is void",
    ["meter"],
  ),
  rpcErrors: counter("sluice_rpc_errors_total", "Answers that carry a JSON-RPC error", ["network", "code"]),
  refusals: counter("sluice_requests_refused_total", "Requests refused before any node was asked", ["door", "code"]),
  upstreamCalls: counter("sluice_upstream_calls_total", "Calls to nodes", ["network", "upstream", "outcome"]),
  upstreamDuration: latency("sluice_upstream_call_duration_seconds", "Time that a node took to answer", [
    "network",
    "upstream",
  ]),
  upstreamExtra: counter("sluice_upstream_extra_calls_total", "Calls to nodes beyond the clients' own, by reason", [
    "network",
    "upstream",
    "reason",
  ]),
  floorMissed: counter("sluice_slot_floor_missed_total", "Calls for which no node had reached the slot seen before", [
    "network",
  ]),
  sentSettled: counter("sluice_sent_transactions_total", "Transactions sent, by what became of them", [
    "network",
    "state",
  ]),
  upstreamSlotLag: gauge("sluice_upstream_slot_lag", "Slots behind the best node of the network", [
    "network",
    "upstream",
  ]),
  upstreamHealthy: gauge("sluice_upstream_healthy", "1 when a node may be chosen, 0 when it is cordoned or down", [
    "network",
    "upstream",
  ]),
  cache: counter("sluice_cache_outcomes_total", "Lookups in the cache of answers", ["network", "class", "outcome"]),
  cacheBytes: gauge("sluice_cache_bytes", "Memory that kept answers take"),
  keyCache: counter("sluice_key_cache_outcomes_total", "Lookups in the cache of API keys", ["outcome"]),
  replicas: gauge("sluice_replicas", "Processes that share limits through Redis, by their heartbeats; the last known"),
  sharedAnswers: counter("sluice_shared_answers_total", "Look-ups and writes of history shared through Redis", [
    "outcome",
  ]),
  sharingUp: gauge("sluice_sharing_up", "1 while limits are shared through Redis, 0 while each process has a share"),
  sharingLost: counter("sluice_sharing_lost_total", "Times that the limits shared through Redis were out of reach"),
  ledgerRows: counter("sluice_ledger_rows_total", "Rows written to the ledger", ["table"]),
  ledgerFlush: latency("sluice_ledger_flush_duration_seconds", "Time that a batch took to be on disk", ["table"]),
  ledgerDropped: counter("sluice_ledger_rows_dropped_total", "Rows that were given up, with the reason", [
    "table",
    "reason",
  ]),
  childRestarts: counter("sluice_child_restarts_total", "Restarts of a child process", ["child"]),
  largeAnswers: counter(
    "sluice_large_answers_total",
    "Answers passed on while they came, by their end: whole, cut by the node, left by the client",
    ["network", "end"],
  ),
  pubsubOpen: gauge("sluice_pubsub_connections", "Open WebSocket connections", ["door", "network"]),
  pubsubMoved: counter("sluice_pubsub_moved_total", "WebSocket clients that went on with another node", [
    "door",
    "network",
  ]),
  pubsubClosed: counter("sluice_pubsub_closed_total", "WebSocket connections closed, by close code", ["door", "code"]),
  faults: counter("sluice_faults_total", "Faults of this system, each of which is logged as an error", ["where"]),
  logDropped: counter("sluice_log_lines_dropped_total", "Lines of the log that were given up, since nobody read them"),
  namesAnswered: counter(
    "sluice_names_answered_total",
    "Names asked for, by what was answered and where it was known",
    ["kind", "source"],
  ),
  namesCalls: counter("sluice_names_node_calls_total", "Calls of the resolver to its node", ["outcome"]),
  namesDuration: latency("sluice_names_node_call_duration_seconds", "Time that the resolver's node took to answer", []),
  oracleRounds: counter(
    "sluice_oracle_rounds_total",
    "Rounds of the oracle, by what came of them: a price, or why there is none",
    ["symbol", "outcome"],
  ),
  oracleTicksDropped: counter("sluice_oracle_ticks_dropped_total", "Ticks that no price was made of, by reason", [
    "source",
    "reason",
  ]),
  oracleSources: gauge("sluice_oracle_source_status", "1 for the status that a source of prices has now", [
    "source",
    "status",
  ]),
  oracleTickDelay: latency(
    "sluice_oracle_tick_delay_seconds",
    "Time from the moment for which a source vouches to the arrival of its price",
    ["source"],
  ),
  oracleStreamsOpened: counter("sluice_oracle_source_streams_opened_total", "Streams of sources that were opened", [
    "source",
  ]),
  oracleStreamsEnded: counter(
    "sluice_oracle_source_streams_ended_total",
    "Streams of sources that ended or could not be opened, by reason",
    ["source", "reason"],
  ),
  oracleSourceRequests: counter("sluice_oracle_source_requests_total", "Requests to sources, by how they ended", [
    "source",
    "end",
  ]),
  oracleSourceRequestDuration: latency(
    "sluice_oracle_source_request_duration_seconds",
    "Time that requests to sources took, whatever came of them",
    ["source"],
  ),
  oracleSockets: gauge("sluice_oracle_sockets", "Connected clients of the price stream"),
  oracleSocketsClosed: counter("sluice_oracle_sockets_closed_total", "Price stream clients that left, by close code", [
    "code",
  ]),
  oraclePricesSent: counter("sluice_oracle_stream_prices_total", "Prices for clients of the stream", ["outcome"]),
  engineBundles: counter("sluice_engine_bundles_total", "Bundles that came in, by door and answer", [
    "door",
    "outcome",
  ]),
  engineBundlesEnded: counter("sluice_engine_bundles_ended_total", "Bundles that ended, by state and reason", [
    "state",
    "reason",
  ]),
  engineBundlesLive: gauge("sluice_engine_bundles_live", "Bundles that can still change"),
  engineSubmitDuration: latency("sluice_engine_submit_duration_seconds", "Time from a bundle to its answer", ["door"]),
  engineTickDuration: latency("sluice_engine_tick_duration_seconds", "Time that ticks with candidates took", []),
  engineAuctionRevenue: counter("sluice_engine_auction_tips_lamports_total", "Tips of the bundles that won"),
  engineAuctionGap: counter(
    "sluice_engine_auction_gap_lamports_total",
    "How far bounded searches may have been from an optimum",
  ),
  engineDelivered: counter(
    "sluice_engine_bundles_delivered_total",
    "Bundles handed to leaders, by whether they took them",
    ["outcome"],
  ),
  engineWinnersFailed: counter("sluice_engine_winners_failed_total", "Winners that did not run, by reason", ["reason"]),
  engineValidators: gauge("sluice_engine_validators", "Validators that take bundles"),
  engineStreams: gauge("sluice_engine_streams", "Open gRPC streams, by method", ["method"]),
  engineCalls: counter("sluice_engine_grpc_calls_total", "gRPC calls that ended, by method and status", [
    "method",
    "status",
  ]),
  engineMachinesEnded: counter("sluice_engine_simulators_ended_total", "Processes of the simulation that ended"),
  engineDegraded: gauge("sluice_engine_degraded", "1 for each reason for which the engine is degraded now", ["reason"]),
  engineActive: gauge("sluice_engine_active", "1 where this process keeps the book of bundles, 0 where it stands by"),
  engineTipFloor: gauge("sluice_engine_tip_floor_lamports", "The least that a bundle pays"),
  engineUtilization: gauge("sluice_engine_utilization_ratio", "Share of the bundle compute of late that bundles used"),
  serverInfo: gauge("sluice_server_info", "1, with the version and the mode as labels", ["version", "mode"]),
  serverStart: gauge("sluice_server_start_duration_seconds", "Time from the start to the first open door"),
} as const satisfies Record<string, MetricDefinition>;

/** Every metric that a running server shows. */
export const metricTable: readonly MetricDefinition[] = [
  ...Object.values(eventMetrics),
  foldedMetric,
  ...processMetricTable.map((metric) => ({ ...metric, labels: [] })),
];

const hints: readonly (readonly [RegExp, string])[] = [
  [/_seconds(_total)?$/, "seconds"],
  [/_bytes(_total)?$/, "bytes"],
];

function unitOf(name: string): string {
  return hints.find(([pattern]) => pattern.test(name))?.[1] ?? "";
}

/** docs/reference/metrics.md, made from the table. */
export function renderMetricsReference(): string {
  const lines = [
    "# Metrics",
    "",
    "The process shows its metrics in the Prometheus text format at `METRICS_BIND`, path `/metrics`. Units are base units.",
    "A metric keeps at most 1,000 tuples of label values apart; what comes later is counted under the label value `other`.",
    "",
    "| metric | type | unit | labels | meaning |",
    "|---|---|---|---|---|",
  ];
  for (const { name, type, labels, help } of metricTable) {
    const named = labels.map((label) => `\`${label}\``).join(", ");
    lines.push(`| \`${name}\` | ${type} | ${unitOf(name)} | ${named} | ${help} |`);
  }
  lines.push("", `Buckets of the histograms, in seconds: ${latencyBuckets.join(", ")}.`, "");
  return lines.join("\n");
}
