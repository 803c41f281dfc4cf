/**
 * The alerts of deploy/prometheus/alerts.yaml. Each has the series under which it fires, from which its test is made,
 * and a heading of its name in docs/guides/operations.md.
 */

/** `page` needs somebody now; `ticket` somebody on the next working day. */
export type Severity = "page" | "ticket";

export interface Alert {
  readonly name: string;
  readonly severity: Severity;
  /** PromQL over metrics of the metric table, and `up`. */
  readonly expression: string;
  /** How long the expression has to hold, as Prometheus writes it. */
  readonly for: string;
  /** One sentence; may name labels as `{{ $labels.network }}`. */
  readonly summary: string;
  /**
   * Series with their values, one a minute for 40 minutes, as `promtool test rules` writes them; the alert fires by the
   * end of them.
   */
  readonly firesOn: Readonly<Record<string, string>>;
}

type Terms = Omit<Alert, "name" | "severity" | "expression">;

const alert =
  (name: string, severity: Severity) =>
  (expression: string, terms: Terms): Alert => ({
    name,
    severity,
    expression,
    ...terms,
  });

/**
 * Whether a counter has grown. A counter with labels appears at its first use, and Prometheus sees no increase of a
 * series that begins with 1.
 */
const grown = (metric: string, window: string): string =>
  `increase(${metric}[${window}]) > 0 or (${metric} unless ${metric} offset ${window}) > 0`;

const processAlerts: readonly Alert[] = [
  alert("SluiceDown", "page")('up{job="sluice"} == 0', {
    for: "1m",
    summary: "{{ $labels.instance }} does not answer at its metrics port",
    firesOn: { 'up{job="sluice",instance="a"}': "0x40" },
  }),
  alert("SluiceRestarts", "ticket")("changes(process_start_time_seconds[30m]) > 2", {
    for: "0m",
    summary: "{{ $labels.instance }} started more than twice within half an hour",
    firesOn: { process_start_time_seconds: "1 2 3 4+0x40" },
  }),
  alert("SluiceFaults", "ticket")(grown("sluice_faults_total", "15m"), {
    for: "0m",
    summary: "{{ $labels.instance }} had an internal error at {{ $labels.where }}",
    firesOn: { 'sluice_faults_total{where="rpc"}': "_x10 1x30" },
  }),
  alert("SluiceChildRestarts", "ticket")("increase(sluice_child_restarts_total[30m]) > 2", {
    for: "0m",
    summary: "The child process {{ $labels.child }} of {{ $labels.instance }} ends again and again",
    firesOn: { 'sluice_child_restarts_total{child="ledger"}': "0+1x40" },
  }),
  alert("SluiceWorkersMissing", "ticket")("sluice_workers - sluice_workers_serving > 0", {
    for: "2m",
    summary: "{{ $value }} workers of {{ $labels.instance }} do not serve",
    firesOn: {
      'sluice_workers{worker="parent"}': "4x20",
      'sluice_workers_serving{worker="parent"}': "3x20",
    },
  }),
  alert("SluiceFilesScarce", "page")("process_open_fds / process_max_fds > 0.9", {
    for: "5m",
    summary: "{{ $labels.instance }} has nine tenths of its files and sockets open",
    firesOn: { process_open_fds: "980x40", process_max_fds: "1000x40" },
  }),
  alert("SluiceEventLoopSlow", "ticket")("process_event_loop_lag_seconds > 1", {
    for: "5m",
    summary: "The event loop of {{ $labels.instance }} is delayed by {{ $value }} s",
    firesOn: { process_event_loop_lag_seconds: "2x40" },
  }),
  alert("SluiceCertificateEnds", "ticket")("sluice_tls_certificate_end_seconds - time() < 14 * 86400", {
    for: "0m",
    summary: "The certificate {{ $labels.file }} of {{ $labels.instance }} ends within two weeks",
    firesOn: { 'sluice_tls_certificate_end_seconds{file="a.pem"}': "86400x40" },
  }),
  alert("SluiceLogLinesDropped", "ticket")("increase(sluice_log_lines_dropped_total[15m]) > 0", {
    for: "0m",
    summary: "{{ $labels.instance }} dropped log lines, since their reader is too slow",
    firesOn: { sluice_log_lines_dropped_total: "0+5x40" },
  }),
  alert("SluiceLabelsFolded", "ticket")(grown("sluice_metrics_label_sets_folded_total", "1h"), {
    for: "0m",
    summary: "{{ $labels.metric }} of {{ $labels.instance }} has too many sets of label values",
    firesOn: { 'sluice_metrics_label_sets_folded_total{metric="m"}': "_x10 1x30" },
  }),
];

