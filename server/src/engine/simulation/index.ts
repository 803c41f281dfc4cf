/**
 * simulation: what a bundle would do. Accounts are read from the chain and kept for their slot; LiteSVM runs the bundles on
 * them in processes of its own, since hostile input may end it. Fed by bundles from the desk and the auction; feeds both
 * with tips, units and locks.
 */
export { chainAccounts } from "./chain-accounts.ts";
export type * from "./simulation.ts";
export { createSimulator, type SimulatorDependencies, type SimulatorOptions, simulatorDefaults } from "./simulator.ts";
