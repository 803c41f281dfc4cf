import type { Clock } from "@sluice/lib";
import { processDescriptors } from "./descriptors.ts";
import { counter, gauge } from "./metric-definitions.ts";
import type { Families } from "./metric-families.ts";

export const processMetrics = {
  memory: gauge("process_resident_memory_bytes", "Resident memory"),
  processor: counter("process_cpu_seconds_total", "Processor time used, in user and in system mode"),
  start: gauge("process_start_time_seconds", "When the process started, in Unix seconds"),
  descriptors: gauge("process_open_fds", "Open files and sockets"),
  descriptorLimit: gauge("process_max_fds", "Files and sockets that the process may open"),
  lag: gauge("process_event_loop_lag_seconds", "The longest delay of the event loop since metrics were last read"),
} as const;

/** One timer with this period measures the event loop; it does not keep the process alive. */
const lagPeriodMs = 500;

/**
 * Feeds the process's own metrics, whose values are computed when metrics are read. Returns a function that stops it.
 */
export function observeProcess(families: Families<typeof processMetrics>, clock: Clock): () => void {
  const startSeconds = clock.now() / 1000 - process.uptime();
  let expectedAt = clock.monotonic() + lagPeriodMs;
  let lagMs = 0;
  const timer = clock.every(lagPeriodMs, () => {
    const now = clock.monotonic();
    lagMs = Math.max(lagMs, now - expectedAt);
    expectedAt = now + lagPeriodMs;
  });
  families.memory.readFrom(() => process.memoryUsage.rss());
  families.processor.readFrom(() => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  const descriptors = processDescriptors();
  families.descriptors.readFrom(() => descriptors.open() ?? Number.NaN);
  families.descriptorLimit.readFrom(() => descriptors.limit ?? Number.NaN);
  families.start.readFrom(() => startSeconds);
  families.lag.readFrom(() => {
    const worst = lagMs;
    lagMs = 0;
    return Math.max(0, worst) / 1000;
  });
  return () => timer.cancel();
}
