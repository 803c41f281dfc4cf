/**
 * genesis: the accounts with which a chain begins. It is fed by the command line: the built-in description or a genesis
 * file, accounts cloned from another chain, and program files. It feeds the bank with the first accounts, and the
 * traffic and the tests with the named wallets, mints and pools.
 */

export { joinTwoParts, readSources } from "./flags.ts";
export { createGenesis, type Genesis } from "./genesis.ts";
export type { KnownMint } from "./ledger.ts";
export { type GenesisDescription, GenesisFaults, type GenesisSources, loadGenesis } from "./load.ts";
export type { GenesisPool } from "./pools.ts";
