import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { metricTable } from "../../server/src/compose/metric-table.ts";
import { type Alert, alerts, renderAlerts } from "./alerts.ts";
import { renderBoard } from "./board.ts";
import { findTool, runTool, scratch } from "./tools.ts";

const promtool = findTool("promtool", "alert rules and the queries of the board");

/** A server of two processes on a good day: every metric that an alert reads, in values that worry nobody. */
const goodDay: Readonly<Record<string, string>> = {
  'up{job="sluice",instance="a"}': "1x120",
  'process_start_time_seconds{instance="a"}': "100x120",
  'process_open_fds{instance="a"}': "100x120",
  'process_max_fds{instance="a"}': "1000x120",
  'process_event_loop_lag_seconds{instance="a"}': "0.01x120",
  'sluice_faults_total{where="rpc"}': "3x120",
  'sluice_child_restarts_total{child="ledger"}': "1x120",
  'sluice_tls_certificate_end_seconds{file="a.pem"}': "7776000x120",
  sluice_log_lines_dropped_total: "0x120",
  'sluice_metrics_label_sets_folded_total{metric="m"}': "2x120",
  'sluice_requests_total{endpoint="rpc",status="200"}': "0+1000x120",
  'sluice_requests_total{endpoint="rpc",status="503"}': "0+1x120",
  'sluice_request_duration_seconds_bucket{endpoint="rpc",le="5"}': "0+1000x120",
  'sluice_request_duration_seconds_bucket{endpoint="rpc",le="+Inf"}': "0+1000x120",
  'sluice_requests_refused_total{instance="a",endpoint="rpc",code="OVERLOADED"}': "0+1x120",
  sluice_connections_refused_total: "0x120",
  'sluice_upstream_healthy{network="mainnet",upstream="a"}': "1x120",
  'sluice_upstream_rests_total{network="mainnet",upstream="a",reason="limited"}': "1x120",
  'sluice_believed_slot{network="mainnet",commitment="processed"}': "0+150x120",
  'sluice_chain_changes_total{network="devnet"}': "1x120",
  'sluice_credits_advances_open{meter="credits",instance="a"}': "0x120",
  'sluice_database_pool_waiting{pool="general",instance="a"}': "0x120",
  'sluice_database_connections_lost_total{pool="general"}': "4x120",
  sluice_workers: "4x120",
  sluice_workers_serving: "4x120",
  sluice_sharing_up: "1x120",
  'sluice_store_up{store="state",driver="postgres"}': "1x120",
  sluice_sharing_lost_total: "1x120",
  'sluice_ledger_rows_dropped_total{table="requests",reason="full"}': "4x120",
  'sluice_ledger_flush_duration_seconds_bucket{table="requests",le="0.1"}': "0+60x120",
  'sluice_ledger_flush_duration_seconds_bucket{table="requests",le="+Inf"}': "0+60x120",
  'sluice_schema_known{store="state",instance="a"}': "20x120",
  'sluice_schema_stored{store="state",instance="a"}': "20x120",
  'sluice_schema_missing{store="state",instance="a"}': "0x120",
  // A process was killed, and the next one on its directory settled what it held.
  'sluice_credit_holders_left_behind{meter="credits",instance="a"}': "0x60 1x2 0x58",
  'sluice_leases_left_behind{instance="a"}': "0x120",
  'sluice_credits_unproved_total{meter="credits"}': "64x120",
  'sluice_lease_takeovers_total{network="mainnet",job="engine-book"}': "2x120",
  'sluice_lease_beat_age_seconds{network="mainnet",job="engine-book",instance="a"}': "0.4x120",
  'sluice_lease_held{network="mainnet",job="engine-book",instance="a"}': "1x120",
  'sluice_lease_held{network="mainnet",job="engine-book",instance="b"}': "0x120",
  'sluice_ingest_state{network="mainnet",state="live",instance="a"}': "1x120",
  'sluice_ingest_state{network="mainnet",state="catching_up",instance="a"}': "0x120",
  'sluice_log_over_bytes{network="mainnet",instance="a"}': "0x120",
  'sluice_ingest_unavailable_slots{network="mainnet"}': "0x120",
  'sluice_ingest_gaps_total{network="mainnet",reason="unavailable"}': "1x120",
  'sluice_ingest_disputes_total{network="mainnet",about="content"}': "2x120",
  'sluice_ingest_lies_total{network="mainnet",node="a"}': "1x120",
  'sluice_history_lag_slots{network="mainnet"}': "1x60 2x60",
  'sluice_history_failures_total{network="mainnet",source="writer"}': "3x120",
  'sluice_history_missing_slots{network="mainnet"}': "0x120",
  'sluice_history_malformed_blocks_total{network="mainnet"}': "1x120",
  'sluice_streams_flow_failures_total{network="mainnet"}': "1x120",
  'sluice_streams_closed_total{network="mainnet",code="4408",instance="a"}': "0+1x120",
  'sluice_streams_connections{network="mainnet",instance="a"}': "1000x120",
  'sluice_yellowstone_calls_total{method="/geyser.Geyser/Subscribe",status="INTERNAL",instance="a"}': "0+1x120",
  'sluice_yellowstone_lagged_total{instance="a"}': "0+1x120",
  'sluice_yellowstone_streams{method="/geyser.Geyser/Subscribe",instance="a"}': "1000x120",
  'sluice_webhook_scheduler_lag_slots{network="mainnet",stage="confirmed",instance="a"}': "1x60 2x60",
  'sluice_webhook_scheduler_failures_total{network="mainnet",stage="confirmed"}': "2x120",
  'sluice_webhook_store_failures_total{instance="a"}': "2x120",
  'sluice_webhook_postponed_total{reason="data",instance="a"}': "0+1x120",
  'sluice_sql_queries_total{outcome="answered"}': "0+60x120",
  'sluice_sql_queries_total{outcome="SQL_BUSY"}': "3x120",
  'sluice_engine_active{instance="a"}': "1x120",
  'sluice_engine_active{instance="b"}': "0x120",
  'sluice_engine_degraded{reason="no_leader"}': "0x120",
  'sluice_engine_simulators_ended_total{reason="exit"}': "1x120",
  'sluice_oracle_rounds_total{symbol="BTC",outcome="price"}': "0+60x120",
  'sluice_oracle_rounds_total{symbol="BTC",outcome="few-sources"}': "0+1x120",
  'sluice_oracle_source_status{source="kraken",status="down"}': "0x120",
  'sluice_names_node_calls_total{outcome="ok"}': "0+60x120",
  'sluice_names_node_calls_total{outcome="failed"}': "0+1x120",
};

