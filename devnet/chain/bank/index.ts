/**
 * bank: the chain itself: the open slot, the transactions that wait for it, the virtual machine that runs them, frozen
 * slots, commitments and forks. The JSON-RPC methods feed it transactions, the leader feeds it bundles, the slot clock
 * closes its slots; it feeds accounts and history, and reports each step to its listeners.
 */

export { type BundlePacket, bundleId, bundleTransactionsMax, type InsertionCode } from "./bundles/insertion.ts";
export type { BundleStep } from "./bundles/simulate-bundle.ts";
export { Chain } from "./chain.ts";
export { messageFees } from "./costs.ts";
export { AbandonedFork, type RevertedAddresses } from "./forks.ts";
export { PerformanceSamples } from "./performance.ts";
export { blockhashLifeBlocks, StatusCache } from "./recent-blocks.ts";
export { signaturesValid } from "./resolve.ts";
export type { Simulation, SimulationBank, SimulationRequest } from "./simulation.ts";
