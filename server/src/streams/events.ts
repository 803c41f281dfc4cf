import type { ErrorCode } from "@sluice/contract/errors";
import type { Network } from "@sluice/contract/tiers";
import { counter, createErrorEvents, type ErrorEvents, gauge, type Observe } from "../observe/index.ts";

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
  connections: gauge("sluice_streams_connections", "Connections of /ws", ofNetwork),
  subscriptions: gauge("sluice_streams_subscriptions", "Subscriptions of /ws", ofNetwork),
  closed: counter("sluice_streams_closed_total", "Connections of /ws that ended, by their close codes", [
    "network",
    "code",
  ]),
  messages: counter("sluice_streams_messages_total", "Messages about the chain sent over /ws", ofNetwork),
  bytes: counter("sluice_streams_sent_bytes_total", "Bytes sent over /ws, without frames", ofNetwork),
  dropped: counter(
    "sluice_streams_dropped_total",
    "Messages that were not sent over /ws since they were beyond the tier's messages a second",
    ofNetwork,
  ),
  refused: counter("sluice_streams_refused_total", "Messages of clients of /ws that were answered with an error", [
    "code",
  ]),
  replays: counter(
    "sluice_streams_replays_total",
    "Subscriptions that began in the past: begun, arrived at the head or ended before, or too slow",
    ["network", "outcome"],
  ),
  replaying: gauge("sluice_streams_replaying", "Subscriptions that are not at the head yet", []),
  replayLag: gauge("sluice_streams_replay_lag_slots", "Slots that the farthest of them is behind the head", []),
} as const;

export type ReplayOutcome = "done" | "too_slow";

/** Every function is cheap and must not throw. */
export interface StreamsEvents extends ErrorEvents {
  flowFailed(network: Network, error: unknown): void;
  blockUnreadable(network: Network, slot: bigint): void;
  streamOpened(network: Network): void;
  streamClosed(network: Network, code: number): void;
  /** So many subscriptions more, or fewer. */
  streamSubscribed(network: Network, change: 1 | -1): void;
  streamSent(network: Network, messages: number, bytes: number): void;
  streamDropped(network: Network, messages: number): void;
  /** A message of a client was answered with an error. */
  streamRefused(code: ErrorCode): void;
  replayBegun(network: Network): void;
  replayEnded(network: Network, outcome: ReplayOutcome): void;
  replaysObserved(of: { readonly count: number; readonly lagSlots: number }): void;
}

/** Registers the metrics of streams and gives the functions that feed them and write its log lines. */
export function createStreamsEvents(observe: Observe): StreamsEvents {
  const { log, metrics } = observe;
  const families = metrics.register(streamsMetrics);
  const connections = new Map<Network, number>();
  const subscriptions = new Map<Network, number>();
  const changed = (counts: Map<Network, number>, network: Network, by: number): number => {
    const count = (counts.get(network) ?? 0) + by;
    counts.set(network, count);
    return count;
  };
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
    streamOpened: (network) => families.connections.with(network).set(changed(connections, network, 1)),
    streamClosed: (network, code) => {
      families.connections.with(network).set(changed(connections, network, -1));
      families.closed.with(network, String(code)).add();
    },
    streamSubscribed: (network, by) => families.subscriptions.with(network).set(changed(subscriptions, network, by)),
    streamSent: (network, messages, bytes) => {
      if (messages > 0) families.messages.with(network).add(messages);
      families.bytes.with(network).add(bytes);
    },
    streamDropped: (network, messages) => families.dropped.with(network).add(messages),
    streamRefused: (code) => families.refused.with(code).add(),
    replayBegun: (network) => families.replays.with(network, "begun").add(),
    replayEnded: (network, outcome) => families.replays.with(network, outcome).add(),
    replaysObserved: ({ count, lagSlots }) => {
      families.replaying.with().set(count);
      families.replayLag.with().set(lagSlots);
    },
  };
}
