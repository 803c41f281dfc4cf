import { counter, gauge, latency, type Observe } from "../observe/index.ts";
import type { LeftBehind } from "./process-records.ts";

/** The metrics of the state store; `pool` is the name of a pool of connections to PostgreSQL. */
export const stateMetrics = {
  poolMax: gauge("sluice_database_pool_max_connections", "Connections that a pool to PostgreSQL may open", ["pool"]),
  poolOpen: gauge("sluice_database_pool_connections", "Connections to PostgreSQL that a pool has open", ["pool"]),
  poolInUse: gauge("sluice_database_pool_connections_in_use", "Connections that a statement or transaction has", [
    "pool",
  ]),
  poolWaiting: gauge("sluice_database_pool_waiting", "Statements and transactions that wait for a connection", [
    "pool",
  ]),
  poolWait: latency("sluice_database_pool_wait_seconds", "Time that statements waited for a connection", ["pool"]),
  connectionsLost: counter("sluice_database_connections_lost_total", "Connections to PostgreSQL that were lost", [
    "pool",
  ]),
  leasesLeft: gauge(
    "sluice_leases_left_behind",
    "Leases of jobs that a process holds which is not registered any more, and that none has taken over",
  ),
  creditsLeft: gauge(
    "sluice_credits_left_behind",
    "Credits, or requests, that processes hold which are not registered any more",
    ["meter"],
  ),
  creditHoldersLeft: gauge(
    "sluice_credit_holders_left_behind",
    "Processes that hold credits, or requests, and are not registered any more",
    ["meter"],
  ),
} as const;

/** A pool of connections at one moment. */
export interface PoolFigures {
  readonly open: number;
  readonly inUse: number;
  readonly waiting: number;
}

/** Every function is cheap and must not throw. */
export interface StateEvents {
  poolOpened(pool: string, connectionsMax: number): void;
  poolChanged(pool: string, figures: PoolFigures): void;
  /** A statement got its connection, or none in time. */
  connectionAwaited(pool: string, waitedMs: number): void;
  connectionLost(pool: string): void;
  /** Once a minute. */
  leftBehind(left: LeftBehind): void;
}

/** Registers the metrics of the state store and gives the functions that feed them. */
export function createStateEvents({ metrics }: Pick<Observe, "metrics">): StateEvents {
  const families = metrics.register(stateMetrics);
  return {
    poolOpened: (pool, connectionsMax) => families.poolMax.with(pool).set(connectionsMax),
    poolChanged: (pool, { open, inUse, waiting }) => {
      families.poolOpen.with(pool).set(open);
      families.poolInUse.with(pool).set(inUse);
      families.poolWaiting.with(pool).set(waiting);
    },
    connectionAwaited: (pool, waitedMs) => families.poolWait.with(pool).observe(waitedMs / 1_000),
    connectionLost: (pool) => families.connectionsLost.with(pool).add(),
    leftBehind: ({ leases, books }) => {
      families.leasesLeft.with().set(leases);
      for (const [meter, { processes, amount }] of Object.entries(books)) {
        families.creditHoldersLeft.with(meter).set(processes);
        families.creditsLeft.with(meter).set(Number(amount));
      }
    },
  };
}
