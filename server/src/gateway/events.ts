import type { ErrorCode } from "@sluice/contract/errors";
import { counter, createErrorEvents, type ErrorEvents, type Observe } from "../observe/index.ts";

export const gatewayMetrics = {
  largeAnswers: counter(
    "sluice_large_answers_total",
    "Answers forwarded while they arrived, by their end: whole, cut by the node, left by the client",
    ["network", "end"],
  ),
} as const;

export interface GatewayEvents extends ErrorEvents {
  /** A request that was refused before its account was known. */
  requestRefused(endpoint: string, code: ErrorCode): void;
  /** An answer that was forwarded while it arrived has ended: whole, cut by its node, or left by its client. */
  largeAnswerEnded(network: string, how: "whole" | "cut" | "left"): void;
}

/** The gateway's events but for refusals, which are counted for all endpoints together. */
export function createGatewayEvents(observe: Observe): Omit<GatewayEvents, "requestRefused"> {
  const families = observe.metrics.register(gatewayMetrics);
  return {
    ...createErrorEvents(observe),
    largeAnswerEnded: (network, how) => families.largeAnswers.with(network, how).add(),
  };
}
