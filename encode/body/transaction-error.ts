import type { TransactionErrorJson } from "@sluice/svm";
import { ByteReader, ByteWriter, MalformedBytes } from "@sluice/wire/bytes";

/**
 * TransactionError between its form in JSON-RPC and in bincode: a u32 variant, then what it holds. Source: Agave's
 * solana-transaction-error and solana-instruction-error, in the order of declaration.
 */

const variants = [
  "AccountInUse",
  "AccountLoadedTwice",
  "AccountNotFound",
  "ProgramAccountNotFound",
  "InsufficientFundsForFee",
  "InvalidAccountForFee",
  "AlreadyProcessed",
  "BlockhashNotFound",
  "InstructionError",
  "CallChainTooDeep",
  "MissingSignatureForFee",
  "InvalidAccountIndex",
  "SignatureFailure",
  "InvalidProgramForExecution",
  "SanitizeFailure",
  "ClusterMaintenance",
  "AccountBorrowOutstanding",
  "WouldExceedMaxBlockCostLimit",
  "UnsupportedVersion",
  "InvalidWritableAccount",
  "WouldExceedMaxAccountCostLimit",
  "WouldExceedAccountDataBlockLimit",
  "TooManyAccountLocks",
  "AddressLookupTableNotFound",
  "InvalidAddressLookupTableOwner",
  "InvalidAddressLookupTableData",
  "InvalidAddressLookupTableIndex",
  "InvalidRentPayingAccount",
  "WouldExceedMaxVoteCostLimit",
  "WouldExceedAccountDataTotalLimit",
  "DuplicateInstruction",
  "InsufficientFundsForRent",
  "MaxLoadedAccountsDataSizeExceeded",
  "InvalidLoadedAccountsDataSizeLimit",
  "ResanitizationNeeded",
  "ProgramExecutionTemporarilyRestricted",
  "UnbalancedTransaction",
  "ProgramCacheHitMaxLimit",
  "CommitCancelled",
] as const;

const instructionVariants = [
  "GenericError",
  "InvalidArgument",
  "InvalidInstructionData",
  "InvalidAccountData",
  "AccountDataTooSmall",
  "InsufficientFunds",
  "IncorrectProgramId",
  "MissingRequiredSignature",
  "AccountAlreadyInitialized",
  "UninitializedAccount",
  "UnbalancedInstruction",
  "ModifiedProgramId",
  "ExternalAccountLamportSpend",
  "ExternalAccountDataModified",
  "ReadonlyLamportChange",
  "ReadonlyDataModified",
  "DuplicateAccountIndex",
  "ExecutableModified",
  "RentEpochModified",
  "NotEnoughAccountKeys",
  "AccountDataSizeChanged",
  "AccountNotExecutable",
  "AccountBorrowFailed",
  "AccountBorrowOutstanding",
  "DuplicateAccountOutOfSync",
  "Custom",
  "InvalidError",
  "ExecutableDataModified",
  "ExecutableLamportChange",
  "ExecutableAccountNotRentExempt",
  "UnsupportedProgramId",
  "CallDepth",
  "MissingAccount",
  "ReentrancyNotAllowed",
  "MaxSeedLengthExceeded",
  "InvalidSeeds",
  "InvalidRealloc",
  "ComputationalBudgetExceeded",
  "PrivilegeEscalation",
  "ProgramEnvironmentSetupFailure",
  "ProgramFailedToComplete",
  "ProgramFailedToCompile",
  "Immutable",
  "IncorrectAuthority",
  "BorshIoError",
  "AccountNotRentExempt",
  "InvalidAccountOwner",
  "ArithmeticOverflow",
  "UnsupportedSysvar",
  "IllegalOwner",
  "MaxAccountsDataAllocationsExceeded",
  "MaxAccountsExceeded",
  "MaxInstructionTraceLengthExceeded",
  "BuiltinProgramsMustConsumeComputeUnits",
] as const;

/** The names of all variants, in the order of their numbers. */
export const transactionErrorNames: readonly string[] = variants;
export const instructionErrorNames: readonly string[] = instructionVariants;

