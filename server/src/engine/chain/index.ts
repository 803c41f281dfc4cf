/**
 * chain (of the engine): what it knows of its chain, who leads which slot, and what became of each bundle. Fed by the
 * network's nodes; feeds admission, the auction and the pool of bundles.
 */

export { type BlockhashLifetime, ValidBlockhashes } from "./blockhashes.ts";
export { ChainState, type ChainStateDependencies, type ChainStateEvents } from "./chain-state.ts";
export { LeaderSchedule, type LeaderScheduleDependencies, type LeaderScheduleEvents } from "./leader-schedule.ts";
export type { BlockTransaction, ChainBlock } from "./node-answers.ts";
export type { BlockFacts, TrackerDependencies, TrackerEvents, TrackerOptions, TrackerPlace } from "./tracker.ts";
export { catchUpSlotsMax, Tracker, TrackerPace, type TrackerPaceEvents } from "./tracker.ts";
