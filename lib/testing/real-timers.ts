import { type Clock, systemClock } from "../clock.ts";

/**
 * The moments of `clock` with timers that run in real time: for tests that control the time in records and await
 * another process, such as a database.
 */
export function withRealTimers(clock: Pick<Clock, "now" | "monotonic">): Clock {
  return {
    now: () => clock.now(),
    monotonic: () => clock.monotonic(),
    after: systemClock.after,
    every: systemClock.every,
  };
}
