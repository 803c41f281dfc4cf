import type { Clock, Random } from "@sluice/lib";
import type { Address, Slot } from "@sluice/wire/identifiers";
import type { CursorStore } from "../../state/index.ts";
import { SlotTargeting } from "../auctioneer/slot-targeting.ts";
import { ValidBlockhashes } from "../chain/blockhashes.ts";
import { ChainState, catchUpSlotsMax, LeaderSchedule, Tracker, TrackerPace } from "../chain/index.ts";
import type { BundlePool } from "../model/bundle.ts";
import type { EngineEvents } from "../model/events.ts";
import type { EngineChain } from "../model/ports.ts";
import type { TipFloorStore } from "../tips/tip-floor.ts";

export interface ChainViewDependencies {
  readonly chain: EngineChain;
  readonly clock: Clock;
  readonly random: Random;
  readonly values: CursorStore;
  readonly pool: BundlePool;
  readonly tips: TipFloorStore;
  readonly tipAccounts: readonly Address[];
  readonly isConnected: (identity: Address) => boolean;
  readonly events: Pick<EngineEvents, "retryableError">;
}

/** Failures in a row after which it is said that the chain cannot be followed; one or two are nothing. */
const failuresTold = 5;

/** What the engine's parts know of the chain, and what follows it. */
export interface ChainView extends AsyncDisposable {
  readonly state: ChainState;
  readonly schedule: LeaderSchedule;
  readonly building: SlotTargeting;
  readonly blockhashes: ValidBlockhashes;
  /** The slot up to which every confirmed block was looked at for bundles. */
  settledThrough(): Slot | null;
}

export function openChainView(dependencies: ChainViewDependencies): ChainView {
  const { chain, clock, random, values, pool, tips, tipAccounts, isConnected, events } = dependencies;
  const resources = new AsyncDisposableStack();
  const state = resources.use(
    new ChainState({
      chain,
      clock,
      events: { blockhashFailed: (error) => events.retryableError("newest blockhash", error) },
    }),
  );
  const schedule = resources.use(
    new LeaderSchedule({
      chain,
      events: { scheduleFailed: (error) => events.retryableError("leader schedule", error) },
    }),
  );
  const building = new SlotTargeting({ clock, leaderAt: (slot) => schedule.leaderAt(slot), isConnected });
  resources.use(
    chain.onSlot((commitment, slot) => {
      if (commitment === "processed") building.slotOpened(slot);
    }),
  );
  const placeName = "engine-tracker";
  const tracker = new Tracker(
    { tipAccounts, catchUpSlotsMax },
    {
      chain,
      pool,
      state,
      clock,
      place: { load: () => values.get(placeName), save: (place) => values.set(placeName, place) },
      events: {
        blockSeen: (block) => tips.observe(block),
        blockLost: () => {},
        placeLeft: (why, from) => {
          if (why !== "none")
            events.retryableError("the chain since the last block seen", new Error(`${why}, at slot ${from}`));
        },
      },
    },
  );
  resources.use(
    new TrackerPace(tracker, {
      chain,
      random,
      events: { stepFailed: (error, failures) => failures === failuresTold && events.retryableError("blocks", error) },
    }),
  );
  return {
    state,
    schedule,
    building,
    blockhashes: new ValidBlockhashes({ clock, lifetimeOf: (blockhash) => state.blockhash(blockhash) }),
    settledThrough: () => tracker.settledThrough(),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