const metricNames = (text: string): string[] =>
  [...text.matchAll(/\b(?:sluice|process)_\w+/g)].map(([name]) => name.replace(/_bucket$/, ""));

/**
 * One test of promtool: series, and whether an alert of the name fires in the last 40 minutes; without a name, whether
 * any is even pending.
 */
const day = (name: string, series: Readonly<Record<string, string>>, fires: boolean): string => {
  const selector = name === "" ? "ALERTS" : `ALERTS{alertname="${name}",alertstate="firing"}`;
  return [
    `  - name: ${JSON.stringify(name === "" ? "a good day" : name)}`,
    "    interval: 1m",
    "    input_series:",
    ...Object.entries(series).map(([each, values]) => `      - { series: ${quoted(each)}, values: ${quoted(values)} }`),
    "    promql_expr_test:",
    `      - expr: ${quoted(`clamp_max(sum(count_over_time(${selector}[40m])), 1)`)}`,
    `        eval_time: ${name === "" ? 120 : 40}m`,
    `        exp_samples: [${fires ? "{ labels: '{}', value: 1 }" : ""}]`,
  ].join("\n");
};
const quoted = (text: string): string => JSON.stringify(text);

function testRules(days: readonly string[]): ReturnType<typeof runTool> {
  if (promtool === null) throw new Error("there is no promtool");
  const text = ["rule_files: [alerts.yaml]", "evaluation_interval: 1m", "tests:", ...days].join("\n");
  using files = scratch({ "alerts.yaml": renderAlerts(), "tests.yaml": text });
  return runTool([promtool, "test", "rules", files.path("tests.yaml")]);
}

