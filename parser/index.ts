/**
 * parser: what a confirmed transaction did, in order of execution: the calls of programs, who sent lamports and tokens
 * to whom, and what each account gained. Fed by blocks in the model of encode; feeds the ledger and history. Pure: what
 * cannot be told from a transaction is null or a movement without a partner, never a guess.
 */
export { AccountStates } from "./neutral/account-states.ts";
export { type Movements, movementsOf, type NativeMovement, type TokenMovement } from "./neutral/movements.ts";
export { type Call, TransactionView } from "./transaction-view.ts";
