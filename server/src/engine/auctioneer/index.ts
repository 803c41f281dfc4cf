/**
 * auctioneer: fills the blocks of leaders that take bundles. Fed by the pool, by opened envelopes and by simulations;
 * at each tick it runs the auction, runs the winners and delivers them to the leader. While no leader takes bundles, it
 * sends single transactions to the nodes. Feeds validators, and searchers with the bids that they lost.
 */
export { AuctionLosses } from "./auction-losses.ts";
export { AuctionScheduler } from "./auction-scheduler.ts";
export { Auctioneer } from "./auctioneer.ts";
export { Candidates } from "./candidates.ts";
export { RpcFallback } from "./rpc-fallback.ts";
export { SlotTargeting } from "./slot-targeting.ts";
