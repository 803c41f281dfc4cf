import type { ErrorCode } from "@sluice/contract/errors";
import { counter, createErrorEvents, type ErrorEvents, gauge, type Observe } from "../observe/index.ts";

export const gatewayMetrics = {
  largeAnswers: counter(
    "sluice_large_answers_total",
    "Answers forwarded while they arrived, by their end: whole, cut by the node, left by the client",
    ["network", "end"],
  ),
  pubsubOpen: gauge("sluice_pubsub_connections", "Open WebSocket connections", ["endpoint", "network"]),
  pubsubWaited: counter(
    "sluice_pubsub_waited_total",
    "Messages to WebSocket clients that waited because the messages a second of their account were used up",
    ["endpoint", "network"],
  ),
  pubsubMoved: counter("sluice_pubsub_moved_total", "WebSocket clients that were moved to another node", [
    "endpoint",
    "network",
  ]),
  pubsubClosed: counter("sluice_pubsub_closed_total", "WebSocket connections closed, by close code", [
    "endpoint",
    "code",
  ]),
} as const;

export interface GatewayEvents extends ErrorEvents {
  /** A request that was refused before its account was known. */
  requestRefused(endpoint: string, code: ErrorCode): void;
  /** An answer that was forwarded while it arrived has ended: whole, cut by its node, or left by its client. */
  largeAnswerEnded(network: string, how: "whole" | "cut" | "left"): void;
  pubsubOpened(endpoint: string, network: string): void;
  pubsubClosed(endpoint: string, network: string, code: number): void;
  /** A message could not be sent at once, for the messages a second of its account. */
  pubsubWaited(endpoint: string, network: string): void;
  /** A client continues with another node. */
  pubsubMoved(endpoint: string, network: string): void;
}

/** The gateway's events but for refusals, which are counted for all endpoints together. */
export function createGatewayEvents(observe: Observe): Omit<GatewayEvents, "requestRefused"> {
  const families = observe.metrics.register(gatewayMetrics);
  return {
    ...createErrorEvents(observe),
    largeAnswerEnded: (network, how) => families.largeAnswers.with(network, how).add(),
    pubsubOpened: (endpoint, network) => families.pubsubOpen.with(endpoint, network).add(1),
    pubsubWaited: (endpoint, network) => families.pubsubWaited.with(endpoint, network).add(),
    pubsubMoved: (endpoint, network) => families.pubsubMoved.with(endpoint, network).add(),
    pubsubClosed: (endpoint, network, code) => {
      families.pubsubOpen.with(endpoint, network).add(-1);
      families.pubsubClosed.with(endpoint, String(code)).add();
    },
  };
}
