import type { Address } from "@sluice/wire/identifiers";
import { counter, createErrorEvents, type ErrorEvents, gauge, latency, type Observe } from "../../observe/index.ts";
import type { TipFloorFigures } from "./service.ts";

export const engineMetrics = {
  bundles: counter("sluice_engine_bundles_total", "Bundles submitted, by endpoint and answer", ["endpoint", "outcome"]),
  ended: counter("sluice_engine_bundles_ended_total", "Bundles that ended, by state and reason", ["state", "reason"]),
  live: gauge("sluice_engine_bundles_live", "Bundles that can still change"),
  oldest: gauge("sluice_engine_oldest_bundle_seconds", "Age of the oldest bundle that can still change; 0 without one"),
  outcomesWait: gauge(
    "sluice_engine_outcomes_wait_seconds",
    "How long ends of bundles have waited for the ledger; 0 when none waits",
  ),
  submitDuration: latency("sluice_engine_submit_duration_seconds", "Time from a bundle to its answer", ["endpoint"]),
  tickDuration: latency("sluice_engine_tick_duration_seconds", "Time that ticks with candidates took"),
  revenue: counter("sluice_engine_auction_tips_lamports_total", "Tips of the bundles that won"),
  gap: counter(
    "sluice_engine_auction_gap_lamports_total",
    "Upper bound of the distance of bounded searches from an optimum",
  ),
  delivered: counter(
    "sluice_engine_bundles_delivered_total",
    "Bundles handed to leaders, by whether the leader took them",
    ["outcome"],
  ),
  winnersFailed: counter("sluice_engine_winners_failed_total", "Winners that did not run, by reason", ["reason"]),
  validators: gauge("sluice_engine_validators", "Validators that take bundles"),
  streams: gauge("sluice_engine_streams", "Open gRPC streams, by method", ["method"]),
  calls: counter("sluice_engine_grpc_calls_total", "gRPC calls that ended, by method and status", ["method", "status"]),
  simulatorsEnded: counter(
    "sluice_engine_simulators_ended_total",
    "Processes of the simulation that ended, by reason",
    ["reason"],
  ),
  degraded: gauge("sluice_engine_degraded", "1 for each present reason for which the engine is degraded", ["reason"]),
  active: gauge("sluice_engine_active", "1 where this process runs the block engine, 0 where it stands by"),
  floor: gauge("sluice_engine_tip_floor_lamports", "The least tip of an accepted bundle"),
  utilization: gauge("sluice_engine_utilization_ratio", "Share of the recent bundle compute that bundles used"),
  blocksRead: counter("sluice_engine_blocks_total", "Confirmed blocks that the engine took, by where they came from", [
    "from",
  ]),
  blockSpace: gauge("sluice_engine_block_space_ratio", "Share of the space of the last 20 blocks that was used"),
} as const;

/**
 * Why an engine is degraded: blocks are not read, so nothing is known of what became of bundles; the chain's head
 * stands still, so nothing lands; no leader takes bundles, so only single transactions travel; no simulation runs, so
 * nothing is accepted and no winner is known to run.
 */
export const degradations = ["chain_unread", "chain_still", "no_leader", "no_simulation"] as const;
export type Degradation = (typeof degradations)[number];

export interface AuctioneerEvents extends Pick<ErrorEvents, "internalError"> {
  /** A tick had candidates and came to an end. Amounts in lamports. */
  ticked(facts: {
    readonly candidates: number;
    readonly winners: number;
    readonly revenue: bigint;
    /** How much more the best auction may have brought at most. */
    readonly gap: bigint;
    readonly durationMs: number;
  }): void;
  /** Bundles were delivered to a leader, or the leader did not take them. */
  delivered(bundles: number, taken: boolean): void;
  /** A winner failed on the state that earlier winners left, or on a newer one. */
  winnerFailed(reason: string): void;
}

/** The pool at one moment, milliseconds. */
export interface BundlePoolFigures {
  /** Bundles that can still change. */
  readonly live: number;
  readonly oldestMs: number;
  readonly outcomesWaitMs: number;
}

