import type { ManualClock } from "../clock.ts";

/**
 * Moves the clock until `work` has settled, and gives its outcome: for work that waits for timers of that clock.
 * Promises settle between the steps.
 *
 * @throws what `work` rejects with.
 * @throws {Error} when `work` has not settled after 10,000 steps.
 */
export async function advanceUntil<T>(clock: ManualClock, work: Promise<T>, stepMs = 10): Promise<T> {
  let isSettled = false;
  const settled = (): void => {
    isSettled = true;
  };
  work.then(settled, settled);
  for (let step = 0; step < 10_000; step += 1) {
    // A macrotask ends the chains of promises that the last step has started.
    await new Promise((resolve) => setImmediate(resolve));
    if (isSettled) return work;
    clock.advance(stepMs);
  }
  throw new Error("the work has not settled while the clock moved");
}
