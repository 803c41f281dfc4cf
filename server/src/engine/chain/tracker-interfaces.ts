import type { Clock } from "@sluice/lib";
import type { Address, Slot } from "@sluice/wire/identifiers";
import type { EngineChain } from "../model/ports.ts";
import type { WatchedPool } from "./bundle-watch.ts";
import type { ChainState } from "./chain-state.ts";
import type { TrackerPlace } from "./cursor.ts";

/** What a confirmed block tells of itself. */
export interface BlockFacts {
  readonly slot: Slot;
  readonly blockhash: Address;
  readonly height: bigint;
  /** Unix seconds. */
  readonly time: number | null;
  /** Units of all its transactions, of those of our bundles, and the most that a block has. */
  readonly computeUnits: number;
  readonly bundleComputeUnits: number;
  readonly computeUnitsMax: number;
  /** Lamports that tip accounts gained, for each transaction by which they gained any, whoever sent it. */
  readonly tips: readonly bigint[];
}

export interface TrackerEvents {
  /** A confirmed block was looked at. After a restart a few are told again; the slots of a fork that won may be lower. */
  blockSeen(facts: BlockFacts): void;
  /** A confirmed block was lost with its fork. */
  blockLost(slot: Slot): void;
  /** The chain was not followed from the saved place on: there was none, it was too far back, or it is of another chain. */
  placeLeft(why: "none" | "too far back" | "another chain", from: Slot): void;
}

export interface TrackerOptions {
  readonly tipAccounts: readonly Address[];
  /** Slots that are followed after a restart; older bundles are looked for one by one. */
  readonly catchUpSlotsMax: bigint;
}

export interface TrackerDependencies {
  readonly chain: EngineChain;
  readonly pool: WatchedPool;
  readonly state: Pick<ChainState, "confirmed" | "lost" | "forget">;
  readonly place: TrackerPlace;
  readonly clock: Clock;
  readonly events: TrackerEvents;
}