describe("alerts", () => {
  test("read metrics of the table, by labels that these have", () => {
    const byName = new Map(metricTable.map((metric) => [metric.name, metric]));
    for (const { name, expression } of alerts) {
      const used = metricNames(expression);
      expect([name, used.filter((metric) => !byName.has(metric))]).toEqual([name, []]);
      const labels = new Set(["instance", "job", "le", ...used.flatMap((metric) => byName.get(metric)?.labels ?? [])]);
      const asked = [
        ...[...expression.matchAll(/(\w+)(?:=|!=|=~|!~)"/g)].map(([, label = ""]) => label),
        ...[...expression.matchAll(/by \(([^)]*)\)/g)].flatMap(([, list = ""]) => list.split(", ")),
      ];
      expect([name, asked.filter((label) => !labels.has(label))]).toEqual([name, []]);
    }
  });

  test("each has its heading in the runbook, in the same order, and each heading its alert", () => {
    const guide = readFileSync(join(import.meta.dir, "../../docs/guides/operations.md"), "utf8");
    const headings = [...guide.matchAll(/^### (Sluice\w+)$/gm)].map(([, name = ""]) => name);
    expect(headings).toEqual(alerts.map(({ name }) => name));
  });

  test("the good day has every metric that an alert reads", () => {
    const present = new Set(metricNames(Object.keys(goodDay).join(" ")));
    const read = new Set(alerts.flatMap(({ expression }) => metricNames(expression)));
    expect([...read].filter((metric) => !present.has(metric))).toEqual([]);
  });

  test.skipIf(promtool === null)(
    "each fires on its own series, and none on a good day",
    () => {
      const { ok, said } = testRules([
        ...alerts.map(({ name, firesOn }: Alert) => day(name, firesOn, true)),
        day("", goodDay, false),
      ]);
      expect(ok ? "" : said).toBe("");
    },
    60_000,
  );

  test.skipIf(promtool === null)(
    "the check finds an alert that does not fire, and one that fires on a good day",
    () => {
      expect(testRules([day("SluiceDown", { 'up{job="sluice"}': "1x40" }, true)]).ok).toBe(false);
      expect(testRules([day("", { ...goodDay, 'up{job="sluice",instance="a"}': "0x120" }, false)]).ok).toBe(false);
    },
  );
});

describe("the board", () => {
  const board = JSON.parse(renderBoard());
  const panels: { id: number; title: string; targets?: { expr: string }[]; panels?: typeof panels }[] = board.panels;
  const all = panels.flatMap((panel) => [panel, ...(panel.panels ?? [])]);
  const expressions = all.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));

  test("has a panel for each metric, and no id twice", () => {
    const shown = new Set(expressions.flatMap(metricNames));
    expect(metricTable.filter(({ name }) => !shown.has(name)).map(({ name }) => name)).toEqual([]);
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
  });

  test.skipIf(promtool === null)("asks Prometheus in its language", () => {
    const asked = expressions.map((text) => text.replaceAll("$__rate_interval", "5m").replaceAll("$instance", ".*"));
    const rules = asked.map((text, index) => `      - { record: "board:${index}", expr: ${quoted(text)} }`);
    const rulesText = (lines: readonly string[]): string =>
      ["groups:", "  - name: board", "    rules:", ...lines].join("\n");
    using files = scratch({
      "board.yaml": rulesText(rules),
      "broken.yaml": rulesText(['      - { record: "board:0", expr: "sum by (rate(" }']),
    });
    const { ok, said } = runTool([promtool ?? "", "check", "rules", files.path("board.yaml")]);
    expect(ok ? "" : said).toBe("");
    expect(runTool([promtool ?? "", "check", "rules", files.path("broken.yaml")]).ok).toBe(false);
  });
});
