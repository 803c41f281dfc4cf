import type { Log } from "@sluice/lib";
import type { DescriptorEvents } from "./descriptors.ts";
import type { RootLog } from "./log.ts";
import { counter, gauge, latency } from "./metric-definitions.ts";
import type { Metrics } from "./metrics.ts";
import { createRequestEvents, type RequestEvents, type RequestEventsOptions } from "./request-events.ts";

/** The log and the metrics that a room's events feed. */
export interface Observe {
  readonly log: Log;
  readonly metrics: Metrics;
}

/** Metrics of the process as a whole. */
export const serverMetrics = {
  errors: counter("sluice_faults_total", "Internal errors, each of which is logged as an error", ["where"]),
  childRestarts: counter("sluice_child_restarts_total", "Restarts of a child process", ["child"]),
  logDropped: counter("sluice_log_lines_dropped_total", "Log lines dropped because the reader was too slow"),
  info: gauge("sluice_server_info", "1, with the version and the mode as labels", ["version", "mode"]),
  storeUp: gauge("sluice_store_up", "1 while a store answers, 0 while it does not", ["store", "driver"]),
  storeAnswer: latency("sluice_store_answer_seconds", "Time that a store took to answer a question of nothing", [
    "store",
  ]),
  storeFailures: counter("sluice_store_failures_total", "Such questions that a store did not answer", ["store"]),
  storeFailedAt: gauge("sluice_store_last_failure_timestamp_seconds", "When a store did not answer the last time", [
    "store",
  ]),
  schemaKnown: gauge("sluice_schema_known", "The newest migration of a store that this process knows, by its number", [
    "store",
  ]),
  schemaStored: gauge("sluice_schema_stored", "The newest migration that was applied to a store, by its number", [
    "store",
  ]),
  schemaMissing: gauge(
    "sluice_schema_missing",
    "Migrations that this process knows and that were not applied to a store",
    ["store"],
  ),
  roleReady: gauge("sluice_role_ready", "1 while a role that this process runs serves, as GET /ready says", ["role"]),
  startDuration: gauge("sluice_server_start_duration_seconds", "Time from the start to the first open endpoint"),
} as const;

/** An unexpected error: a defect of the server, which a client sees as INTERNAL_ERROR. */
export interface ErrorEvents {
  /** The only event that is logged with level `error`. `where` names the part of the server. */
  internalError(where: string, error: unknown, fields?: { readonly requestId?: string }): void;
}

/** Restarts of child processes. */
export interface ChildEvents {
  childRestarted(child: string, reason: string): void;
}

/** What is known of a store: asked once a second or so, by a question of nothing. */
export interface StoreCondition {
  readonly store: string;
  readonly driver: string;
  readonly isUp: boolean;
  /** Since when it is as it is, Unix milliseconds. */
  readonly sinceMs: number;
  /** How long it took to answer the last time that it did; null before. */
  readonly latencyMs: number | null;
  /** Why and when (Unix milliseconds) it did not answer the last time; null where it always did. */
  readonly lastFailure: { readonly reason: string; readonly atMs: number } | null;
}

/** The migrations of a store: what it has, and what a process knows. */
export interface StoreSchema {
  /** The number of the newest that the process knows. */
  readonly known: number;
  /** The number of the newest that was applied, which a later version may have done. */
  readonly stored: number;
  /** How many the process knows that were not applied. */
  readonly missing: number;
}

/** What becomes of the stores. */
export interface StoreEvents {
  /** Once a minute. */
  schemaSeen(store: string, schema: StoreSchema): void;
  /** With each answer, or each question that had none; the log is told when it changes. */
  storeSeen(condition: StoreCondition, before: Pick<StoreCondition, "isUp" | "sinceMs">): void;
}

