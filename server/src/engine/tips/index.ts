/**
 * tips: the least tip of an accepted bundle, and statistics of the tips that landed. Fed by confirmed blocks; feeds
 * admission and the endpoints.
 */
export { TipFloorStore, type TippedBlock } from "./tip-floor.ts";
