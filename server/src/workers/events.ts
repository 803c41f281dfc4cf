import { counter, gauge, type Observe } from "../observe/index.ts";

export const workersMetrics = {
  workers: gauge("sluice_workers", "Workers that this host is to run; absent where one process serves alone"),
  workersServing: gauge("sluice_workers_serving", "Workers that serve"),
  workerRestarts: counter("sluice_worker_restarts_total", "Workers that ended by themselves, or could not be started", [
    "reason",
  ]),
  rollingRestarts: counter(
    "sluice_rolling_restarts_total",
    "Restarts of the workers one at a time, by how they ended",
    ["outcome"],
  ),
  places: gauge("sluice_worker_connection_places", "WebSocket connections of accounts that the parent has counted"),
  logDropped: counter(
    "sluice_worker_log_lines_dropped_total",
    "Log lines of workers dropped since the reader was slow",
  ),
} as const;

/** What becomes of the workers of a host. */
export interface WorkersEvents {
  workersOpened(read: { readonly wanted: number; readonly serving: () => number; readonly places: () => number }): void;
  /** A worker ended by itself, or could not be started again; the supervisor logs it. */
  workerFailed(reason: "ended" | "not_started"): void;
  workerLogDropped(read: () => number): void;
  rollingRestartBegan(): void;
  rollingRestartEnded(outcome: { readonly restarted: readonly number[]; readonly stoppedBy: string | null }): void;
}

export function createWorkersEvents({ log, metrics }: Observe): WorkersEvents {
  const families = metrics.register(workersMetrics);
  return {
    workersOpened: ({ wanted, serving, places }) => {
      families.workers.with().set(wanted);
      families.workersServing.readFrom(serving);
      families.places.readFrom(places);
    },
    workerFailed: (reason) => families.workerRestarts.with(reason).add(),
    workerLogDropped: (read) => families.logDropped.readFrom(read),
    rollingRestartBegan: () => log.info({}, "the workers are restarted one at a time"),
    rollingRestartEnded: ({ restarted, stoppedBy }) => {
      families.rollingRestarts.with(stoppedBy === null ? "done" : "stopped").add();
      if (stoppedBy === null) log.info({ restarted }, "all workers were restarted");
      else
        log.warn(
          { restarted, reason: stoppedBy },
          "the restart of the workers has stopped; the others go on as they were",
        );
    },
  };
}
