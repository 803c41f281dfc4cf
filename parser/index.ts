/**
 * parser: what a confirmed transaction did, in order of execution: the calls of programs, who sent lamports and tokens
 * to whom, and what each account gained; and what it was: one of eleven types, with its facts and a sentence. Fed by
 * blocks in the model of encode; feeds the ledger, history, webhooks and the enhanced API. Pure: what cannot be told
 * from a transaction is null, UNKNOWN or a movement without a partner, never a guess.
 */
export { tipAccounts } from "./classify/tip-accounts.ts";
export { type TransactionType, transactionTypes } from "./classify/types.ts";
export type { Leaf, TreeChange } from "./compressed/compression-events.ts";
export {
  bubblegumProgram,
  type LeafCall,
  type LeafChange,
  leafAsset,
  leafChangesOf,
  noopPrograms,
} from "./compressed/leaf-changes.ts";
export { dataHashOf, type LeafMetadata, writeMetadata } from "./compressed/metadata-args.ts";
export { emptyNode, nodeOf } from "./compressed/tree.ts";
export { type Named, type Names, namedIn, noNames } from "./enhanced/describe.ts";
export { ExactDecimal, type RecordValue, recordText } from "./enhanced/exact-decimal.ts";
export { enhancedRecord, type RecordPlace, toldOf } from "./enhanced/record.ts";
export type { CompressedFacts } from "./facts/compressed.ts";
export type { Leg } from "./facts/legs.ts";
export type { NftFacts } from "./facts/nft.ts";
export type { LiquidityFacts } from "./facts/plain.ts";
export type { SwapFacts } from "./facts/swap.ts";
export { IdlFault, idlLimits } from "./idl/file-value.ts";
export { IdlPrograms, noPrograms, readIdl } from "./idl/programs.ts";
export type { IdlProgram } from "./idl/types.ts";
export { AccountStates } from "./neutral/account-states.ts";
export { type Movements, movementsOf, type NativeMovement, type TokenMovement } from "./neutral/movements.ts";
export { type ParsedTransaction, parseTransaction } from "./parse.ts";
export type { Instruction, ProgramKind, ProgramParser } from "./program.ts";
export { parserFor, parserNamed, programParsers } from "./programs/table.ts";
export { type Call, TransactionView } from "./transaction-view.ts";
export { parserVersion } from "./version.ts";
