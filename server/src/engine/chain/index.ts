/**
 * chain (of the engine): what it knows of its chain, who leads which slot, and what became of each bundle. Fed by the
 * network's nodes; feeds admission, the auction and the pool of bundles.
 */
export type { BlockhashLifetime } from "./blockhashes.ts";
export type { BlockTransaction, ChainBlock } from "./chain-block.ts";
export { ChainState, type ChainStateDependencies, type ChainStateEvents } from "./chain-state.ts";
export type { TrackerPlace } from "./cursor.ts";
export { LeaderSchedule, type LeaderScheduleDependencies, type LeaderScheduleEvents } from "./leader-schedule.ts";
export { catchUpSlotsMax, Tracker } from "./tracker.ts";
export type { BlockFacts, TrackerDependencies, TrackerEvents, TrackerOptions } from "./tracker-interfaces.ts";
export { TrackerPace, type TrackerPaceEvents } from "./tracker-pace.ts";
