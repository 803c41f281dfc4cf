import type { ErrorCode } from "@sluice/contract/errors";
import type { Network } from "@sluice/contract/tiers";
import type { Log } from "./log.ts";
import type { CounterHandle, Family, GaugeHandle, HistogramHandle } from "./metric-families.ts";
import { otherLabel } from "./metric-families.ts";
import { eventMetrics, type MetricDefinition } from "./metric-table.ts";
import type { Metrics } from "./metrics.ts";
import { type PubSubHappenings, pubsubEvents } from "./pubsub-events.ts";
import { RequestHandles } from "./request-handles.ts";
import { type ServiceHappenings, serviceEvents } from "./service-events.ts";
import { type SharingHappenings, sharingEvents } from "./sharing-events.ts";

/** A request that was answered, whoever gave the answer. */
export interface RequestServed {
  readonly door: string;
  /** Empty where a door serves no network. */
  readonly network: string;
  /** A JSON-RPC method, or the pattern of a REST path; never what a caller made up. */
  readonly method: string;
  readonly status: number;
  readonly rpcCode: number | null;
  readonly latencyMs: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
  readonly credits: number;
}

export type UpstreamOutcome = "ok" | "rpc-error" | "timeout" | "unreachable" | "invalid" | "limited" | "refused";
export type CacheOutcome = "hit" | "miss" | "coalesced" | "bypass";
export type KeyCacheOutcome = "hit" | "negative" | "miss" | "malformed";

export interface UpstreamState {
  readonly network: Network;
  readonly upstream: string;
  readonly health: "healthy" | "cordoned" | "down";
  readonly slotLag: number | null;
}

/** One function for each thing that happens in the business; each counts, and logs what a person should see. */
export interface Events extends PubSubHappenings, ServiceHappenings, SharingHappenings {
  requestServed(fact: RequestServed): void;
  /** What passed over a connection that goes on, since the last time; `requestServed` tells its end and the rest. */
  connectionPassed(fact: Omit<RequestServed, "rpcCode" | "latencyMs">): void;
  requestRefused(door: string, code: ErrorCode): void;
  upstreamCalled(network: string, upstream: string, outcome: UpstreamOutcome, latencyMs: number): void;
  /** A call beyond the client's own: a hedge, a repeat elsewhere, or a trial of a node that is out. */
  extraCall(network: string, upstream: string, reason: string): void;
  /** What became of a transaction that was sent is known: finalized, failed or expired. */
  transactionSettled(network: string, state: string): void;
  /** No node had reached the slot that a key had seen before; the best one answered. */
  floorMissed(network: string): void;
  /** Told on every probe; logged only when the health changes. */
  upstreamObserved(state: UpstreamState): void;
  cacheOutcome(network: string, cacheClass: string, outcome: CacheOutcome): void;
  cacheSized(bytes: number): void;
  keyCacheOutcome(outcome: KeyCacheOutcome): void;
  ledgerFlushed(table: string, rows: number, latencyMs: number): void;
  ledgerDropped(table: string, rows: number, reason: string): void;
  childStarted(child: string, fields?: object): void;
  childRestarted(child: string, reason: string): void;
  /** An answer that was passed on while it came has ended: whole, cut by its node, or left by its client. */
  largeAnswerEnded(network: string, how: string): void;
  nameAnswered(kind: string, source: string): void;
  namesNodeAsked(answered: boolean, latencyMs: number): void;
  /** Which name programs the resolver found on its chain. */
  namesProgramsFound(found: { readonly nameProgram: string | null; readonly handleProgram: string | null }): void;
  namesSeveralServices(labels: readonly string[]): void;
  /** A fault of ours, which a client saw as INTERNAL_ERROR: the only event that is logged as an error. */
  internalError(where: string, error: unknown, fields?: { readonly requestId?: string }): void;
  serverStarted(fields: { readonly version: string; readonly mode: string; readonly startMs: number }): void;
  serverStopping(reason: string): void;
  serverStopped(): void;
}

export interface EventsOptions {
  /** The methods that are counted by name; any other is counted as `other`. Without it every name is taken as known. */
  readonly methods?: Iterable<string>;
}

const milliseconds = 1000;

