/**
 * Presents the chain's records as Solana JSON-RPC does: accounts, transactions, blocks, simulations and errors, in
 * every encoding, with the parsed forms of the programs that a node knows. Pure functions: the node feeds them its
 * records and writes what they give with an exact serialiser, since u64 values stay bigint.
 */

export {
  type AccountEncodingName,
  type AccountFault,
  type AccountJson,
  type AccountOptions,
  encodeAccount,
} from "./account.ts";
export { writableKeys } from "./account-keys.ts";
export type { AccountLookup, EncodeClock } from "./accounts/account-parser.ts";
export { mintTokenAmount } from "./accounts/token.ts";
export { type UiTokenAmount, uiTokenAmount } from "./amount.ts";
export { type BlockOptions, type EncodedBlock, encodeBlock } from "./block.ts";
export { encodeTransactionError } from "./error-text.ts";
export type { InnerInstructionGroup } from "./instruction.ts";
export type { JsonObject, JsonValue } from "./json.ts";
export { encodeBundleTransaction, encodeSimulation, type SimulatedTransaction } from "./simulation.ts";
export {
  type EncodedTransaction,
  encodeTransaction,
  type TransactionEncodingName,
  type TransactionOptions,
} from "./transaction.ts";
export { parseVotes } from "./votes.ts";
