/**
 * credits: what calls cost. Spends an account's monthly credits from leases that it fetches from state in blocks, so that
 * a take is a subtraction in memory and no credit is ever given twice, however many processes spend. Asked by door (and
 * by whatever else charges) after keys and limits; feeds state with what was used.
 */
export { createCredits } from "./credits.ts";
export type { Credits, CreditsDependencies, CreditsOptions, CreditsStore } from "./interfaces.ts";
export { monthOf } from "./month.ts";
