import type { Network } from "@sluice/contract/tiers";
import { counter, createErrorEvents, type ErrorEvents, gauge, type Observe } from "../../observe/index.ts";

/** The metrics of Yellowstone gRPC. */
export const yellowstoneMetrics = {
  streams: gauge("sluice_yellowstone_streams", "Open gRPC streams, by method", ["method"]),
  calls: counter("sluice_yellowstone_calls_total", "gRPC calls that ended, by method and status", ["method", "status"]),
  messages: counter("sluice_yellowstone_messages_total", "Messages sent to clients of Yellowstone gRPC"),
  lagged: counter("sluice_yellowstone_lagged_total", "Streams that ended because their clients read too slowly"),
  gaps: counter(
    "sluice_yellowstone_gaps_total",
    "Times that a stream went on behind slots that cannot be had, which its protocol has no word for",
    ["network"],
  ),
  late: counter(
    "sluice_yellowstone_late_processed_total",
    "Blocks told to streams at processed when they were first obtained, since no node's stream tells them as they happen",
    ["network"],
  ),
} as const;

/** Every function is cheap and must not throw. */
export interface YellowstoneEvents extends ErrorEvents {
  callEnded(method: string, status: string): void;
  streamOpened(method: string): void;
  streamClosed(method: string): void;
  messagesSent(count: number): void;
  lagged(): void;
  gapTold(network: Network): void;
  toldLate(network: Network): void;
}

/** Registers the metrics of Yellowstone gRPC and gives the functions that feed them. */
export function createYellowstoneEvents(observe: Observe): YellowstoneEvents {
  const families = observe.metrics.register(yellowstoneMetrics);
  return {
    ...createErrorEvents(observe),
    callEnded: (method, status) => families.calls.with(method, status).add(),
    streamOpened: (method) => families.streams.with(method).add(1),
    streamClosed: (method) => families.streams.with(method).add(-1),
    messagesSent: (count) => families.messages.with().add(count),
    lagged: () => families.lagged.with().add(),
    gapTold: (network) => families.gaps.with(network).add(),
    toldLate: (network) => families.late.with(network).add(),
  };
}
