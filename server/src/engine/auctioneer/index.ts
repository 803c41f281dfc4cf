/**
 * auctioneer: fills the blocks of leaders that take bundles. Fed by the pool and by simulations; at each tick it holds the
 * auction, runs the winners and hands them to the leader.
 */
export { Auctioneer } from "./auctioneer.ts";
export type { BuildTarget } from "./interfaces.ts";
