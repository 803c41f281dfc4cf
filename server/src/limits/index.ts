/**
 * limits: token buckets, exact on one process, and leased from a shared bucket in hot where there are several. Takes a
 * bucket's name and numbers from the grant that keys worked out and answers a decision that http writes as headers.
 * Feeds nothing; access asks it before credits are touched.
 */

export { createLimitsEvents, limitMetrics } from "./events.ts";
export { createLimits, type LimitDecision } from "./limits.ts";
export type { ReplicaGroup } from "./replica-groups.ts";
export type { RateLimiter } from "./shared-interfaces.ts";
export { createSharedLimits } from "./shared-limits.ts";
