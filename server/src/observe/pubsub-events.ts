import { eventMetrics, type MetricDefinition } from "./metric-table.ts";
import type { Metrics } from "./metrics.ts";

/** What happens to WebSocket clients, beside what they are answered. */
export interface PubSubHappenings {
  pubsubOpened(door: string, network: string): void;
  pubsubClosed(door: string, network: string, code: number): void;
  /** A client goes on with another node. */
  pubsubMoved(door: string, network: string): void;
}

export function pubsubEvents(metrics: Metrics): PubSubHappenings {
  const count = ({ name, help, labels }: MetricDefinition) => metrics.counter(name, help, labels);
  const { pubsubOpen, pubsubMoved, pubsubClosed } = eventMetrics;
  const open = metrics.gauge(pubsubOpen.name, pubsubOpen.help, pubsubOpen.labels);
  const moved = count(pubsubMoved);
  const closed = count(pubsubClosed);
  return {
    pubsubOpened: (door, network) => open.with(door, network).add(1),
    pubsubMoved: (door, network) => moved.with(door, network).add(),
    pubsubClosed: (door, network, code) => {
      open.with(door, network).add(-1);
      closed.with(door, String(code)).add();
    },
  };
}