const variantNumbers = new Map<string, number>(variants.map((name, number) => [name, number]));
const instructionNumbers = new Map<string, number>(instructionVariants.map((name, number) => [name, number]));

/** Variants that hold something, and are no text in JSON. */
const holding = new Set<string>([
  "InstructionError",
  "DuplicateInstruction",
  "InsufficientFundsForRent",
  "ProgramExecutionTemporarilyRestricted",
]);

function integer(value: unknown, max: number): number | null {
  const number = typeof value === "bigint" ? Number(value) : value;
  return typeof number === "number" && Number.isInteger(number) && number >= 0 && number <= max ? number : null;
}

/** The one member of an object. */
function onlyMember(value: unknown): readonly [string, unknown] | null {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return null;
  const members = Object.entries(value);
  return members.length === 1 ? (members[0] ?? null) : null;
}

/** Writes an InstructionError; false when it is none that bincode has. */
function writeInstructionError(writer: ByteWriter, error: unknown): boolean {
  if (typeof error === "string") {
    const number = instructionNumbers.get(error);
    if (number === undefined || error === "Custom") return false;
    writer.u32(number);
    return true;
  }
  const member = onlyMember(error);
  if (member === null) return false;
  const [name, held] = member;
  if (name === "Custom") {
    const code = integer(held, 0xffff_ffff);
    if (code === null) return false;
    writer.u32(instructionNumbers.get(name) ?? 0).u32(code);
    return true;
  }
  // Nodes of earlier versions kept a sentence.
  if (name !== "BorshIoError" || typeof held !== "string" || !held.isWellFormed()) return false;
  const text = new TextEncoder().encode(held);
  writer
    .u32(instructionNumbers.get(name) ?? 0)
    .u64(BigInt(text.length))
    .bytes(text);
  return true;
}

/** The bincode of an error; null when it is of a form that this version of bincode does not know. */
export function packTransactionError(error: TransactionErrorJson): Uint8Array | null {
  const writer = new ByteWriter(16);
  const [name, held] = typeof error === "string" ? [error, undefined] : (onlyMember(error) ?? ["", undefined]);
  const number = variantNumbers.get(name);
  if (number === undefined || holding.has(name) !== (typeof error !== "string")) return null;
  writer.u32(number);
  if (held === undefined) return writer.finish();
  if (name === "InstructionError") {
    if (!Array.isArray(held) || held.length !== 2) return null;
    const index = integer(held[0], 255);
    if (index === null) return null;
    writer.u8(index);
    return writeInstructionError(writer, held[1]) ? writer.finish() : null;
  }
  const member = name === "DuplicateInstruction" ? (["", held] as const) : onlyMember(held);
  const index = member === null ? null : integer(member[1], 255);
  if (index === null || (member?.[0] !== "" && member?.[0] !== "account_index")) return null;
  return writer.u8(index).finish();
}

function readInstructionError(reader: ByteReader): TransactionErrorJson {
  const number = reader.u32();
  const name = instructionVariants[number];
  if (name === undefined) throw new MalformedBytes(`no InstructionError has the number ${number}`);
  if (name === "Custom") return { Custom: reader.u32() };
  if (name === "BorshIoError" && reader.remaining > 0) return { BorshIoError: reader.text(reader.u64()) };
  return name;
}

/** @throws {MalformedBytes} when the bytes are no TransactionError in bincode */
export function unpackTransactionError(bytes: Uint8Array): TransactionErrorJson {
  const reader = new ByteReader(bytes);
  const number = reader.u32();
  const name = variants[number];
  let error: TransactionErrorJson;
  switch (name) {
    case undefined:
      throw new MalformedBytes(`no TransactionError has the number ${number}`);
    case "InstructionError":
      error = { InstructionError: [reader.u8(), readInstructionError(reader)] };
      break;
    case "DuplicateInstruction":
      error = { DuplicateInstruction: reader.u8() };
      break;
    case "InsufficientFundsForRent":
    case "ProgramExecutionTemporarilyRestricted":
      error = { [name]: { account_index: reader.u8() } };
      break;
    default:
      error = name;
  }
  reader.end();
  return error;
}