const requestAlerts: readonly Alert[] = [
  alert("SluiceErrors", "page")(
    'sum by (endpoint) (rate(sluice_requests_total{status=~"5.."}[5m])) / sum by (endpoint) (rate(sluice_requests_total[5m])) > 0.05',
    {
      for: "5m",
      summary: "Over 5% of the requests of {{ $labels.endpoint }} end with a status of 500 or more",
      firesOn: {
        'sluice_requests_total{endpoint="rpc",status="200"}': "0+80x40",
        'sluice_requests_total{endpoint="rpc",status="503"}': "0+20x40",
      },
    },
  ),
  alert("SluiceSlow", "ticket")(
    "histogram_quantile(0.99, sum by (le, endpoint) (rate(sluice_request_duration_seconds_bucket[5m]))) > 5",
    {
      for: "10m",
      summary: "One request in a hundred of {{ $labels.endpoint }} takes over 5 s",
      firesOn: {
        'sluice_request_duration_seconds_bucket{endpoint="rpc",le="5"}': "0+80x40",
        'sluice_request_duration_seconds_bucket{endpoint="rpc",le="10"}': "0+100x40",
        'sluice_request_duration_seconds_bucket{endpoint="rpc",le="+Inf"}': "0+100x40",
      },
    },
  ),
  alert("SluiceOverloaded", "page")(
    'sum by (instance, code) (rate(sluice_requests_refused_total{code=~"OVERLOADED|STORE_UNAVAILABLE"}[5m])) > 1',
    {
      for: "2m",
      summary: "{{ $labels.instance }} refuses requests with {{ $labels.code }}",
      firesOn: { 'sluice_requests_refused_total{instance="a",endpoint="rpc",code="OVERLOADED"}': "0+600x40" },
    },
  ),
  alert("SluiceConnectionsRefused", "page")("increase(sluice_connections_refused_total[5m]) > 0", {
    for: "5m",
    summary: "{{ $labels.instance }} refuses connections: MAX_CONNECTIONS are open",
    firesOn: { sluice_connections_refused_total: "0+10x40" },
  }),
];

const nodeAlerts: readonly Alert[] = [
  alert("SluiceNoNode", "page")("max by (network) (sluice_upstream_healthy) == 0", {
    for: "1m",
    summary: "No node of {{ $labels.network }} may be called",
    firesOn: { 'sluice_upstream_healthy{network="mainnet",upstream="a"}': "0x40" },
  }),
  alert("SluiceNodeAway", "ticket")("max by (network, upstream) (sluice_upstream_healthy) == 0", {
    for: "15m",
    summary: "The node {{ $labels.upstream }} of {{ $labels.network }} gets no calls",
    firesOn: { 'sluice_upstream_healthy{network="mainnet",upstream="a"}': "0x40" },
  }),
  alert("SluiceNodeRefuses", "ticket")('increase(sluice_upstream_rests_total{reason=~"denied|limited"}[30m]) > 5', {
    for: "0m",
    summary: "The node {{ $labels.upstream }} of {{ $labels.network }} refuses calls: {{ $labels.reason }}",
    firesOn: { 'sluice_upstream_rests_total{network="mainnet",upstream="a",reason="limited"}': "0+1x40" },
  }),
  alert("SluiceSlotStill", "page")('max by (network) (delta(sluice_believed_slot{commitment="processed"}[2m])) == 0', {
    for: "1m",
    summary: "The newest slot of {{ $labels.network }} has not moved for three minutes",
    firesOn: { 'sluice_believed_slot{network="mainnet",commitment="processed"}': "7x40" },
  }),
  alert("SluiceChainChanged", "page")(grown("sluice_chain_changes_total", "15m"), {
    for: "0m",
    summary: "The nodes of {{ $labels.network }} serve another chain than before",
    firesOn: { 'sluice_chain_changes_total{network="mainnet"}': "_x10 1x30" },
  }),
];

