/**
 * keys: who is calling and what they may do. Takes the presented key from access, answers a Grant from memory or from
 * state (5-minute cache, negative cache, one look-up at a time per key), checks network, domain and address
 * restrictions, and hands last-used times back to state in batches. Changes by other processes reach it through notices
 * (revocation-feed.ts) and by the revision that state counts (change-follower.ts).
 */
export { createKeysEvents, keyMetrics } from "./events.ts";
export { type Grant, grantOf, type KeyRefusal, type RateBucket } from "./grant.ts";
export { createKeys, type Keys } from "./keys.ts";
export { allowsMethod } from "./methods.ts";
export type { RestrictedRequest, RestrictionCode } from "./restrictions.ts";
export { type RevocationFeed, subscribeToRevocations } from "./revocation-feed.ts";
