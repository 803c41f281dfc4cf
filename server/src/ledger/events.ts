import { type ChildEvents, counter, createChildEvents, latency, type Observe } from "../observe/index.ts";

/** The metrics of the ledger. */
export const ledgerMetrics = {
  rows: counter("sluice_ledger_rows_total", "Rows written to the ledger", ["table"]),
  flush: latency("sluice_ledger_flush_duration_seconds", "Time that a batch took to be on disk", ["table"]),
  dropped: counter("sluice_ledger_rows_dropped_total", "Rows that were dropped, with the reason", ["table", "reason"]),
} as const;

/** Every function is cheap and must not throw. */
export interface LedgerEvents extends ChildEvents {
  ledgerFlushed(table: string, rows: number, latencyMs: number): void;
  /** Counted only: who drops by the thousand says in the log how often it does. */
  ledgerDropped(table: string, rows: number, reason: string): void;
}

/** Registers the metrics of the ledger and gives the functions that feed them. */
export function createLedgerEvents(observe: Observe): LedgerEvents {
  const { metrics } = observe;
  const families = metrics.register(ledgerMetrics);
  return {
    ...createChildEvents(observe),
    ledgerFlushed: (table, rows, latencyMs) => {
      families.rows.with(table).add(rows);
      families.flush.with(table).observe(latencyMs / 1_000);
    },
    ledgerDropped: (table, rows, reason) => families.dropped.with(table, reason).add(rows),
  };
}
