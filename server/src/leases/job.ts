/**
 * What one process of several does for a network: the block engine (by the name that its lease has always had), the
 * recording of prices, the writing of the chain into the ledger, the index of digital assets, the samples of the stake
 * pool, and making deliveries for a shard of its webhooks.
 */
export type LeaseJob =
  | "engine-book"
  | "oracle-recorder"
  | "ledger-writer"
  | "pool-sampler"
  | "asset-index"
  | "webhook-scheduler"
  | `webhook-scheduler-${number}`;

/** The job for one part of a network's webhooks; parts count from 0. */
export const webhookSchedulerJob = (shard: number): LeaseJob =>
  shard === 0 ? "webhook-scheduler" : `webhook-scheduler-${shard}`;
