/**
 * hot: what replicas share and may lose at any moment (cached bytes, leased tokens of rates, presence, notices to
 * each other), in this process's memory or in Redis. Config says which; compose opens it. It feeds limits, cache, keys
 * and every room that has to agree with its other replicas. Nothing in here is the only copy of anything.
 */
export type { Hot, SubscribeOptions } from "./hot.ts";
export { openHot } from "./open.ts";
export { type LeasedBucket, leaseFromBucket, type TokenLease, type TokenLeaseRequest } from "./token-lease.ts";
