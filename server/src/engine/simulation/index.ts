/**
 * simulation: the outcome of a bundle before it is sent. Accounts are read from the chain and kept for their slot; the
 * machines of `@sluice/svm/bundles` run the bundles on them in child processes, since hostile input may abort LiteSVM.
 * Fed by admission and the auctioneer with bundles, and feeds them with tips, units, locks and reasons.
 */
export { chainAccounts } from "./chain-accounts.ts";
export type * from "./simulation.ts";
export { createSimulator } from "./simulator.ts";