/** Events of all endpoints and of the process as a whole. */
export interface ServerEvents extends ErrorEvents, ChildEvents, DescriptorEvents, RequestEvents, StoreEvents {
  /** `endpoints` holds the address of each by its name. */
  serverStarted(fields: {
    readonly version: string;
    readonly mode: string;
    readonly startMs: number;
    readonly endpoints: Readonly<Record<string, string>>;
  }): void;
  /** A server of which nobody can use anything yet; `next` is the command that changes that. */
  accountsMissing(fields: { readonly next: string }): void;
  /** Reported every two seconds. */
  roleServes(role: string, isReady: boolean): void;
  /** A role serves again, or no longer, and then why. */
  roleChanged(role: string, change: { readonly isReady: boolean; readonly reasons: readonly object[] }): void;
  /** How the parts do a minute after the start. */
  startSummarised(fields: {
    readonly parts: Readonly<Record<string, string>>;
    readonly reasons: readonly object[];
    readonly prices?: object;
  }): void;
  serverStopping(reason: string): void;
  serverStopped(): void;
}

export function createErrorEvents({ log, metrics }: Observe): ErrorEvents {
  const { errors } = metrics.register({ errors: serverMetrics.errors });
  return {
    internalError: (where, error, fields = {}) => {
      errors.with(where).add();
      log.error({ ...fields, where, error }, "internal error");
    },
  };
}

export function createChildEvents({ log, metrics }: Observe): ChildEvents {
  const { childRestarts } = metrics.register({ childRestarts: serverMetrics.childRestarts });
  return {
    childRestarted: (child, reason) => {
      childRestarts.with(child).add();
      log.warn({ child, reason }, "child process is restarted");
    },
  };
}

/** Creates the events that all endpoints share. Call it once for each process. */
export function createServerEvents(
  observe: { readonly log: Log & Partial<Pick<RootLog, "dropped">>; readonly metrics: Metrics },
  options: RequestEventsOptions = {},
): ServerEvents {
  const { log, metrics } = observe;
  const families = metrics.register(serverMetrics);
  families.logDropped.readFrom(() => log.dropped?.() ?? 0);
  return {
    ...createErrorEvents(observe),
    ...createChildEvents(observe),
    ...createRequestEvents(metrics, options),
    storeSeen: (condition, before) => {
      const { store, driver, isUp, sinceMs, latencyMs, lastFailure } = condition;
      families.storeUp.with(store, driver).set(isUp ? 1 : 0);
      if (isUp) families.storeAnswer.with(store).observe((latencyMs ?? 0) / 1_000);
      else {
        families.storeFailures.with(store).add();
        families.storeFailedAt.with(store).set((lastFailure?.atMs ?? 0) / 1_000);
      }
      if (isUp === before.isUp) return;
      if (isUp) log.info({ store, driver, awayMs: sinceMs - before.sinceMs }, "a store answers again");
      else log.warn({ store, driver, reason: lastFailure?.reason ?? "" }, "a store does not answer");
    },
    schemaSeen: (store, { known, stored, missing }) => {
      families.schemaKnown.with(store).set(known);
      families.schemaStored.with(store).set(stored);
      families.schemaMissing.with(store).set(missing);
    },
    serverStarted: (fields) => {
      families.info.with(fields.version, fields.mode).set(1);
      families.startDuration.with().set(fields.startMs / 1_000);
      log.info(fields, "server is ready");
    },
    accountsMissing: (fields) => log.info(fields, "there is no account yet"),
    descriptorsScarce: (fields) => log.warn(fields, "file descriptors are running out: raise the process's limit"),
    descriptorsSufficient: (fields) => log.info(fields, "file descriptors suffice again"),
    roleServes: (role, isReady) => families.roleReady.with(role).set(isReady ? 1 : 0),
    roleChanged: (role, { isReady, reasons }) => {
      if (isReady) log.info({ role }, "a role serves again");
      else log.warn({ role, reasons }, "a role does not serve");
    },
    startSummarised: (fields) => {
      const states = Object.values(fields.parts);
      const isFine = states.every((state) => state === "ok" || state === "standby" || state === "maintenance");
      if (isFine) log.info(fields, "a minute after the start all parts do as they should");
      else log.warn(fields, "a minute after the start some parts do not do as they should");
    },
    serverStopping: (reason) => log.info({ reason }, "server is stopping"),
    serverStopped: () => log.info({}, "server has stopped"),
  };
}