export interface EngineEvents extends AuctioneerEvents, ErrorEvents {
  /** A bundle was answered: `accepted`, `known`, or the reason of its refusal. */
  submitted(endpoint: string, outcome: string, latencyMs: number): void;
  bundleEnded(state: string, reason: string): void;
  /** A block was taken: as the flow of this process told it, or read from a node. */
  blockRead(from: "flow" | "node"): void;
  /** Reported periodically. */
  observed(now: BundlePoolFigures & Pick<TipFloorFigures, "floor" | "utilization" | "bundleShare">): void;
  validatorConnected(identity: Address): void;
  validatorGone(identity: Address, why: string): void;
  callEnded(method: string, status: string): void;
  streamOpened(method: string): void;
  streamClosed(method: string): void;
  machineEnded(reason: string): void;
  /** The reasons for which the engine is degraded, whenever they change; empty when it is well again. */
  degraded(reasons: readonly Degradation[]): void;
  /** An operation on the chain or the stores failed; it is tried again. */
  retryableError(what: string, error: unknown): void;
  /** A REST request was answered. */
  answered(route: string, status: number): void;
}

/** What this process does for the block engine. */
export interface EngineRoleEvents {
  roleChanged(role: "active" | "standby"): void;
}

function lifecycleEvents({ log, metrics }: Observe) {
  const { validators, degraded, active } = metrics.register(engineMetrics);
  let present: readonly string[] = [];
  return {
    validatorConnected: (identity: Address) => {
      validators.with().add(1);
      log.info({ identity }, "a validator takes bundles");
    },
    validatorGone: (identity: Address, why: string) => {
      validators.with().add(-1);
      log.info({ identity, why }, "a validator no longer takes bundles");
    },
    degraded: (reasons: readonly Degradation[]) => {
      for (const reason of present) degraded.with(reason).set(0);
      present = reasons;
      for (const reason of present) degraded.with(reason).set(1);
      if (present.length > 0) log.warn({ reasons }, "the block engine is degraded");
      else log.info({}, "the block engine is no longer degraded");
    },
    roleChanged: (role: "active" | "standby") => {
      active.with().set(role === "active" ? 1 : 0);
      log.info({ role }, "the role of this process for the block engine changed");
    },
  };
}

export function createEngineEvents(observe: Observe): EngineEvents & EngineRoleEvents {
  const { log, metrics } = observe;
  const families = metrics.register(engineMetrics);
  return {
    ...createErrorEvents(observe),
    ...lifecycleEvents(observe),
    submitted: (endpoint, outcome, latencyMs) => {
      families.bundles.with(endpoint, outcome).add();
      families.submitDuration.with(endpoint).observe(latencyMs / 1_000);
    },
    bundleEnded: (state, reason) => families.ended.with(state, reason).add(),
    blockRead: (from) => families.blocksRead.with(from).add(),
    observed: ({ live, oldestMs, outcomesWaitMs, floor, utilization, bundleShare }) => {
      families.live.with().set(live);
      families.oldest.with().set(oldestMs / 1_000);
      families.outcomesWait.with().set(outcomesWaitMs / 1_000);
      families.floor.with().set(Number(floor));
      families.utilization.with().set(bundleShare);
      families.blockSpace.with().set(utilization);
    },
    ticked: ({ revenue, gap, durationMs }) => {
      families.tickDuration.with().observe(durationMs / 1_000);
      families.revenue.with().add(Number(revenue));
      families.gap.with().add(Number(gap));
    },
    delivered: (bundles, taken) => families.delivered.with(taken ? "taken" : "refused").add(bundles),
    winnerFailed: (reason) => families.winnersFailed.with(reason).add(),
    callEnded: (method, status) => families.calls.with(method, status).add(),
    answered: (route, status) => families.calls.with(route, String(status)).add(),
    streamOpened: (method) => families.streams.with(method).add(1),
    streamClosed: (method) => families.streams.with(method).add(-1),
    machineEnded: (reason) => {
      families.simulatorsEnded.with(reason).add();
      log.warn({ reason }, "a simulation process ended and is restarted");
    },
    retryableError: (what, error) => log.warn({ what, error }, "the block engine retries a failed operation"),
  };
}
