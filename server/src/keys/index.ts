/**
 * keys: who is calling and what they may do. Takes the presented key from access, answers a Grant from memory or from
 * state (5-minute cache, negative cache, one look-up at a time per key), checks network, domain and address
 * restrictions, and hands last-used times back to state in batches. Revocations reach it through the feed
 * (revocation-feed.ts).
 */
export { createKeysEvents, keyMetrics } from "./events.ts";
export { type Grant, grantOf, type KeyRefusal, type RateBucket } from "./grant.ts";
export { createKeys, type Keys } from "./keys.ts";
export { allowsMethod } from "./methods.ts";
export type { RestrictedRequest, RestrictionCode } from "./restrictions.ts";
export { type RevocationFeed, subscribeToRevocations } from "./revocation-feed.ts";
