import type { Clock } from "@sluice/lib";

/** The part of the metrics that this file adds to. */
interface ObservedMetrics {
  observed(type: "counter" | "gauge", name: string, help: string, read: () => number): void;
}

export const processMetricTable = [
  { type: "gauge", name: "process_resident_memory_bytes", help: "Resident memory" },
  { type: "counter", name: "process_cpu_seconds_total", help: "Processor time used, in user and in system mode" },
  { type: "gauge", name: "process_start_time_seconds", help: "When the process started, in Unix seconds" },
  {
    type: "gauge",
    name: "process_event_loop_lag_seconds",
    help: "The longest delay of the event loop since metrics were last read",
  },
] as const;

/** One timer with this period measures the event loop; it does not keep the process alive. */
const lagPeriodMs = 500;

/** Adds the process's own metrics, all read when metrics are read. Returns what stops the one timer. */
export function observeProcess(metrics: ObservedMetrics, clock: Clock): () => void {
  const [memory, processor, start, lag] = processMetricTable;
  const startSeconds = clock.now() / 1000 - process.uptime();
  let expectedAt = clock.monotonic() + lagPeriodMs;
  let lagMs = 0;
  const timer = setInterval(() => {
    const now = clock.monotonic();
    lagMs = Math.max(lagMs, now - expectedAt);
    expectedAt = now + lagPeriodMs;
  }, lagPeriodMs);
  timer.unref();
  metrics.observed(memory.type, memory.name, memory.help, () => process.memoryUsage.rss());
  metrics.observed(processor.type, processor.name, processor.help, () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  metrics.observed(start.type, start.name, start.help, () => startSeconds);
  metrics.observed(lag.type, lag.name, lag.help, () => {
    const worst = lagMs;
    lagMs = 0;
    return Math.max(0, worst) / 1000;
  });
  return () => clearInterval(timer);
}
