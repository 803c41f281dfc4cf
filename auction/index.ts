/**
 * auction: chooses the winners of one tick. A pure library: no clock, no randomness, no I/O. Input: bundles with tip,
 * compute units and account locks, and the free capacity of the block. Output: the set of winners with the highest sum
 * of tips that respects conflicts and capacity, and an upper bound on any such sum. README.md states the problem, the
 * method and the bounds.
 */
export { AccountIds, type AccountIdsOptions } from "./account-ids.ts";
export type {
  AuctionBundle,
  AuctionCaps,
  AuctionFacts,
  AuctionLoss,
  AuctionOptions,
  AuctionOutcome,
  BundleLocks,
} from "./interfaces.ts";
export { defaultSearchSteps, runAuction } from "./run-auction.ts";
