import { type PoolDependencies, poolLimits } from "./pool-options.ts";

/** Forgets bundles that ended longer ago than they are kept, in so many steps at most; the rest waits for the next time. */
export async function forgetEnded({ store, clock, events }: Omit<PoolDependencies, "ledger">): Promise<void> {
  const endedBefore = clock.now() - poolLimits.keptMs;
  for (let step = 0; step < poolLimits.forgetStepsMax; step += 1) {
    const count = await store.forget(Math.max(0, endedBefore));
    if (count === 0) return;
    events.bundlesForgotten(count);
  }
}
