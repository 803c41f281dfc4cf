/**
 * accounts: the store of all accounts, with every version that a commitment may still read, and its indexes by program,
 * owner, mint, length and bytes. The bank feeds it each write of a slot and roots slots; it feeds the JSON-RPC methods,
 * the executor and the machine's rebuild. Rows and indexes are columns of bytes, so that a million accounts take 380
 * MB.
 */

export { type AccountFilter, AccountStore, passesFilters } from "./account-store.ts";
