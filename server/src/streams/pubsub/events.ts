import type { ErrorCode } from "@sluice/contract/errors";
import { counter, createErrorEvents, type ErrorEvents, gauge, type Observe } from "../../observe/index.ts";

/** The metrics of Solana PubSub. */
export const pubsubMetrics = {
  pubsubOpen: gauge("sluice_pubsub_connections", "Open WebSocket connections", ["endpoint", "network"]),
  pubsubWaited: counter(
    "sluice_pubsub_waited_total",
    "Messages to WebSocket clients that waited because the messages a second of their account were used up",
    ["endpoint", "network"],
  ),
  pubsubMoved: counter("sluice_pubsub_moved_total", "Subscriptions that were made again at another node", ["network"]),
  pubsubShared: gauge("sluice_pubsub_subscriptions", "Different subscriptions that clients have", ["network"]),
  pubsubPlaced: gauge("sluice_pubsub_node_subscriptions", "Those of them that are made at nodes", ["network"]),
  pubsubUpstreams: gauge("sluice_pubsub_node_connections", "Connections to nodes for subscriptions", ["network"]),
  pubsubBridged: counter(
    "sluice_pubsub_bridged_total",
    "Subscriptions for which it was read what happened between two nodes, by what came of it: told, same, unread",
    ["network", "kind", "outcome"],
  ),
  pubsubClosed: counter("sluice_pubsub_closed_total", "WebSocket connections closed, by close code", [
    "endpoint",
    "code",
  ]),
} as const;

/** Every function is cheap and must not throw. */
export interface PubSubEvents extends ErrorEvents {
  /** A request that was refused before its account was known. */
  requestRefused(endpoint: string, code: ErrorCode): void;
  pubsubOpened(endpoint: string, network: string): void;
  pubsubClosed(endpoint: string, network: string, code: number): void;
  /** Messages could not be sent at once, for the messages a second of its account. */
  pubsubWaited(endpoint: string, network: string, messages: number): void;
  /** Subscriptions go on at another node. */
  pubsubMoved(network: string, subscriptions: number): void;
  /** How many different subscriptions the clients of a network have. */
  pubsubShared(network: string, subscriptions: number): void;
  /** How many of them are made at nodes. */
  pubsubPlaced(network: string, subscriptions: number): void;
  /** Open connections to the nodes of a network. */
  pubsubUpstreams(network: string, connections: number): void;
  /** What came of reading what a subscription missed between two nodes. */
  pubsubBridged(network: string, kind: string, outcome: string): void;
}

/** PubSub's events but for refusals, which are counted for all endpoints together. */
export function createPubSubEvents(observe: Observe): Omit<PubSubEvents, "requestRefused"> {
  const families = observe.metrics.register(pubsubMetrics);
  return {
    ...createErrorEvents(observe),
    pubsubOpened: (endpoint, network) => families.pubsubOpen.with(endpoint, network).add(1),
    pubsubWaited: (endpoint, network, messages) => families.pubsubWaited.with(endpoint, network).add(messages),
    pubsubMoved: (network, subscriptions) => families.pubsubMoved.with(network).add(subscriptions),
    pubsubShared: (network, subscriptions) => families.pubsubShared.with(network).set(subscriptions),
    pubsubPlaced: (network, subscriptions) => families.pubsubPlaced.with(network).set(subscriptions),
    pubsubUpstreams: (network, connections) => families.pubsubUpstreams.with(network).set(connections),
    pubsubBridged: (network, kind, outcome) => families.pubsubBridged.with(network, kind, outcome).add(),
    pubsubClosed: (endpoint, network, code) => {
      families.pubsubOpen.with(endpoint, network).add(-1);
      families.pubsubClosed.with(endpoint, String(code)).add();
    },
  };
}
