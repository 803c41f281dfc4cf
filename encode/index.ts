/**
 * encode: the forms of accounts, transactions, blocks, simulations and errors of a chain in Solana JSON-RPC, in every
 * encoding, with the parsed forms of the programs that a node knows. Pure functions over the model of `model.ts`: who
 * calls them writes what they give with an exact serialiser, since u64 values stay bigint. `body/` packs a block into
 * the bytes of the log's records, reads it back, and reads a node's answer into the model.
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
export { type BlockHead, readBlockHead } from "./body/head.ts";
export { orderedBody } from "./body/ordered.ts";
export { packBlock, packTransaction } from "./body/pack.ts";
export { type PlacedTransaction, readBlock, readTransaction } from "./body/read-block.ts";
export { readJson } from "./body/read-json.ts";
export { type SplitBody, splitBody } from "./body/split.ts";
export { transactionErrorNames } from "./body/transaction-error.ts";
export { unpackBlock, unpackTransaction } from "./body/unpack.ts";
export { unpackOnce } from "./body/unpack-once.ts";
export { isVote } from "./body/vote.ts";
export { encodeTransactionError } from "./error-text.ts";
export { instructionName } from "./instructions/parse-instruction.ts";
export { alphabetical, type JsonObject, type JsonValue } from "./json.ts";
export { memoPrograms, transactionMemo } from "./memo.ts";
export type {
  ConfirmedBlock,
  ConfirmedTransaction,
  ExecutedInstruction,
  InnerInstructions,
  LoadedAddresses,
  ReturnData,
  Reward,
  TokenBalance,
  TransactionMeta,
} from "./model.ts";
export { encodeBundleTransaction, encodeSimulation } from "./simulation.ts";
export { encodeTransaction } from "./transaction.ts";
export { parseVotes } from "./votes.ts";
