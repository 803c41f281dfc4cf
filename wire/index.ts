/**
 * wire: pure codecs of the chain. Base58 and the branded primitives, the strict transaction parser and its encoder,
 * account layouts, program ids, and JSON that keeps a u64 exact. It is fed bytes and text by every room that meets the
 * chain or a node's answer, and feeds them values; it does no I/O, imports nothing of ours, and is proved against
 * @solana/kit and JSON.parse.
 */
export {
  decodeHandleAccount,
  decodeNameRegistry,
  decodeReverseName,
  encodeHandleAccount,
  encodeNameRegistry,
  encodeReverseName,
  type HandleAccount,
  handleAccountSize,
  handleAddress,
  handleNameSize,
  type NamePosition,
  type NameRegistry,
  nameRegistryAddress,
  nameRegistryHeaderSize,
  reverseRegistryAddress,
  subdomainPrefix,
} from "./accounts/name-registry.ts";
export {
  type AddressLookupTable,
  decodeAddressLookupTable,
  decodeNonceAccount,
  decodeStakeAccount,
  type NonceAccount,
  type StakeAccount,
  type StakeDelegation,
  type StakeMeta,
} from "./accounts/native.ts";
export {
  decodeStakePool,
  encodeStakePool,
  type FuturePoolFee,
  type PoolFee,
  type StakePool,
  stakePoolProgram,
  stakePoolSize,
} from "./accounts/stake-pool.ts";
export {
  poolTransientStakeAddress,
  poolValidatorStakeAddress,
  stakePoolDepositAuthority,
  stakePoolWithdrawAuthority,
} from "./accounts/stake-pool-addresses.ts";
export {
  decodeTipDistributionAccount,
  decodeTipDistributionConfig,
  decodeTipPaymentConfig,
  encodeTipAccount,
  encodeTipDistributionAccount,
  encodeTipDistributionConfig,
  encodeTipPaymentConfig,
  isTipAccount,
  type TipDistributionAccount,
  type TipDistributionConfig,
  type TipMerkleRoot,
  type TipPaymentConfig,
  tipAccountAddress,
  tipAccountCount,
  tipConfigAddress,
  tipDistributionAddress,
  tipPrograms,
} from "./accounts/tips.ts";
export {
  decodeMint,
  decodeMultisig,
  decodeTokenAccount,
  type Mint,
  type Multisig,
  mintSize,
  multisigSize,
  type TokenAccount,
  type TokenAccountState,
  tokenAccountSize,
} from "./accounts/token.ts";
export {
  type AddressPointer,
  decodeInterestBearingConfig,
  decodeMetadataPointer,
  decodeTokenExtensions,
  decodeTokenMetadata,
  decodeTransferFeeConfig,
  type InterestBearingConfig,
  type TokenExtension,
  type TokenExtensionName,
  type TokenMetadata,
  type TransferFee,
  type TransferFeeConfig,
  transferFeeFor,
} from "./accounts/token-extensions.ts";
export {
  decodeValidatorList,
  encodeValidatorList,
  type PoolValidator,
  type PoolValidatorStatus,
  type ValidatorList,
} from "./accounts/validator-list.ts";
export { decodeVoteAccount, type VoteAccount } from "./accounts/vote.ts";
export { decodeAddress, decodeBase58, decodeSignature, encodeBase58, maxBase58Bytes } from "./base58.ts";
export {
  type Address,
  addressOfBytes,
  isAddress,
  isSignature,
  type Lamports,
  maxU64,
  parseAddress,
  parseLamports,
  parseSignature,
  parseSlot,
  parseU64,
  type Signature,
  type Slot,
  signatureOfBytes,
} from "./identifiers.ts";
export { canonicalJson } from "./json/canonical.ts";
export { type EnvelopeFault, type EnvelopeSlice, sliceEnvelope, spliceId } from "./json/envelope.ts";
export { type ParsedJson, parseJsonExact } from "./json/parse.ts";
export { defaultMaxDepth } from "./json/scan.ts";
export {
  type ArraySlice,
  isJson,
  type JsonMember,
  type JsonRange,
  type ObjectSlice,
  sliceArray,
  sliceObject,
} from "./json/slice.ts";
export { type JsonValue, stringifyJsonExact } from "./json/stringify.ts";
export { type NameService, type NameSuffix, nameServices, nameSuffixes } from "./name-services.ts";
export { findProgramAddress, isOnCurve, type ProgramAddress, programAddress, type Sha256 } from "./program-address.ts";
export { programs, sysvars, wellKnownAddresses } from "./programs.ts";
export { builtInPrograms, costModel, feeRules, precompiles, reservedKeys } from "./runtime-rules.ts";
export {
  readShortVec,
  type ShortVecFault,
  type ShortVecRead,
  shortVecSize,
  writeShortVec,
} from "./short-vec.ts";
export {
  type ConfigParts,
  encodeMessage,
  encodeTransaction,
  type InstructionParts,
  type LookupParts,
  type MessageParts,
} from "./transaction/encode.ts";
export {
  type TransactionFault,
  type TransactionRefusal,
  transactionFaults,
  transactionLimits,
} from "./transaction/faults.ts";
export type {
  AddressLookup,
  Instruction,
  Message,
  TransactionConfig,
  TransactionVersion,
} from "./transaction/message.ts";
export { type ParsedMessage, type ParsedTransaction, parseMessage, parseTransaction } from "./transaction/parse.ts";
export type { Transaction } from "./transaction/transaction.ts";
