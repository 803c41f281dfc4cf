/**
 * names: the accounts of the name service and of handles that a genesis file describes, broken ones included. The
 * genesis feeds it the parsed entries; it feeds the genesis with accounts, and the traffic with the key pairs of named
 * owners.
 */

export type { DomainEntry, Flaw, HandleEntry } from "./registry.ts";
export { nameGenesis, nameOwner } from "./registry.ts";
