/**
 * credits: what calls cost. Spends an account's monthly credits from leases that it fetches from state in blocks, so
 * that a take is a subtraction in memory and no credit is ever given twice, however many processes spend. Each take is
 * counted in a tally that survives the process, by which the next one settles what a killed one held. Asked by access
 * (and by each product that counts its requests) after keys and limits; feeds state with what was used.
 */

export { monthOf } from "./account-credits.ts";
export { createCredits, type OpenCreditsDependencies, type OpenCreditsOptions, openCredits } from "./credits.ts";
export { type CreditsEvents, createCreditsEvents, creditMetrics } from "./events.ts";
export type { Allowance, Credits, CreditsDependencies, CreditsOptions, CreditsStore } from "./interfaces.ts";
export type { Settlement } from "./settle-holder.ts";
export { tallyInMemory } from "./tally.ts";
