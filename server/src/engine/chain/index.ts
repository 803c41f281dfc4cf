/**
 * chain (of the engine): what it knows of its chain, who leads which slot, and what became of each bundle. Fed by the
 * network's nodes; feeds admission, the auction and the pool of bundles.
 */

export { ValidBlockhashes } from "./blockhashes.ts";
export { ChainState } from "./chain-state.ts";
export { LeaderSchedule } from "./leader-schedule.ts";

export { catchUpSlotsMax, Tracker, TrackerPace } from "./tracker.ts";