const storeAlerts: readonly Alert[] = [
  alert("SluiceDatabaseAway", "page")("max by (instance) (sluice_credits_advances_open) > 0", {
    for: "1m",
    summary: "{{ $labels.instance }} serves on advances, since PostgreSQL leases no credits",
    firesOn: { 'sluice_credits_advances_open{meter="credits",instance="a"}': "3x40" },
  }),
  alert("SluiceDatabaseWaits", "page")("max by (instance, pool) (sluice_database_pool_waiting) > 0", {
    for: "2m",
    summary: "Statements of {{ $labels.instance }} wait for a connection of the pool {{ $labels.pool }}",
    firesOn: { 'sluice_database_pool_waiting{pool="general",instance="a"}': "4x40" },
  }),
  alert("SluiceDatabaseConnectionsLost", "ticket")("increase(sluice_database_connections_lost_total[30m]) > 10", {
    for: "0m",
    summary: "{{ $labels.instance }} loses connections to PostgreSQL",
    firesOn: { 'sluice_database_connections_lost_total{pool="general"}': "0+1x40" },
  }),
  alert("SluiceSharingLost", "page")("sluice_sharing_up == 0 and on (instance) sluice_sharing_lost_total > 0", {
    for: "1m",
    summary: "{{ $labels.instance }} cannot reach Redis and serves its share of each limit",
    firesOn: { sluice_sharing_up: "1x5 0x35", sluice_sharing_lost_total: "0x5 1x35" },
  }),
  alert("SluiceStoreAway", "page")("sluice_store_up == 0", {
    for: "1m",
    summary: "The {{ $labels.store }} store of {{ $labels.instance }} ({{ $labels.driver }}) does not answer",
    firesOn: { 'sluice_store_up{store="state",driver="postgres"}': "1x5 0x35" },
  }),
  alert("SluiceLedgerDropped", "page")(grown("sluice_ledger_rows_dropped_total", "15m"), {
    for: "0m",
    summary: "Rows of {{ $labels.table }} were dropped: {{ $labels.reason }}",
    firesOn: { 'sluice_ledger_rows_dropped_total{table="requests",reason="full"}': "_x10 10x30" },
  }),
  alert("SluiceLedgerSlow", "ticket")(
    "histogram_quantile(0.9, sum by (le, table) (rate(sluice_ledger_flush_duration_seconds_bucket[10m]))) > 5",
    {
      for: "10m",
      summary: "One write of {{ $labels.table }} in ten takes over 5 s",
      firesOn: {
        'sluice_ledger_flush_duration_seconds_bucket{table="requests",le="5"}': "0+5x40",
        'sluice_ledger_flush_duration_seconds_bucket{table="requests",le="10"}': "0+10x40",
        'sluice_ledger_flush_duration_seconds_bucket{table="requests",le="+Inf"}': "0+10x40",
      },
    },
  ),
  alert("SluiceSchemaWaits", "ticket")("max by (store) (sluice_schema_missing) > 0", {
    for: "30m",
    summary: "{{ $value }} migrations of the {{ $labels.store }} store wait",
    firesOn: { 'sluice_schema_missing{store="state",instance="a"}': "1x40" },
  }),
  alert("SluiceSchemaNewer", "ticket")("sluice_schema_stored > sluice_schema_known", {
    for: "30m",
    summary: "{{ $labels.instance }} is of an earlier version than the one that migrated the {{ $labels.store }} store",
    firesOn: {
      'sluice_schema_stored{store="state",instance="a"}': "21x40",
      'sluice_schema_known{store="state",instance="a"}': "20x40",
    },
  }),
  alert("SluiceCreditsLeftBehind", "ticket")("max by (meter) (sluice_credit_holders_left_behind) > 0", {
    for: "20m",
    summary: "{{ $value }} processes that are gone hold {{ $labels.meter }} of accounts",
    firesOn: { 'sluice_credit_holders_left_behind{meter="credits",instance="a"}': "1x40" },
  }),
  alert("SluiceCreditsUnproved", "ticket")(grown("sluice_credits_unproved_total", "1h"), {
    for: "0m",
    summary: "Leases of {{ $labels.meter }} of a dead process stay charged, since its tally is void",
    firesOn: { 'sluice_credits_unproved_total{meter="credits"}': "_x10 64x30" },
  }),
];

