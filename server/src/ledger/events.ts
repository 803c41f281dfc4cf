import { type ChildEvents, counter, createChildEvents, gauge, latency, type Observe } from "../observe/index.ts";

/** The metrics of the ledger. */
export const ledgerMetrics = {
  rows: counter("sluice_ledger_rows_total", "Rows written to the ledger", ["table"]),
  flush: latency("sluice_ledger_flush_duration_seconds", "Time that a batch took to be on disk", ["table"]),
  waiting: gauge("sluice_ledger_facts_waiting", "Request facts that wait for the ledger, by where", ["where"]),
  waitingBytes: gauge("sluice_ledger_facts_waiting_bytes", "Bytes of request facts that wait on disk"),
  tableBytes: gauge("sluice_ledger_table_bytes", "Bytes of a table on disk, measured each minute", ["table"]),
  tableRows: gauge("sluice_ledger_table_rows", "Rows of a table, measured each minute", ["table"]),
  tableOldest: gauge("sluice_ledger_table_oldest_timestamp_seconds", "Time of the oldest row of a table", ["table"]),
  confined: gauge("sluice_ledger_confined", "1 where the system refuses it to the embedded engine, 0 where not", [
    "what",
  ]),
  dropped: counter("sluice_ledger_rows_dropped_total", "Rows that were dropped, with the reason", ["table", "reason"]),
} as const;

/** Every function is cheap and must not throw. */
export interface LedgerEvents extends ChildEvents {
  ledgerFlushed(table: string, rows: number, latencyMs: number): void;
  /** What waits in memory and in files, after each attempt to write. */
  factsWaiting(facts: { readonly rows: number; readonly storedRows: number; readonly storedBytes: number }): void;
  /** All tables, each minute. */
  tablesMeasured(
    tables: readonly {
      readonly name: string;
      readonly rows: number;
      readonly bytes: number;
      /** Unix milliseconds; null without rows. */
      readonly oldestMs: number | null;
    }[],
  ): void;
  /** What the operating system refuses to the process of the embedded engine, at each of its starts. */
  engineConfined(refused: { readonly files: boolean; readonly calls: boolean }): void;
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
    factsWaiting: ({ rows, storedRows, storedBytes }) => {
      families.waiting.with("memory").set(rows);
      families.waiting.with("disk").set(storedRows);
      families.waitingBytes.with().set(storedBytes);
    },
    tablesMeasured: (tables) => {
      for (const { name, rows, bytes, oldestMs } of tables) {
        families.tableBytes.with(name).set(bytes);
        families.tableRows.with(name).set(rows);
        if (oldestMs !== null) families.tableOldest.with(name).set(oldestMs / 1_000);
      }
    },
    engineConfined: ({ files, calls }) => {
      families.confined.with("files").set(Number(files));
      families.confined.with("calls").set(Number(calls));
    },
    ledgerDropped: (table, rows, reason) => families.dropped.with(table, reason).add(rows),
  };
}