function register(metrics: Metrics) {
  const count = ({ name, help, labels }: MetricDefinition): Family<CounterHandle> =>
    metrics.counter(name, help, labels);
  const gauge = ({ name, help, labels }: MetricDefinition): Family<GaugeHandle> => metrics.gauge(name, help, labels);
  const time = ({ name, help, labels, buckets }: MetricDefinition): Family<HistogramHandle> =>
    metrics.histogram(name, help, labels, buckets);
  return {
    requests: count(eventMetrics.requests),
    requestDuration: time(eventMetrics.requestDuration),
    requestBytes: count(eventMetrics.requestBytes),
    responseBytes: count(eventMetrics.responseBytes),
    credits: count(eventMetrics.credits),
    rpcErrors: count(eventMetrics.rpcErrors),
    refusals: count(eventMetrics.refusals),
    upstreamCalls: count(eventMetrics.upstreamCalls),
    upstreamDuration: time(eventMetrics.upstreamDuration),
    upstreamExtra: count(eventMetrics.upstreamExtra),
    floorMissed: count(eventMetrics.floorMissed),
    sentSettled: count(eventMetrics.sentSettled),
    upstreamSlotLag: gauge(eventMetrics.upstreamSlotLag),
    upstreamHealthy: gauge(eventMetrics.upstreamHealthy),
    cache: count(eventMetrics.cache),
    cacheBytes: gauge(eventMetrics.cacheBytes),
    keyCache: count(eventMetrics.keyCache),
    ledgerRows: count(eventMetrics.ledgerRows),
    ledgerFlush: time(eventMetrics.ledgerFlush),
    ledgerDropped: count(eventMetrics.ledgerDropped),
    childRestarts: count(eventMetrics.childRestarts),
    largeAnswers: count(eventMetrics.largeAnswers),
    faults: count(eventMetrics.faults),
    namesAnswered: count(eventMetrics.namesAnswered),
    namesCalls: count(eventMetrics.namesCalls),
    namesDuration: time(eventMetrics.namesDuration),
    serverInfo: gauge(eventMetrics.serverInfo),
    serverStart: gauge(eventMetrics.serverStart),
  };
}

type Families = ReturnType<typeof register>;

function requestEvents(families: Families, log: Log, options: EventsOptions) {
  const handles = new RequestHandles(
    families,
    options.methods === undefined ? null : new Set(options.methods),
    otherLabel,
  );
  return {
    connectionPassed: (fact: Omit<RequestServed, "rpcCode" | "latencyMs">) => {
      const handle = handles.find(fact.door, fact.network, fact.method, fact.status);
      handle.bytesIn.add(fact.bytesIn);
      handle.bytesOut.add(fact.bytesOut);
      if (fact.credits !== 0) handle.credits.add(fact.credits);
    },
    requestServed: (fact: RequestServed) => {
      const handle = handles.find(fact.door, fact.network, fact.method, fact.status);
      handle.requests.add();
      handle.duration.observe(fact.latencyMs / milliseconds);
      handle.bytesIn.add(fact.bytesIn);
      handle.bytesOut.add(fact.bytesOut);
      if (fact.credits !== 0) handle.credits.add(fact.credits);
      if (fact.rpcCode !== null) families.rpcErrors.with(fact.network, String(fact.rpcCode)).add();
    },
    requestRefused: (door: string, code: ErrorCode) => families.refusals.with(door, code).add(),
    internalError: (where: string, error: unknown, fields: { readonly requestId?: string } = {}) => {
      families.faults.with(where).add();
      log.error({ ...fields, where, error }, "internal error");
    },
  };
}

