import type { Log } from "./log.ts";
import { eventMetrics, type MetricDefinition } from "./metric-table.ts";
import type { Metrics } from "./metrics.ts";

/** What a tick of the auction came to. Lamports; milliseconds. */
export interface EngineTick {
  readonly candidates: number;
  readonly winners: number;
  readonly revenue: bigint;
  readonly gap: bigint;
  readonly durationMs: number;
}

/** What happens in the block engine. */
export interface EngineHappenings {
  /** A bundle was answered: `accepted`, `known`, or the reason of its refusal. */
  engineSubmitted(door: string, outcome: string, latencyMs: number): void;
  engineBundleEnded(state: string, reason: string): void;
  /** Told now and then. */
  engineObserved(now: { readonly live: number; readonly floor: bigint; readonly utilization: number }): void;
  engineTicked(tick: EngineTick): void;
  engineDelivered(bundles: number, taken: boolean): void;
  engineWinnerFailed(reason: string): void;
  engineValidatorConnected(identity: string): void;
  engineValidatorGone(identity: string, why: string): void;
  engineCallEnded(method: string, status: string): void;
  engineStreamOpened(method: string): void;
  engineStreamClosed(method: string): void;
  engineMachineEnded(reason: string): void;
  /** What keeps the engine from what it is there for; none where all is well again. */
  engineDegraded(reasons: readonly string[]): void;
  /** This process keeps the book of bundles now, or stands by while another one does. */
  engineRoleChanged(role: "active" | "standby"): void;
  /** Something that the engine asks of its chain or its stores did not come; it is asked for again. */
  engineHeldUp(what: string, fault: unknown): void;
}

function register(metrics: Metrics) {
  const count = ({ name, help, labels }: MetricDefinition) => metrics.counter(name, help, labels);
  const gauge = ({ name, help, labels }: MetricDefinition) => metrics.gauge(name, help, labels);
  const latency = ({ name, help, labels, buckets }: MetricDefinition) => metrics.histogram(name, help, labels, buckets);
  return {
    bundles: count(eventMetrics.engineBundles),
    ended: count(eventMetrics.engineBundlesEnded),
    live: gauge(eventMetrics.engineBundlesLive),
    submitDuration: latency(eventMetrics.engineSubmitDuration),
    tickDuration: latency(eventMetrics.engineTickDuration),
    revenue: count(eventMetrics.engineAuctionRevenue),
    gap: count(eventMetrics.engineAuctionGap),
    delivered: count(eventMetrics.engineDelivered),
    winnersFailed: count(eventMetrics.engineWinnersFailed),
    validators: gauge(eventMetrics.engineValidators),
    streams: gauge(eventMetrics.engineStreams),
    calls: count(eventMetrics.engineCalls),
    machinesEnded: count(eventMetrics.engineMachinesEnded),
    degraded: gauge(eventMetrics.engineDegraded),
    active: gauge(eventMetrics.engineActive),
    floor: gauge(eventMetrics.engineTipFloor),
    utilization: gauge(eventMetrics.engineUtilization),
  };
}

const milliseconds = 1_000;

export function engineEvents(metrics: Metrics, log: Log): EngineHappenings {
  const families = register(metrics);
  let lacking: readonly string[] = [];
  return {
    engineSubmitted: (door, outcome, latencyMs) => {
      families.bundles.with(door, outcome).add();
      families.submitDuration.with(door).observe(latencyMs / milliseconds);
    },
    engineBundleEnded: (state, reason) => families.ended.with(state, reason).add(),
    engineObserved: ({ live, floor, utilization }) => {
      families.live.with().set(live);
      families.floor.with().set(Number(floor));
      families.utilization.with().set(utilization);
    },
    engineTicked: ({ revenue, gap, durationMs }) => {
      families.tickDuration.with().observe(durationMs / milliseconds);
      families.revenue.with().add(Number(revenue));
      families.gap.with().add(Number(gap));
    },
    engineDelivered: (bundles, taken) => families.delivered.with(taken ? "taken" : "refused").add(bundles),
    engineWinnerFailed: (reason) => families.winnersFailed.with(reason).add(),
    engineValidatorConnected: (identity) => {
      families.validators.with().add(1);
      log.info({ identity }, "a validator takes bundles");
    },
    engineValidatorGone: (identity, why) => {
      families.validators.with().add(-1);
      log.info({ identity, why }, "a validator takes no more bundles");
    },
    engineCallEnded: (method, status) => families.calls.with(method, status).add(),
    engineStreamOpened: (method) => families.streams.with(method).add(1),
    engineStreamClosed: (method) => families.streams.with(method).add(-1),
    engineMachineEnded: (reason) => {
      families.machinesEnded.with().add();
      log.warn({ reason }, "a process of the simulation ended and is started again");
    },
    engineDegraded: (reasons) => {
      for (const reason of lacking) families.degraded.with(reason).set(0);
      lacking = reasons;
      for (const reason of lacking) families.degraded.with(reason).set(1);
      if (lacking.length > 0) log.warn({ reasons }, "the block engine is degraded");
      else log.info({}, "the block engine is no longer degraded");
    },
    engineRoleChanged: (role) => {
      families.active.with().set(role === "active" ? 1 : 0);
      const said = role === "active" ? "keeps the book of bundles" : "stands by: another process keeps the book";
      log.info({ role }, `the block engine of this process ${said}`);
    },
    engineHeldUp: (what, fault) => log.warn({ what, fault }, "the block engine waits for what did not come"),
  };
}
