/**
 * sealed: encrypted bundles. Holds the keys that they are sealed to, takes envelopes in, opens them at their tick and
 * hands what was in them to admission. Fed by the endpoints and by the auctioneer's ticks; feeds the pool.
 */

export { KeyRing } from "./key-ring.ts";
export { bundleRequestReader, type OpeningTick, SealedBundles, sweepReplays } from "./sealed-bundles.ts";
