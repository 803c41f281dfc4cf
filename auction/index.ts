/**
 * The auction of one tick, without clock, chance or I/O: from bundles with their tips, compute and locks to the set of
 * winners that pays most within the block's caps. `AccountIds` gives locks their small numbers when a bundle is admitted.
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
