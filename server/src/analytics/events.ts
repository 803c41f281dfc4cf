import { counter, gauge, latency, type Observe } from "../observe/index.ts";

/** The metrics of SQL. */
export const analyticsMetrics = {
  queries: counter("sluice_sql_queries_total", "Queries of SQL that ended, by how", ["outcome"]),
  bytes: counter("sluice_sql_read_bytes_total", "Bytes that answered queries of SQL have read, uncompressed"),
  duration: latency("sluice_sql_query_duration_seconds", "Time that the ledger took for an answered query of SQL"),
  running: gauge("sluice_sql_queries_running", "Queries of SQL that run"),
  waiting: gauge("sluice_sql_queries_waiting", "Queries of SQL that wait for a place"),
} as const;

export interface AnalyticsEvents {
  /** `outcome` is `answered`, or the code of the refusal or failure. */
  queryEnded(outcome: string, figures: { readonly bytesRead: bigint; readonly elapsedMs: number } | null): void;
  /** Where the present numbers are read. */
  analyticsOpened(places: { readonly running: () => number; readonly waiting: () => number }): void;
}

/** Registers the metrics of SQL and gives the functions that feed them. */
export function createAnalyticsEvents({ metrics }: Pick<Observe, "metrics">): AnalyticsEvents {
  const families = metrics.register(analyticsMetrics);
  return {
    queryEnded: (outcome, figures) => {
      families.queries.with(outcome).add(1);
      if (figures === null) return;
      families.bytes.with().add(Number(figures.bytesRead));
      families.duration.with().observe(figures.elapsedMs / 1_000);
    },
    analyticsOpened: ({ running, waiting }) => {
      families.running.readFrom(running);
      families.waiting.readFrom(waiting);
    },
  };
}
