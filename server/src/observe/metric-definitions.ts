/** Seconds: from a cache hit to the gateway's own timeout. */
export const latencyBuckets = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
] as const;

export type MetricType = "counter" | "gauge" | "histogram";

/**
 * One metric, as it is registered and as the reference lists it. A room declares its metrics once, in its events.ts;
 * names use base units, counters end in `_total`, and labels have few values.
 */
export interface MetricDefinition<Type extends MetricType = MetricType> {
  readonly type: Type;
  readonly name: string;
  readonly help: string;
  readonly labels: readonly string[];
  /** Upper bounds of a histogram's buckets, in the metric's unit. */
  readonly buckets?: readonly number[];
}

export const counter = (name: string, help: string, labels: readonly string[] = []): MetricDefinition<"counter"> => ({
  type: "counter",
  name,
  help,
  labels,
});

export const gauge = (name: string, help: string, labels: readonly string[] = []): MetricDefinition<"gauge"> => ({
  type: "gauge",
  name,
  help,
  labels,
});

/** A histogram of seconds with the common buckets. */
export const latency = (name: string, help: string, labels: readonly string[] = []): MetricDefinition<"histogram"> => ({
  type: "histogram",
  name,
  help,
  labels,
  buckets: latencyBuckets,
});

const units: readonly (readonly [RegExp, string])[] = [
  [/_seconds(_total)?$/, "seconds"],
  [/_bytes(_total)?$/, "bytes"],
];

const unitOf = (name: string): string => units.find(([pattern]) => pattern.test(name))?.[1] ?? "";

/** docs/reference/metrics.md: the definitions of all rooms, in the given order. */
export function renderMetricsReference(definitions: readonly MetricDefinition[]): string {
  const lines = [
    "# Metrics",
    "",
    "The process serves its metrics in the Prometheus text format at `METRICS_BIND`, path `/metrics`. Units are base units.",
    "A metric keeps at most 1,000 sets of label values apart; later sets are counted under the label value `other`.",
    "",
    "| metric | type | unit | labels | meaning |",
    "|---|---|---|---|---|",
  ];
  for (const { name, type, labels, help } of definitions) {
    const named = labels.map((label) => `\`${label}\``).join(", ");
    lines.push(`| \`${name}\` | ${type} | ${unitOf(name)} | ${named} | ${help} |`);
  }
  lines.push("", `Buckets of the histograms, in seconds: ${latencyBuckets.join(", ")}.`, "");
  return lines.join("\n");
}
