/**
 * pool: the pool of bundles (mempool), from acceptance to 30 days after the end. Fed by admission, which adds bundles,
 * and by chain, which ends them; feeds the auctioneer, reputation, the endpoints and the ledger's record of outcomes.
 */
export { openBundlePool } from "./bundle-pool.ts";
export type { OutcomeLedger } from "./pool-options.ts";
