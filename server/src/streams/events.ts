import type { Network } from "@sluice/contract/tiers";
import { counter, createErrorEvents, type ErrorEvents, type Observe } from "../observe/index.ts";

const ofNetwork = ["network"] as const;

/** The metrics of streams. */
export const streamsMetrics = {
  flowFailures: counter(
    "sluice_streams_flow_failures_total",
    "Times that the log could not be followed, or what is told of it could not be made; those concerned are ended",
    ofNetwork,
  ),
  unreadable: counter(
    "sluice_streams_unreadable_blocks_total",
    "Blocks of the log that cannot be read and are told as a gap",
    ofNetwork,
  ),
} as const;

/** Every function is cheap and must not throw. */
export interface StreamsEvents extends ErrorEvents {
  flowFailed(network: Network, error: unknown): void;
  blockUnreadable(network: Network, slot: bigint): void;
}

/** Registers the metrics of streams and gives the functions that feed them and write its log lines. */
export function createStreamsEvents(observe: Observe): StreamsEvents {
  const { log, metrics } = observe;
  const families = metrics.register(streamsMetrics);
  return {
    ...createErrorEvents(observe),
    flowFailed: (network, error) => {
      families.flowFailures.with(network).add();
      log.error({ network, error }, "the flow of blocks failed for those who follow it");
    },
    blockUnreadable: (network, slot) => {
      families.unreadable.with(network).add();
      log.error({ network, slot }, "a block of the log cannot be read and is told as a gap");
    },
  };
}
