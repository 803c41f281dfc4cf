import { type Clock, systemClock } from "@sluice/lib";
import { Registry } from "prom-client";
import {
  type CounterHandle,
  counterFamily,
  type Family,
  type GaugeHandle,
  gaugeFamily,
  type HistogramHandle,
  histogramFamily,
} from "./metric-families.ts";
import { observeProcess } from "./process-metrics.ts";

/** The numbers of this process, in base units (seconds, bytes), shown in the Prometheus text format. */
export interface Metrics extends AsyncDisposable {
  counter(name: string, help: string, labels?: readonly string[]): Family<CounterHandle>;
  gauge(name: string, help: string, labels?: readonly string[]): Family<GaugeHandle>;
  /** A metric without labels whose value is asked for when metrics are read. */
  observed(type: "counter" | "gauge", name: string, help: string, read: () => number): void;
  histogram(
    name: string,
    help: string,
    labels?: readonly string[],
    buckets?: readonly number[],
  ): Family<HistogramHandle>;
  render(): Promise<string>;
  /** The Content-Type of what `render` gives. */
  readonly contentType: string;
}

export interface MetricsOptions {
  /** Tuples of label values that one metric keeps apart; 1,000 unless given. */
  readonly labelSetsMax?: number;
}

const labelSetsMaxDefault = 1_000;

/** Seconds: from a hit in the cache to the gateway's own timeout. */
export const latencyBuckets = [
  0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30,
] as const;

export const foldedMetric = {
  type: "counter",
  name: "sluice_metrics_label_sets_folded_total",
  help: "Uses of a metric whose labels were counted under `other`, since the metric had too many",
  labels: ["metric"],
} as const;

/** Makes an empty registry with the process's own metrics (memory, CPU, event loop). Disposing it stops its timer. */
export function createMetrics(options: MetricsOptions = {}, dependencies: { readonly clock?: Clock } = {}): Metrics {
  const registry = new Registry();
  const labelSetsMax = options.labelSetsMax ?? labelSetsMaxDefault;
  const nothing = (): void => {};
  const folded = counterFamily(registry, { ...foldedMetric, labelSetsMax, onFolded: nothing });
  const family = (name: string, help: string, labels: readonly string[]) => ({
    name,
    help,
    labels,
    labelSetsMax,
    onFolded: () => folded.with(name).add(),
  });
  const metrics: Metrics = {
    counter: (name, help, labels = []) => counterFamily(registry, family(name, help, labels)),
    gauge: (name, help, labels = []) => gaugeFamily(registry, family(name, help, labels)),
    observed: (type, name, help, read) => {
      if (type === "counter") counterFamily(registry, family(name, help, []), read);
      else gaugeFamily(registry, family(name, help, []), read);
    },
    histogram: (name, help, labels = [], buckets = latencyBuckets) =>
      histogramFamily(registry, family(name, help, labels), buckets),
    render: () => registry.metrics(),
    contentType: registry.contentType,
    [Symbol.asyncDispose]: async () => stop(),
  };
  const stop = observeProcess(metrics, dependencies.clock ?? systemClock);
  return metrics;
}
