/**
 * leases: decides which of several processes does something that one alone may do for a network: one holds the lease of
 * the job, the others stand by and take over when it ends. Fed by the lease store of state; feeds the block engine,
 * which runs while it holds one, and the oracle, which records while it does.
 */
export { ChainTerms, type TermChain } from "./chain-terms.ts";
export { createLeaseEvents, type LeaseEvents, leaseMetrics } from "./events.ts";
export { webhookSchedulerJob } from "./job.ts";
export { LeaseHolder, leaseTimesOf } from "./lease-holder.ts";
export { keepLease } from "./standing-lease.ts";
export { Succession, type SuccessionRole } from "./succession.ts";