const leaseAlerts: readonly Alert[] = [
  alert("SluiceLeaseTakenOver", "ticket")(grown("sluice_lease_takeovers_total", "15m"), {
    for: "0m",
    summary:
      "{{ $labels.instance }} took over {{ $labels.job }} of {{ $labels.network }} from a process that went silent",
    firesOn: { 'sluice_lease_takeovers_total{network="mainnet",job="engine-book"}': "_x10 1x30" },
  }),
  alert("SluiceLeaseBeatLate", "ticket")("sluice_lease_beat_age_seconds > 1 and sluice_lease_held == 1", {
    for: "1m",
    summary:
      "{{ $labels.instance }} holds {{ $labels.job }} of {{ $labels.network }} and its beats do not reach the store",
    firesOn: {
      'sluice_lease_beat_age_seconds{network="mainnet",job="engine-book",instance="a"}': "2x40",
      'sluice_lease_held{network="mainnet",job="engine-book",instance="a"}': "1x40",
    },
  }),
  alert("SluiceLeaseLeftBehind", "ticket")("max(sluice_leases_left_behind) > 0", {
    for: "10m",
    summary: "{{ $value }} jobs are leased to a process that is gone, and none takes them over",
    firesOn: { 'sluice_leases_left_behind{instance="a"}': "1x40" },
  }),
  alert("SluiceLeaseHeldTwice", "page")("sum by (network, job) (sluice_lease_held) > 1", {
    for: "1m",
    summary: "Several processes believe that they hold {{ $labels.job }} of {{ $labels.network }}",
    firesOn: {
      'sluice_lease_held{network="mainnet",job="engine-book",instance="a"}': "1x40",
      'sluice_lease_held{network="mainnet",job="engine-book",instance="b"}': "1x40",
    },
  }),
];

