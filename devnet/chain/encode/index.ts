/**
 * Presents the chain's records as Solana JSON-RPC does: accounts, transactions, blocks, simulations and errors, in
 * every encoding, with the parsed forms of the programs that a node knows. Pure functions: the node feeds them its
 * records and writes what they give with an exact serialiser, since u64 values stay bigint.
 */

export {
  type AccountEncodingName,
  type AccountJson,
  encodeAccount,
} from "./account.ts";
export { writableKeys } from "./account-keys.ts";
export type { EncodeClock } from "./accounts/account-parser.ts";
export { mintTokenAmount } from "./accounts/token.ts";
export { type UiTokenAmount, uiTokenAmount } from "./amount.ts";
export { encodeBlock } from "./block.ts";
export { encodeTransactionError } from "./error-text.ts";

export { alphabetical, type JsonObject, type JsonValue } from "./json.ts";
export { encodeBundleTransaction, encodeSimulation } from "./simulation.ts";
export { encodeTransaction } from "./transaction.ts";
export { parseVotes } from "./votes.ts";
