/**
 * transaction: the strict parser of transactions and messages and its encoder. Fed bytes that clients send and nodes
 * store; feeds values whose parts are views of those bytes, or the first rule that the bytes break. Proved against
 * @solana/kit.
 */
export { durableNonceIndex } from "./durable-nonce.ts";
export {
  type ConfigParts,
  encodeMessage,
  encodeTransaction,
  type InstructionParts,
  type LookupParts,
  type MessageParts,
} from "./encode.ts";
export type {
  AddressLookup,
  Instruction,
  Message,
  Transaction,
  TransactionConfig,
  TransactionVersion,
} from "./message.ts";
export {
  type ParsedMessage,
  type ParsedTransaction,
  parseMessage,
  parseTransaction,
  type TransactionFault,
  type TransactionRefusal,
  transactionFaults,
  transactionLimits,
} from "./parse.ts";
