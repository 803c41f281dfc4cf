import { type Clock, systemClock } from "@sluice/lib";
import { Registry } from "prom-client";
import { counter, type MetricDefinition } from "./metric-definitions.ts";
import { type Families, type Family, openFamily } from "./metric-families.ts";
import { observeProcess, processMetrics } from "./process-metrics.ts";

/** The numbers of this process, in base units (seconds, bytes), served in the Prometheus text format. */
export interface Metrics extends AsyncDisposable {
  /**
   * The families of the definitions, registered at the first call; a later call with the same definitions returns the
   * same families, so that several objects of a room may feed one metric.
   * @throws {Error} when another definition has the same name
   */
  register<Definitions extends Record<string, MetricDefinition>>(definitions: Definitions): Families<Definitions>;
  render(): Promise<string>;
  /** The Content-Type of the text that `render` returns. */
  readonly contentType: string;
}

export interface MetricsOptions {
  /** Sets of label values that one metric keeps apart; 1,000 unless given. */
  readonly labelSetsMax?: number;
}

const labelSetsMaxDefault = 1_000;

/** Metrics that every registry has from the start. */
export const baseMetrics = {
  folded: counter(
    "sluice_metrics_label_sets_folded_total",
    "Uses of a metric that were counted under `other`, because the metric had too many sets of label values",
    ["metric"],
  ),
  ...processMetrics,
} as const;

/** Creates a registry with the process's own metrics (memory, CPU, event loop). Disposal stops its timer. */
export function createMetrics(options: MetricsOptions = {}, dependencies: { readonly clock?: Clock } = {}): Metrics {
  const registry = new Registry();
  const labelSetsMax = options.labelSetsMax ?? labelSetsMaxDefault;
  const opened = new Map<MetricDefinition, Family<unknown>>();
  const register = <D extends Record<string, MetricDefinition>>(definitions: D): Families<D> => {
    const families: Record<string, Family<unknown>> = {};
    for (const [key, definition] of Object.entries(definitions)) {
      const onFolded = (): void => folded.with(definition.name).add();
      const family = opened.get(definition) ?? openFamily(registry, definition, { labelSetsMax, onFolded });
      opened.set(definition, family);
      families[key] = family;
    }
    // openFamily gives each family the handles of its definition's type.
    return families as Families<D>;
  };
  const { folded } = register({ folded: baseMetrics.folded });
  const stop = observeProcess(register(processMetrics), dependencies.clock ?? systemClock);
  return {
    register,
    render: () => registry.metrics(),
    contentType: registry.contentType,
    [Symbol.asyncDispose]: async () => stop(),
  };
}