const chainAlerts: readonly Alert[] = [
  alert("SluiceIngestBehind", "page")(
    'max by (instance, network) (sluice_ingest_state{state=~"lagging|catching_up"}) == 1',
    {
      for: "5m",
      summary: "The log of {{ $labels.network }} in {{ $labels.instance }} is behind its chain",
      firesOn: {
        'sluice_ingest_state{network="mainnet",state="lagging",instance="a"}': "1x10 0x30",
        'sluice_ingest_state{network="mainnet",state="catching_up",instance="a"}': "0x10 1x30",
      },
    },
  ),
  alert("SluiceLogStalled", "page")('max by (instance, network) (sluice_ingest_state{state="paused"}) == 1', {
    for: "1m",
    summary: "The log of {{ $labels.network }} takes no blocks of {{ $labels.instance }}",
    firesOn: { 'sluice_ingest_state{network="mainnet",state="paused",instance="a"}': "1x40" },
  }),
  alert("SluiceLogOverBytes", "page")("max by (instance, network) (sluice_log_over_bytes) == 1", {
    for: "0m",
    summary: "The log of {{ $labels.network }} trims blocks that are still wanted, since LOG_BYTES are full",
    firesOn: { 'sluice_log_over_bytes{network="mainnet",instance="a"}': "1x40" },
  }),
  alert("SluiceBlocksUnavailable", "ticket")("max by (network) (sluice_ingest_unavailable_slots) > 0", {
    for: "5m",
    summary: "No node of {{ $labels.network }} gives {{ $value }} slots that later blocks name",
    firesOn: { 'sluice_ingest_unavailable_slots{network="mainnet"}': "2x40" },
  }),
  alert("SluiceLogGap", "ticket")(grown("sluice_ingest_gaps_total", "1h"), {
    for: "0m",
    summary: "The log of {{ $labels.network }} has a gap: {{ $labels.reason }}",
    firesOn: { 'sluice_ingest_gaps_total{network="mainnet",reason="unavailable"}': "_x10 1x30" },
  }),
  alert("SluiceNodesDisagree", "ticket")(grown("sluice_ingest_disputes_total", "15m"), {
    for: "0m",
    summary: "Nodes of {{ $labels.network }} contradict each other about a block: {{ $labels.about }}",
    firesOn: { 'sluice_ingest_disputes_total{network="mainnet",about="content"}': "_x10 1x30" },
  }),
  alert("SluiceNodeOutvoted", "ticket")(grown("sluice_ingest_lies_total", "1h"), {
    for: "0m",
    summary: "Two nodes of {{ $labels.network }} contradict {{ $labels.node }} about a block",
    firesOn: { 'sluice_ingest_lies_total{network="mainnet",node="a"}': "_x10 1x30" },
  }),
  alert("SluiceHistoryBehind", "ticket")("max by (network) (sluice_history_lag_slots) > 150", {
    for: "5m",
    summary: "The ledger is {{ $value }} slots behind the log of {{ $labels.network }}",
    firesOn: { 'sluice_history_lag_slots{network="mainnet"}': "400x40" },
  }),
  alert("SluiceHistoryFails", "ticket")("increase(sluice_history_failures_total[15m]) > 5", {
    for: "0m",
    summary:
      "Blocks of {{ $labels.network }} do not get into the ledger: the {{ $labels.source }} fails again and again",
    firesOn: { 'sluice_history_failures_total{network="mainnet",source="writer"}': "0+1x40" },
  }),
  alert("SluiceHistoryMissing", "ticket")(
    "max by (network) (sluice_history_missing_slots) > 0 and max by (network) (delta(sluice_history_missing_slots[30m])) >= 0",
    {
      for: "30m",
      summary: "The ledger misses {{ $value }} slots of {{ $labels.network }}, and they do not become fewer",
      firesOn: { 'sluice_history_missing_slots{network="mainnet"}': "20x40" },
    },
  ),
  alert("SluiceHistoryMalformed", "ticket")(grown("sluice_history_malformed_blocks_total", "1h"), {
    for: "0m",
    summary: "A block in the log of {{ $labels.network }} cannot be read",
    firesOn: { 'sluice_history_malformed_blocks_total{network="mainnet"}': "_x10 1x30" },
  }),
  alert("SluiceStreamsFail", "page")(grown("sluice_streams_flow_failures_total", "15m"), {
    for: "0m",
    summary: "{{ $labels.instance }} could not follow the log of {{ $labels.network }} for its streams",
    firesOn: { 'sluice_streams_flow_failures_total{network="mainnet"}': "_x10 1x30" },
  }),
  alert("SluiceStreamsSlow", "ticket")(
    'sum by (instance) (increase(sluice_streams_closed_total{code="4408"}[15m])) > 20 and sum by (instance) (increase(sluice_streams_closed_total{code="4408"}[15m])) > 0.2 * sum by (instance) (sluice_streams_connections)',
    {
      for: "5m",
      summary: "{{ $labels.instance }} has closed {{ $value }} clients of /ws within 15 minutes that did not keep up",
      firesOn: {
        'sluice_streams_closed_total{network="mainnet",code="4408",instance="a"}': "0+5x40",
        'sluice_streams_connections{network="mainnet",instance="a"}': "100x40",
      },
    },
  ),
  alert("SluiceYellowstoneFails", "page")(
    'sum by (instance) (increase(sluice_yellowstone_calls_total{status="INTERNAL"}[15m])) - sum by (instance) (increase(sluice_yellowstone_lagged_total[15m])) > 5',
    {
      for: "0m",
      summary:
        "{{ $labels.instance }} has ended {{ $value }} calls of Yellowstone gRPC with INTERNAL within 15 minutes",
      firesOn: {
        'sluice_yellowstone_calls_total{method="/geyser.Geyser/Subscribe",status="INTERNAL",instance="a"}': "0+2x40",
        'sluice_yellowstone_lagged_total{instance="a"}': "0+1x40",
      },
    },
  ),
  alert("SluiceYellowstoneSlow", "ticket")(
    "sum by (instance) (increase(sluice_yellowstone_lagged_total[15m])) > 20 and sum by (instance) (increase(sluice_yellowstone_lagged_total[15m])) > 0.2 * sum by (instance) (sluice_yellowstone_streams)",
    {
      for: "5m",
      summary:
        "{{ $labels.instance }} has ended {{ $value }} streams of Yellowstone gRPC within 15 minutes whose clients did not keep up",
      firesOn: {
        'sluice_yellowstone_lagged_total{instance="a"}': "0+5x40",
        'sluice_yellowstone_streams{method="/geyser.Geyser/Subscribe",instance="a"}': "100x40",
      },
    },
  ),
  alert("SluiceWebhooksLag", "page")("max by (network, stage) (sluice_webhook_scheduler_lag_slots) > 150", {
    for: "5m",
    summary: "Webhooks of {{ $labels.network }} are told blocks {{ $value }} slots late ({{ $labels.stage }})",
    firesOn: { 'sluice_webhook_scheduler_lag_slots{network="mainnet",stage="confirmed",instance="a"}': "400x40" },
  }),
  alert("SluiceWebhooksFail", "page")(grown("sluice_webhook_scheduler_failures_total", "15m"), {
    for: "10m",
    summary: "{{ $labels.instance }} cannot make deliveries of {{ $labels.network }} ({{ $labels.stage }})",
    firesOn: { 'sluice_webhook_scheduler_failures_total{network="mainnet",stage="confirmed"}': "0+1x60" },
  }),
  alert("SluiceWebhooksStore", "page")(grown("sluice_webhook_store_failures_total", "15m"), {
    for: "10m",
    summary: "{{ $labels.instance }} cannot write what became of deliveries",
    firesOn: { 'sluice_webhook_store_failures_total{instance="a"}': "0+1x60" },
  }),
  alert("SluiceWebhooksWithoutData", "ticket")(
    'sum by (instance) (increase(sluice_webhook_postponed_total{reason="data"}[30m])) > 100',
    {
      for: "10m",
      summary: "{{ $labels.instance }} could not read the data of {{ $value }} events within half an hour",
      firesOn: { 'sluice_webhook_postponed_total{reason="data",instance="a"}': "0+20x60" },
    },
  ),
];

