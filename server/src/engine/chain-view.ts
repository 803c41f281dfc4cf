import type { Clock, Random } from "@sluice/lib";
import type { Address, Slot } from "@sluice/wire/identifiers";
import { Building } from "./building.ts";
import type { BundleBook } from "./bundle.ts";
import { ChainState, catchUpSlotsMax, LeaderSchedule, Tracker, TrackerPace } from "./chain/index.ts";
import type { EngineEvents } from "./engine-events.ts";
import type { EngineChain } from "./interfaces.ts";
import type { ValueStore } from "./settings.ts";
import type { TipKeeper } from "./tip-keeper.ts";
import { ValidBlockhashes } from "./valid-blockhashes.ts";

export interface ChainViewDependencies {
  readonly chain: EngineChain;
  readonly clock: Clock;
  readonly random: Random;
  readonly values: ValueStore;
  readonly book: BundleBook;
  readonly tips: TipKeeper;
  readonly tipAccounts: readonly Address[];
  readonly isConnected: (identity: Address) => boolean;
  readonly events: Pick<EngineEvents, "heldUp">;
}

/** Failures in a row after which it is said that the chain cannot be followed; one or two are nothing. */
const failuresTold = 5;

/** What the engine's parts know of the chain, and what follows it. */
export interface ChainView extends AsyncDisposable {
  readonly state: ChainState;
  readonly schedule: LeaderSchedule;
  readonly building: Building;
  readonly blockhashes: ValidBlockhashes;
  /** The slot up to which every confirmed block was looked at for bundles. */
  settledThrough(): Slot | null;
}

export function openChainView(dependencies: ChainViewDependencies): ChainView {
  const { chain, clock, random, values, book, tips, tipAccounts, isConnected, events } = dependencies;
  const resources = new AsyncDisposableStack();
  const state = resources.use(
    new ChainState({ chain, clock, events: { blockhashFailed: (fault) => events.heldUp("newest blockhash", fault) } }),
  );
  const schedule = resources.use(
    new LeaderSchedule({ chain, events: { scheduleFailed: (fault) => events.heldUp("leader schedule", fault) } }),
  );
  const building = new Building({ clock, leaderAt: (slot) => schedule.leaderAt(slot), isConnected });
  resources.use(
    chain.onSlot((commitment, slot) => {
      if (commitment === "processed") building.opened(slot);
    }),
  );
  const placeName = "engine-tracker";
  const tracker = new Tracker(
    { tipAccounts, catchUpSlotsMax },
    {
      chain,
      book,
      state,
      clock,
      place: { load: () => values.get(placeName), save: (place) => values.set(placeName, place) },
      events: {
        blockSeen: (block) => tips.observe(block),
        blockLost: () => {},
        placeLeft: (why, from) => {
          if (why !== "none")
            events.heldUp("the chain since the last block seen", new Error(`${why}, at slot ${from}`));
        },
      },
    },
  );
  resources.use(
    new TrackerPace(tracker, {
      chain,
      random,
      events: { stepFailed: (fault, failures) => failures === failuresTold && events.heldUp("blocks", fault) },
    }),
  );
  return {
    state,
    schedule,
    building,
    blockhashes: new ValidBlockhashes({ clock, lifetimeOf: (blockhash) => state.blockhash(blockhash) }),
    settledThrough: () => tracker.lookedThrough(),
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}
