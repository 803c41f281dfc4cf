import type { Network } from "@sluice/contract/tiers";
import { counter, createErrorEvents, type ErrorEvents, gauge, latency, type Observe } from "../observe/index.ts";

/** The metrics of the upstreams. */
export const upstreamMetrics = {
  calls: counter("sluice_upstream_calls_total", "Calls to nodes", ["network", "upstream", "outcome"]),
  duration: latency("sluice_upstream_call_duration_seconds", "Time that a node took to answer", [
    "network",
    "upstream",
  ]),
  extra: counter("sluice_upstream_extra_calls_total", "Calls to nodes beyond the clients' own, by reason", [
    "network",
    "upstream",
    "reason",
  ]),
  floorMissed: counter("sluice_slot_floor_missed_total", "Calls for which no node had reached the slot seen before", [
    "network",
  ]),
  slotLag: gauge("sluice_upstream_slot_lag", "Slots behind the best node of the network", ["network", "upstream"]),
  healthy: gauge("sluice_upstream_healthy", "1 when a node may be chosen, 0 when it is cordoned or down", [
    "network",
    "upstream",
  ]),
} as const;

/** Why a call was sent beside the one that the client requested. */
export type ExtraCall = "hedge" | "stalled" | "retry" | "stale" | "mirrored";

/** The health of one node, for metrics and log lines. */
interface UpstreamState {
  readonly network: Network;
  readonly upstream: string;
  readonly health: "healthy" | "cordoned" | "down";
  readonly slotLag: number | null;
}

/** The events of calls to nodes. */
export interface UpstreamCallEvents extends ErrorEvents {
  upstreamCalled(
    network: string,
    upstream: string,
    outcome: "ok" | "rpc-error" | "timeout" | "unreachable" | "invalid" | "refused",
    latencyMs: number,
  ): void;
  /** A call beyond the client's own was sent: a hedge, a repeat elsewhere, or a trial of a node that is out. */
  extraCall(network: string, upstream: string, reason: ExtraCall): void;
  /** No node had reached the minimum slot of a call in time; the best one answered. */
  floorMissed(network: string): void;
}

/** The events of calls and of the health of nodes. */
export interface UpstreamEvents extends UpstreamCallEvents {
  /** Reported periodically; logged only when the health changes. */
  upstreamObserved(state: UpstreamState): void;
}

/** Registers the metrics of the upstreams and gives the functions that feed them. */
export function createUpstreamEvents(observe: Observe): UpstreamEvents {
  const { log, metrics } = observe;
  const families = metrics.register(upstreamMetrics);
  const healthOf = new Map<string, string>();
  return {
    ...createErrorEvents(observe),
    upstreamCalled: (network, upstream, outcome, latencyMs) => {
      families.calls.with(network, upstream, outcome).add();
      families.duration.with(network, upstream).observe(latencyMs / 1_000);
    },
    extraCall: (network, upstream, reason) => families.extra.with(network, upstream, reason).add(),
    floorMissed: (network) => families.floorMissed.with(network).add(),
    upstreamObserved: ({ network, upstream, health, slotLag }) => {
      families.healthy.with(network, upstream).set(health === "healthy" ? 1 : 0);
      if (slotLag !== null) families.slotLag.with(network, upstream).set(slotLag);
      const name = `${network}/${upstream}`;
      const before = healthOf.get(name);
      if (before === health) return;
      healthOf.set(name, health);
      const fields = { network, upstream, health, slotLag };
      if (health === "healthy") log.info(fields, "the health of a node changed");
      else log.warn(fields, "the health of a node changed");
    },
  };
}