const serviceAlerts: readonly Alert[] = [
  alert("SluiceEngineMissing", "page")("sum(sluice_engine_active) == 0", {
    for: "30s",
    summary: "No process runs the block engine",
    firesOn: { 'sluice_engine_active{instance="a"}': "0x40", 'sluice_engine_active{instance="b"}': "0x40" },
  }),
  alert("SluiceEngineDegraded", "page")("max by (reason) (sluice_engine_degraded) == 1", {
    for: "2m",
    summary: "The block engine is degraded: {{ $labels.reason }}",
    firesOn: { 'sluice_engine_degraded{reason="no_leader"}': "1x40" },
  }),
  alert("SluiceSimulatorsEnd", "ticket")("increase(sluice_engine_simulators_ended_total[30m]) > 5", {
    for: "0m",
    summary: "Simulation processes of {{ $labels.instance }} end: {{ $labels.reason }}",
    firesOn: { 'sluice_engine_simulators_ended_total{reason="exit"}': "0+1x40" },
  }),
  alert("SluicePriceMissing", "page")(
    'sum by (symbol) (increase(sluice_oracle_rounds_total[5m])) > 0 unless sum by (symbol) (increase(sluice_oracle_rounds_total{outcome="price"}[5m])) > 0',
    {
      for: "5m",
      summary: "{{ $labels.symbol }} has no price",
      firesOn: { 'sluice_oracle_rounds_total{symbol="BTC",outcome="few-sources"}': "0+60x40" },
    },
  ),
  alert("SluicePriceSourceDown", "ticket")('max by (source) (sluice_oracle_source_status{status="down"}) == 1', {
    for: "15m",
    summary: "The price source {{ $labels.source }} is down",
    firesOn: { 'sluice_oracle_source_status{source="kraken",status="down"}': "1x40" },
  }),
  alert("SluiceNamesFail", "page")(
    'sum(rate(sluice_names_node_calls_total{outcome="failed"}[5m])) / sum(rate(sluice_names_node_calls_total[5m])) > 0.5',
    {
      for: "5m",
      summary: "The node that names are read from does not answer",
      firesOn: { 'sluice_names_node_calls_total{outcome="failed"}': "0+60x40" },
    },
  ),
  alert("SluiceSqlBusy", "ticket")('sum(increase(sluice_sql_queries_total{outcome="SQL_BUSY"}[15m])) > 10', {
    for: "0m",
    summary: "{{ $value }} queries of SQL were refused within a quarter of an hour, since no place was free",
    firesOn: { 'sluice_sql_queries_total{outcome="SQL_BUSY"}': "0+2x40" },
  }),
  alert("SluiceSqlFails", "ticket")(
    'sum by (outcome) (increase(sluice_sql_queries_total{outcome=~"STORE_UNAVAILABLE|INTERNAL_ERROR"}[15m])) > 2',
    {
      for: "0m",
      summary: "Queries of SQL end with {{ $labels.outcome }}",
      firesOn: { 'sluice_sql_queries_total{outcome="STORE_UNAVAILABLE"}': "0+1x40" },
    },
  ),
];

/** In the order of the file and of the runbook. */
export const alerts: readonly Alert[] = [
  ...processAlerts,
  ...requestAlerts,
  ...nodeAlerts,
  ...storeAlerts,
  ...leaseAlerts,
  ...chainAlerts,
  ...serviceAlerts,
];

/** Where the remedy of an alert is described; a heading's anchor is its text in lower case. */
const runbook = (name: string): string => `docs/guides/operations.md#${name.toLowerCase()}`;

/** deploy/prometheus/alerts.yaml. Texts are written as JSON, which is YAML too. */
export function renderAlerts(): string {
  const lines = ["groups:", "  - name: sluice", "    rules:"];
  for (const { name, severity, expression, for: time, summary } of alerts) {
    lines.push(
      `      - alert: ${name}`,
      `        expr: ${JSON.stringify(expression)}`,
      `        for: ${time}`,
      `        labels: { severity: ${severity} }`,
      "        annotations:",
      `          summary: ${JSON.stringify(summary)}`,
      `          runbook: ${JSON.stringify(runbook(name))}`,
    );
  }
  return `${lines.join("\n")}\n`;
}