function upstreamEvents(families: Families, log: Log) {
  const healthOf = new Map<string, string>();
  return {
    upstreamCalled: (network: string, upstream: string, outcome: UpstreamOutcome, latencyMs: number) => {
      families.upstreamCalls.with(network, upstream, outcome).add();
      families.upstreamDuration.with(network, upstream).observe(latencyMs / milliseconds);
    },
    extraCall: (network: string, upstream: string, reason: string) =>
      families.upstreamExtra.with(network, upstream, reason).add(),
    transactionSettled: (network: string, state: string) => families.sentSettled.with(network, state).add(),
    floorMissed: (network: string) => families.floorMissed.with(network).add(),
    upstreamObserved: ({ network, upstream, health, slotLag }: UpstreamState) => {
      families.upstreamHealthy.with(network, upstream).set(health === "healthy" ? 1 : 0);
      if (slotLag !== null) families.upstreamSlotLag.with(network, upstream).set(slotLag);
      const name = `${network}/${upstream}`;
      const before = healthOf.get(name);
      if (before === health) return;
      healthOf.set(name, health);
      const fields = { network, upstream, health, slotLag };
      if (health === "healthy") log.info(fields, before === undefined ? "node is healthy" : "node is healthy again");
      else log.warn(fields, `node is ${health}`);
    },
    cacheOutcome: (network: string, cacheClass: string, outcome: CacheOutcome) =>
      families.cache.with(network, cacheClass, outcome).add(),
    cacheSized: (bytes: number) => families.cacheBytes.with().set(bytes),
    keyCacheOutcome: (outcome: KeyCacheOutcome) => families.keyCache.with(outcome).add(),
  };
}

function partEvents(families: Families, log: Log) {
  return {
    ledgerFlushed: (table: string, rows: number, latencyMs: number) => {
      families.ledgerRows.with(table).add(rows);
      families.ledgerFlush.with(table).observe(latencyMs / milliseconds);
    },
    ledgerDropped: (table: string, rows: number, reason: string) => {
      families.ledgerDropped.with(table, reason).add(rows);
      log.warn({ table, rows, reason }, "ledger rows were dropped");
    },
    childStarted: (child: string, fields: object = {}) => log.info({ ...fields, child }, "child process is ready"),
    childRestarted: (child: string, reason: string) => {
      families.childRestarts.with(child).add();
      log.warn({ child, reason }, "child process is restarted");
    },
    largeAnswerEnded: (network: string, how: string) => families.largeAnswers.with(network, how).add(),
  };
}

function namesEvents(families: Families, log: Log) {
  return {
    nameAnswered: (kind: string, source: string) => families.namesAnswered.with(kind, source).add(),
    namesNodeAsked: (answered: boolean, latencyMs: number) => {
      families.namesCalls.with(answered ? "ok" : "failed").add();
      families.namesDuration.with().observe(latencyMs / milliseconds);
    },
    namesProgramsFound: (found: { readonly nameProgram: string | null; readonly handleProgram: string | null }) => {
      if (found.nameProgram === null) log.warn(found, "the chain carries no name program: domains do not resolve");
      else if (found.handleProgram === null)
        log.warn(found, "the chain carries no handle program: handles do not resolve");
      else log.info(found, "name programs found");
    },
    namesSeveralServices: (labels: readonly string[]) =>
      log.warn({ labels }, "several name services are on the chain: the first is used"),
  };
}

function serverEvents(families: Families, log: Log) {
  return {
    serverStarted: (fields: { readonly version: string; readonly mode: string; readonly startMs: number }) => {
      families.serverInfo.with(fields.version, fields.mode).set(1);
      families.serverStart.with().set(fields.startMs / milliseconds);
      log.info(fields, "server is ready");
    },
    serverStopping: (reason: string) => log.info({ reason }, "server is stopping"),
    serverStopped: () => log.info({}, "server has stopped"),
  };
}

/** Registers the metrics of `metric-table.ts` and gives the functions that feed them. Call it once for each registry. */
export function createEvents(
  observe: { readonly log: Log & { dropped?(): number }; readonly metrics: Metrics },
  options: EventsOptions = {},
): Events {
  const { log } = observe;
  const families = register(observe.metrics);
  const { logDropped } = eventMetrics;
  observe.metrics.observed("counter", logDropped.name, logDropped.help, () => log.dropped?.() ?? 0);
  return {
    ...requestEvents(families, log, options),
    ...upstreamEvents(families, log),
    ...sharingEvents(observe.metrics, log),
    ...partEvents(families, log),
    ...pubsubEvents(observe.metrics),
    ...namesEvents(families, log),
    ...serviceEvents(observe.metrics, log),
    ...serverEvents(families, log),
  };
}
