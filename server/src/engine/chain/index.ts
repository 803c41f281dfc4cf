/**
 * chain (of the engine): what it knows of its chain, who leads which slot, and what became of each bundle. Fed by the
 * flow of blocks of this process and the network's nodes; feeds admission, the auction and the pool of bundles.
 */

export { ValidBlockhashes } from "./blockhashes.ts";
export { ChainState } from "./chain-state.ts";
export { FlowReader } from "./flow-reader.ts";
export { LeaderSchedule } from "./leader-schedule.ts";
export { TipAccounts } from "./node-answers.ts";
export { catchUpSlotsMax, Tracker } from "./tracker.ts";
export { TrackerPace } from "./tracker-pace.ts";
