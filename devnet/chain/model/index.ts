/**
 * model: what the other rooms of the chain have in common: the records of slots, blocks, transactions and accounts, the
 * byte layouts of native and token accounts, the key pairs of genesis, and a hash of bytes for tables. It imports no
 * other room; every room of the chain reads its types and layouts.
 */

export { type Hash64, hashBytes, hashNumber } from "./byte-hash.ts";
export { GenesisKeypair } from "./keypair.ts";
export {
  clockSysvar,
  epochScheduleSysvar,
  ownedAccount,
  recentBlockhashesSysvar,
  rentExemptLamports,
  type SlotHash,
  SlotHistory,
  type StakeHistoryEntry,
  slotHashesSysvar,
  stakeHistorySysvar,
  standInProgram,
  systemAccount,
} from "./native-accounts.ts";
export { cachedOwners } from "./programs.ts";
export type {
  BankSlot,
  Block,
  ChainAccount,
  Commitment,
  ExecutedTransaction,
  Reward,
  TokenBalance,
  TransactionErrorJson,
} from "./records.ts";
export { confirmedBlock } from "./records.ts";
export {
  associatedTokenAddress,
  bytesOf,
  type DerivedAddress,
  derive,
  encodeMint,
  encodeTokenAccount,
} from "./token-accounts.ts";
export {
  isTokenAccount,
  isTokenProgram,
  mintState,
  tokenAmount,
  tokenAmountOffset,
  tokenBalances,
  tokenKeys,
} from "./token-state.ts";
