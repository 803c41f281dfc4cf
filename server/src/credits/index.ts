/**
 * credits: what calls cost. Spends an account's monthly credits from leases that it fetches from state in blocks, so
 * that a take is a subtraction in memory and no credit is ever given twice, however many processes spend. Each take is
 * counted in a tally that survives the process, by which the next one settles what a killed one held. Asked by access
 * (and by each product that counts its requests) after keys and limits; feeds state with what was used.
 */

export { CurrentMonth, monthEndOf, monthOf } from "./account-credits.ts";
export { createCredits, openCredits } from "./credits.ts";
export { createCreditsEvents, creditMetrics } from "./events.ts";
export type { Allowance, Credits } from "./interfaces.ts";
export { ServedRequests } from "./served-requests.ts";

export { tallyInMemory } from "./tally.ts";
