import { type CreditHappenings, creditEvents } from "./credit-events.ts";
import type { Log } from "./log.ts";
import type { GaugeHandle } from "./metric-families.ts";
import { eventMetrics, type MetricDefinition } from "./metric-table.ts";
import type { Metrics } from "./metrics.ts";

/** What happens to what several processes share. */
export interface SharingHappenings extends CreditHappenings {
  /** What processes share cannot be reached: each goes on with its share of every limit. */
  sharingLost(replicas: number): void;
  sharingRestored(replicas: number): void;
  /** Told on every heartbeat that went well; logged when the number changes. */
  replicasCounted(replicas: number): void;
  /** What came of looking for, or keeping, an answer that processes share. */
  sharedAnswer(outcome: string): void;
}

export function sharingEvents(metrics: Metrics, log: Log): SharingHappenings {
  const gauge = ({ name, help }: MetricDefinition): GaugeHandle => metrics.gauge(name, help).with();
  const replicasNow = gauge(eventMetrics.replicas);
  const sharingUp = gauge(eventMetrics.sharingUp);
  const losses = metrics.counter(eventMetrics.sharingLost.name, eventMetrics.sharingLost.help).with();
  const { name, help, labels } = eventMetrics.sharedAnswers;
  const sharedAnswers = metrics.counter(name, help, labels);
  let known = 0;
  return {
    ...creditEvents(metrics, log),
    sharingLost: (replicas: number) => {
      losses.add();
      sharingUp.set(0);
      log.warn({ replicas }, "limits are not shared: this process serves its own share of each");
    },
    sharingRestored: (replicas: number) => log.info({ replicas }, "limits are shared again"),
    sharedAnswer: (outcome: string) => sharedAnswers.with(outcome).add(),
    replicasCounted: (replicas: number) => {
      replicasNow.set(replicas);
      sharingUp.set(1);
      if (replicas !== known) log.info({ replicas }, "the number of processes that share limits has changed");
      known = replicas;
    },
  };
}
