/**
 * tips: the least tip of an accepted bundle, and statistics of the tips that landed. Fed by confirmed blocks; feeds
 * admission and the endpoints.
 */
export { TipFloorStore } from "./tip-floor.ts";
