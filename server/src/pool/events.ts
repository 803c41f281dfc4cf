import { counter, createErrorEvents, type ErrorEvents, gauge, latency, type Observe } from "../observe/index.ts";

export const poolMetrics = {
  readings: counter("sluice_pool_readings_total", "Readings of the stake pool's accounts, by how they ended", [
    "what",
    "outcome",
  ]),
  duration: latency("sluice_pool_reading_duration_seconds", "Time that a reading of the pool took", ["what"]),
  samples: counter("sluice_pool_samples_total", "Samples of the pool that were written into the ledger, by kind", [
    "kind",
  ]),
  slot: gauge("sluice_pool_slot", "The slot that the pool's figures are of; 0 before the first reading"),
  validators: gauge("sluice_pool_validators", "Validators of the pool"),
} as const;

/** What is read: the pool itself, what an epoch brought it, what validators call themselves. */
export type StakePoolReading = "pool" | "epoch" | "names";

/** What the room tells of itself. */
export interface StakePoolEvents extends Pick<ErrorEvents, "internalError"> {
  read(what: StakePoolReading, durationMs: number): void;
  /** Nodes or the ledger did not answer, or the accounts are not those of a pool; older figures are served. */
  readingFailed(what: string, error: unknown): void;
  /** A sample is in the ledger: one of an epoch, or a regular one. */
  sampled(kind: "epoch" | "regular"): void;
  poolRead(facts: { readonly slot: bigint; readonly validators: number }): void;
}

/** Registers the metrics of the stake pool and gives the functions that feed them. */
export function createPoolEvents(observe: Observe): StakePoolEvents {
  const families = observe.metrics.register(poolMetrics);
  return {
    ...createErrorEvents(observe),
    read: (what, durationMs) => {
      families.readings.with(what, "read").add(1);
      families.duration.with(what).observe(durationMs / 1_000);
    },
    readingFailed: (what, error) => {
      families.readings.with(what, "failed").add(1);
      observe.log.warn({ what, error }, "the stake pool's figures were not read; older ones are served");
    },
    sampled: (kind) => families.samples.with(kind).add(1),
    poolRead: ({ slot, validators }) => {
      families.slot.with().set(Number(slot));
      families.validators.with().set(validators);
    },
  };
}
