import type { AuctionLoss } from "@sluice/auction";
import type { BundleReason, MevType, SearcherTier } from "@sluice/contract/engine";
import type { Address, Slot } from "@sluice/wire/identifiers";
import type { LimitDecision } from "../../limits/index.ts";
import type { BundleIngress, BundleRecord, Searcher } from "./bundle.ts";

/** A submitted bundle, decoded from the form of its endpoint. */
export interface BundleSubmission {
  /** As sent: raw bytes each, or base64 text where the endpoint leaves the form open. Empty beside an envelope. */
  readonly transactions: readonly Uint8Array[];
  /** Claimed lamports; null takes the tip that the simulation measures. */
  readonly tip: bigint | null;
  readonly mevType: MevType;
  readonly targetSlot: bigint | null;
  /** The envelope of an encrypted bundle. */
  readonly sealed: Uint8Array | null;
  readonly ingress: BundleIngress;
}

/** What the id of a bundle follows from. */
export type BundleContent = Pick<BundleSubmission, "transactions" | "sealed" | "ingress">;

/** The answer to a submission. `tipFloor` in lamports; `fresh` is false for a bundle that was known. */
export type SubmitOutcome =
  | { readonly ok: true; readonly record: BundleRecord; readonly fresh: boolean; readonly tipFloor: bigint }
  | {
      readonly ok: false;
      /** Empty when the bundle could not be read. */
      readonly id: string;
      readonly reason: BundleReason;
      readonly detail: string | null;
      /** The last lines that the failed transaction logged, with `simulation_failed`. */
      readonly logs?: readonly string[];
      readonly tipFloor: bigint;
    };

export interface TipFloorFigures {
  /** Lamports. */
  readonly floor: bigint;
  readonly average24h: bigint;
  /** The share of the block space of the last 20 blocks that all transactions used, 0 to 1. */
  readonly utilization: number;
  /** The share of their bundle compute that bundles used, 0 to 1: the floor rises above 0.9. */
  readonly bundleShare: number;
  /** Blocks that `landed` is of, at most; and tips that landed in them. */
  readonly landedBlocks: number;
  readonly landedTips: number;
  /**
   * Lamports at the 25th, 50th, 75th, 95th and 99th percentile of tips that landed lately, and the median's average.
   */
  readonly landed: {
    readonly p25: bigint;
    readonly p50: bigint;
    readonly p75: bigint;
    readonly p95: bigint;
    readonly p99: bigint;
    readonly emaP50: bigint;
  };
  /** Unix milliseconds. */
  readonly at: number;
}

export interface ReputationFigures {
  /** 0 to 100. */
  readonly score: number;
  readonly tier: SearcherTier;
  /** 0 to 1. */
  readonly landingRate: number;
  readonly simSuccess: number;
  readonly submitted: bigint;
  readonly landed: bigint;
}

/** The present or next slot of a connected leader. */
export interface UpcomingLeader {
  readonly slot: Slot;
  readonly identity: Address;
}

/** The bid of a bundle that lost a slot: it competed for the slot's block and is not in it. */
export interface LostBid {
  readonly id: string;
  readonly slot: Slot;
  /** `state_auction`: to bundles that it conflicts with; `winning_batch`: to the block's limits. */
  readonly lost: AuctionLoss["lost"];
  /** The same for all that lost one auction; it says nothing of the bundles that won it. */
  readonly auctionId: string;
  /** Lamports that it paid in simulation. */
  readonly bid: bigint;
}

/** Reports of lost slots; see `LostBid`. */
export interface LossReports {
  /** The last slot that a bundle lost; null when it lost none, and after its end was reported. */
  of(id: string): LostBid | null;
  /** Calls the listener for the first slot that each of this searcher's bundles loses, from now on. */
  follow(searcherId: string, listener: (bid: LostBid) => void): Disposable;
}

/** The engine as all endpoints use it: REST, gRPC, Jito's protocols. */
export interface BlockEngineService {
  /**
   * Checks, simulates and accepts a bundle.
   *
   * @throws {SluiceError} OVERLOADED when the chain, the simulation or the pool cannot take it now.
   */
  submit(submission: BundleSubmission, searcher: Searcher): Promise<SubmitOutcome>;
  /** The id that a bundle of this content has; empty for a content that cannot be read. */
  idOf(content: BundleContent): string;
  /**
   * Null for a text that is no bundle id, for an unknown bundle, and for one that no block holds and the reader has not
   * submitted.
   */
  get(id: string, reader: Pick<Searcher, "id">): Promise<BundleRecord | null>;
  /** Calls the listener for each change of this searcher's bundles, from now on. */
  follow(searcherId: string, listener: (record: BundleRecord) => void): Disposable;
  /** This searcher's live bundles, oldest first. */
  inFlight(searcherId: string): readonly BundleRecord[];
  /** Takes one token of the searcher's bucket, whose rate its tier or an operator sets. */
  takeRate(searcher: Searcher): LimitDecision | Promise<LimitDecision>;
  readonly losses: LossReports;
  tipFloor(): TipFloorFigures;
  reputation(searcherId: string): Promise<ReputationFigures>;
  readonly tipAccounts: readonly Address[];
  currentSlot(): Slot | null;
  nextLeader(): UpcomingLeader | null;
  /** The leader of a slot of the last epoch, this one or the next; null while the schedule is not known. */
  leaderOf(slot: Slot): Address | null;
  /** Coming slots of each connected leader. */
  connectedLeaders(): ReadonlyMap<Address, readonly Slot[]>;
  readonly isInMaintenance: boolean;
}

/** Leaders that take bundles, as the auction sees them. */
export interface Validators {
  connected(): readonly Address[];
  /** Delivers bundles in their order; false when the leader is not connected or does not read its stream. */
  deliver(
    identity: Address,
    bundles: readonly { readonly id: string; readonly transactions: readonly Uint8Array[] }[],
  ): boolean;
}
