/**
 * limits: token buckets, exact on one process. Takes a bucket's name and numbers from the grant that keys worked out and
 * answers a decision that http writes as headers. Feeds nothing; door asks it before credits are touched.
 */
export { createLimits, type LimitDecision, type Limits, type LimitsOptions } from "./limits.ts";
