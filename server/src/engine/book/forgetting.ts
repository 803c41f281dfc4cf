import { type BookDependencies, bookLimits } from "./book-options.ts";

/** Forgets bundles that ended longer ago than they are kept, in so many steps at most; the rest waits for the next time. */
export async function forgetEnded({ store, clock, events }: Omit<BookDependencies, "ledger">): Promise<void> {
  const endedBefore = clock.now() - bookLimits.keptMs;
  for (let step = 0; step < bookLimits.forgetStepsMax; step += 1) {
    const count = await store.forget(Math.max(0, endedBefore));
    if (count === 0) return;
    events.bundlesForgotten(count);
  }
}
