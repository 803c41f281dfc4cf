/**
 * The Grafana board deploy/grafana/sluice.json: an overview, and for each room a row with a panel for each of its
 * metrics, so that a new metric is on the board as soon as it is in the metric table.
 */
import { metricGroups } from "../../server/src/compose/metric-table.ts";
import type { MetricDefinition } from "../../server/src/observe/index.ts";

interface Query {
  readonly expression: string;
  readonly legend: string;
}

interface PanelTerms {
  readonly title: string;
  readonly description: string;
  /** Of Grafana's list of units. */
  readonly unit: string;
  readonly queries: readonly Query[];
}

interface Place {
  readonly id: number;
  readonly x: number;
  readonly y: number;
}

const columns = 24;
const panelWidth = 8;
const panelHeight = 7;

const datasource = { type: "prometheus", uid: "$datasource" };
const selected = 'instance=~"$instance"';

function timeSeries({ title, description, unit, queries }: PanelTerms, { id, x, y }: Place) {
  return {
    id,
    type: "timeseries",
    title,
    description,
    datasource,
    gridPos: { x, y, w: panelWidth, h: panelHeight },
    fieldConfig: {
      defaults: { unit, min: unit === "none" ? undefined : 0, custom: { fillOpacity: 8 } },
      overrides: [],
    },
    options: { legend: { displayMode: "list", placement: "bottom" }, tooltip: { mode: "multi", sort: "desc" } },
    targets: queries.map(({ expression, legend }, index) => ({
      refId: String.fromCharCode("A".charCodeAt(0) + index),
      datasource,
      expr: expression,
      legendFormat: legend,
    })),
  };
}

const isBytes = (name: string): boolean => /_bytes(_total)?$/.test(name);
const isSeconds = (name: string): boolean => /_seconds(_total)?$/.test(name);

/** A counter as its rate, a histogram as three of its quantiles, a gauge as it is. */
function panelOf({ name, type, help, labels }: MetricDefinition): PanelTerms {
  const title = name.replace(/^sluice_/, "").replace(/_total$/, "");
  const legend = labels.length === 0 ? "{{instance}}" : labels.map((label) => `{{${label}}}`).join(" ");
  if (type === "histogram") {
    const quantile = (share: number): Query => ({
      expression: `histogram_quantile(${share}, sum by (le) (rate(${name}_bucket{${selected}}[$__rate_interval])))`,
      legend: `p${share * 100}`,
    });
    return { title, description: help, unit: "s", queries: [0.5, 0.9, 0.99].map(quantile) };
  }
  const by = ["instance", ...labels].join(", ");
  if (type === "gauge") {
    const unit = isBytes(name) ? "bytes" : isSeconds(name) ? "s" : "none";
    const query = { expression: `max by (${by}) (${name}{${selected}})`, legend: `{{instance}} ${legend}` };
    return { title, description: help, unit, queries: [labels.length === 0 ? { ...query, legend } : query] };
  }
  const sum = labels.length === 0 ? "sum by (instance)" : `sum by (${labels.join(", ")})`;
  const unit = isBytes(name) ? "Bps" : isSeconds(name) ? "s" : "ops";
  const expression = `${sum} (rate(${name}{${selected}}[$__rate_interval]))`;
  return { title, description: help, unit, queries: [{ expression, legend }] };
}

const overview: readonly PanelTerms[] = [
  {
    title: "Alerts that fire",
    description: "By name; the runbook is docs/guides/operations.md",
    unit: "none",
    queries: [{ expression: 'count by (alertname) (ALERTS{alertstate="firing"})', legend: "{{alertname}}" }],
  },
  {
    title: "Requests",
    description: "Requests answered, by endpoint",
    unit: "reqps",
    queries: [
      {
        expression: `sum by (endpoint) (rate(sluice_requests_total{${selected}}[$__rate_interval]))`,
        legend: "{{endpoint}}",
      },
    ],
  },
  {
    title: "Share of errors",
    description: "Requests with a status of 500 or more, as a share of all",
    unit: "percentunit",
    queries: [
      {
        expression:
          `sum by (endpoint) (rate(sluice_requests_total{status=~"5..",${selected}}[$__rate_interval])) / ` +
          `sum by (endpoint) (rate(sluice_requests_total{${selected}}[$__rate_interval]))`,
        legend: "{{endpoint}}",
      },
    ],
  },
  {
    title: "Nodes that serve",
    description: "Nodes that may be called, by network, as each process sees them",
    unit: "none",
    queries: [
      {
        expression: `sum by (network, instance) (sluice_upstream_healthy{${selected}})`,
        legend: "{{network}} {{instance}}",
      },
    ],
  },
  {
    title: "Processes",
    description: "Processes whose metrics Prometheus reads",
    unit: "none",
    queries: [{ expression: 'sum by (job) (up{job="sluice"})', legend: "up" }],
  },
  {
    title: "Block engine",
    description: "The process that runs the block engine",
    unit: "none",
    queries: [{ expression: `sluice_engine_active{${selected}}`, legend: "{{instance}}" }],
  },
];

/** Panels side by side, three in a line, from the line `top` on. */
const laid = (panels: readonly PanelTerms[], top: number, firstId: number) =>
  panels.map((panel, index) =>
    timeSeries(panel, {
      id: firstId + index,
      x: (index * panelWidth) % columns,
      y: top + Math.floor((index * panelWidth) / columns) * panelHeight,
    }),
  );

function rows(top: number) {
  let id = overview.length + 1;
  return metricGroups.map(({ title, metrics }, index) => {
    const y = top + index;
    const panels = laid(metrics.map(panelOf), y + 1, id + 1);
    const row = { id, type: "row", title, collapsed: true, gridPos: { x: 0, y, w: columns, h: 1 }, panels };
    id += 1 + panels.length;
    return row;
  });
}

const variables = [
  { name: "datasource", label: "Data source", type: "datasource", query: "prometheus" },
  {
    name: "instance",
    label: "Process",
    type: "query",
    datasource,
    query: { query: 'label_values(up{job="sluice"}, instance)', refId: "instance" },
    refresh: 2,
    multi: true,
    includeAll: true,
    allValue: ".*",
    current: { text: "All", value: "$__all" },
  },
];

/** The board, as Grafana 10 and later read it. */
export function renderBoard(): string {
  const top = Math.ceil((overview.length * panelWidth) / columns) * panelHeight;
  const board = {
    uid: "sluice",
    title: "Sluice",
    description:
      "Generated by `npm run generate` from scripts/deployment/board.ts and the events.ts of each room. Do not edit.",
    tags: ["sluice"],
    schemaVersion: 39,
    timezone: "utc",
    editable: false,
    time: { from: "now-1h", to: "now" },
    refresh: "30s",
    templating: { list: variables },
    panels: [...laid(overview, 0, 1), ...rows(top)],
  };
  return `${JSON.stringify(board, null, 2)}\n`;
}
