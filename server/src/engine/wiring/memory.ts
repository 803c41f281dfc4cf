import { AuctionLosses } from "../auctioneer/auction-losses.ts";
import type { BundlePool } from "../model/bundle.ts";
import { Switches } from "../operations/switches.ts";
import { openBundlePool } from "../pool/bundle-pool.ts";
import { ReputationTracker } from "../reputation/reputation-tracker.ts";
import { TipFloorStore } from "../tips/tip-floor.ts";
import type { EngineDependencies } from "./engine-parts.ts";

/** What the engine remembers over restarts. */
export interface Memory {
  readonly switches: Switches;
  readonly tips: TipFloorStore;
  readonly pool: BundlePool;
  readonly losses: AuctionLosses;
  readonly standing: ReputationTracker;
}

/** Opens the engine's memory on a stack: bundles that were in flight are in flight again. */
export async function openMemory(opening: AsyncDisposableStack, dependencies: EngineDependencies): Promise<Memory> {
  const { clock, stores, ledger, events } = dependencies;
  const retryableError = (what: string, error: unknown): void => events.retryableError(what, error);
  const switches = opening.use(new Switches({ store: stores.switches, retryableError }));
  await switches.refresh();
  const tips = opening.use(await TipFloorStore.open({ values: stores.cursors, clock, retryableError }));
  const pool = opening.use(
    await openBundlePool(
      {},
      {
        store: stores.bundles,
        ledger,
        clock,
        events: {
          bundlesLoaded: (count) => dependencies.log.info({ count }, "bundles in flight were found again"),
          outcomesWritten: () => {},
          outcomesWait: (reason) => retryableError("outcomes", reason),
          outcomeRefused: (id, reason) => retryableError(`outcome of ${id}`, reason),
          bundlesForgotten: () => {},
          internalError: events.internalError,
        },
      },
    ),
  );
  opening.use(
    pool.onChange(({ state, reason }, before) => {
      if (before !== null && state !== "accepted" && state !== "included") events.bundleEnded(state, reason ?? "");
    }),
  );
  const losses = opening.use(new AuctionLosses({ pool }));
  const standing = opening.use(
    new ReputationTracker({
      store: stores.reputations,
      pool,
      now: () => clock.now(),
      medianTip: () => tips.figures().landed.p50,
      retryableError,
    }),
  );
  return { switches, tips, pool, losses, standing };
}
