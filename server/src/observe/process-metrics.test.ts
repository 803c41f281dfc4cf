import { expect, spyOn, test } from "bun:test";
import { ManualClock, monotonicMs, systemClock, wallMs } from "@sluice/lib";
import { createMetrics } from "./metrics.ts";
import { observeProcess, processMetrics } from "./process-metrics.ts";

test("the longest delay of the event loop since the last reading is shown, and when the process started", async () => {
  let elapsedMs = 0;
  let tick = (): void => {};
  let isStopped = false;
  const clock = {
    ...systemClock,
    now: () => wallMs(1_000_000_000_000),
    monotonic: () => monotonicMs(elapsedMs),
    every: (intervalMs: number, run: () => void) => {
      expect(intervalMs).toBe(500);
      tick = run;
      const cancel = (): void => {
        isStopped = true;
      };
      return { cancel, [Symbol.dispose]: cancel };
    },
  };
  await using metrics = createMetrics({}, { clock: new ManualClock() });
  const families = metrics.register(
    Object.fromEntries(
      Object.entries(processMetrics).map(([key, definition]) => [
        key,
        { ...definition, name: `test_${definition.name}` },
      ]),
    ) as unknown as typeof processMetrics,
  );
  const stop = observeProcess(families, clock);
  const read = async (name: string): Promise<number> => {
    const line = (await metrics.render()).split("\n").find((each) => each.startsWith(`test_process_${name} `));
    return Number(line?.split(" ")[1]);
  };
  expect(await read("event_loop_lag_seconds")).toBe(0);
  for (const delayMs of [300, 50, 0]) {
    elapsedMs += 500 + delayMs;
    tick();
  }
  expect([await read("event_loop_lag_seconds"), await read("event_loop_lag_seconds")]).toEqual([0.3, 0]);
  elapsedMs += 400;
  tick();
  expect(await read("event_loop_lag_seconds")).toBe(0);
  stop();
  expect(isStopped).toBe(true);
  const startSeconds = await read("start_time_seconds");
  expect(startSeconds).toBeLessThan(1_000_000_000);
  expect(startSeconds).toBeGreaterThan(1_000_000_000 - process.uptime() - 1);
  const usage = spyOn(process, "cpuUsage").mockReturnValue({ user: 2_500_000, system: 1_000_000 });
  expect(await read("cpu_seconds_total")).toBe(3.5);
  usage.mockRestore();
});
