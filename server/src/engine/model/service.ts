import type { AuctionLoss } from "@sluice/auction";
import type { BundleReason, MevType, SearcherTier } from "@sluice/contract/engine";
import type { Address, Slot } from "@sluice/wire/identifiers";
import type { LimitDecision } from "../../limits/index.ts";
import type { BundleIngress, BundleRecord, Searcher } from "./bundle.ts";

/** A bundle as a door hands it in, decoded from the door's own form. */
export interface BundleSubmission {
  /** As sent: raw bytes each, or base64 text where `isText`. */
  readonly transactions: readonly Uint8Array[];
  readonly tip: bigint | null;
  readonly mevType: MevType;
  readonly targetSlot: bigint | null;
  readonly sealed: Uint8Array | null;
  readonly ingress: BundleIngress;
}

export type SubmitOutcome =
  | { readonly ok: true; readonly record: BundleRecord; readonly fresh: boolean; readonly tipFloor: bigint }
  | {
      readonly ok: false;
      /** Empty where the bundle was too broken to have one. */
      readonly id: string;
      readonly reason: BundleReason;
      readonly detail: string | null;
      readonly tipFloor: bigint;
    };

export interface TipFloorFigures {
  /** Lamports. */
  readonly floor: bigint;
  readonly average24h: bigint;
  /** 0 to 1. */
  readonly utilization: number;
  /** Lamports at the 25th, 50th, 75th, 95th and 99th percentile of tips that landed lately, and the median's average. */
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

/** A slot that a leader who takes bundles is about to have, or has. */
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
  /** Of the bundles that it conflicts with, the id of the first in rank. */
  readonly auctionId: string;
  /** Lamports that it was seen to pay. */
  readonly bid: bigint;
}

/** What bundles lost by; see `LostBid`. */
export interface LossReports {
  /** The last slot that a bundle lost; null where it lost none, and after its end was told. */
  of(id: string): LostBid | null;
  /** Told of the first slot that each of this searcher's bundles loses, from now on. */
  follow(searcherId: string, listener: (bid: LostBid) => void): Disposable;
}

/** What the room's doors ask of the engine behind them. */
export interface BlockEngineService {
  submit(submission: BundleSubmission, searcher: Searcher): Promise<SubmitOutcome>;
  get(id: string): Promise<BundleRecord | null>;
  /** Told of each change of this searcher's bundles from now on. */
  follow(searcherId: string, listener: (record: BundleRecord) => void): Disposable;
  /** This searcher's bundles that can still change. */
  inFlight(searcherId: string): readonly BundleRecord[];
  /** Takes one token of the searcher's bucket, by its tier or what an operator has set. */
  takeRate(searcher: Searcher): LimitDecision | Promise<LimitDecision>;
  readonly losses: LossReports;
  tipFloor(): TipFloorFigures;
  reputation(searcherId: string): Promise<ReputationFigures>;
  readonly tipAccounts: readonly Address[];
  currentSlot(): Slot | null;
  nextLeader(): UpcomingLeader | null;
  /** Coming slots of each leader that is connected. */
  connectedLeaders(): ReadonlyMap<Address, readonly Slot[]>;
  readonly isInMaintenance: boolean;
}

/** Leaders that take bundles, as the auction sees them. */
export interface Validators {
  connected(): readonly Address[];
  /** Hands bundles over in their order; false where this leader is not connected or does not read what it was sent. */
  deliver(
    identity: Address,
    bundles: readonly { readonly id: string; readonly transactions: readonly Uint8Array[] }[],
  ): boolean;
}
