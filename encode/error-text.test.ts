import { describe, expect, test } from "bun:test";
import {
  getSolanaErrorFromTransactionError,
  isSolanaError,
  SOLANA_ERROR__TRANSACTION_ERROR__UNKNOWN,
} from "@solana/kit";
import { encodeTransactionError } from "./error-text.ts";

const unitVariants = [
  "AccountInUse",
  "AccountLoadedTwice",
  "AccountNotFound",
  "ProgramAccountNotFound",
  "InsufficientFundsForFee",
  "InvalidAccountForFee",
  "AlreadyProcessed",
  "BlockhashNotFound",
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
  "MaxLoadedAccountsDataSizeExceeded",
  "InvalidLoadedAccountsDataSizeLimit",
  "ResanitizationNeeded",
  "UnbalancedTransaction",
];
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
];

/** The message that kit has for the same error, in its own words but for the case of letters. */
function kitMessage(error: string | { [variant: string]: unknown }): string {
  const known = getSolanaErrorFromTransactionError(error);
  expect(isSolanaError(known, SOLANA_ERROR__TRANSACTION_ERROR__UNKNOWN)).toBe(false);
  return known.message.split("\n")[0]?.toLowerCase() ?? "";
}

describe("sentences of errors agree with those that the client library knows", () => {
  for (const variant of unitVariants) {
    test(variant, () => {
      expect(encodeTransactionError(variant).toLowerCase()).toBe(kitMessage(variant));
    });
  }
  for (const variant of instructionVariants) {
    test(`InstructionError ${variant}`, () => {
      const error = { InstructionError: [3, variant] };
      const text = encodeTransactionError(error);
      expect(text).toStartWith("Error processing Instruction 3: ");
      expect(text.slice("Error processing Instruction 3: ".length).toLowerCase()).toStartWith(
        kitMessage(error).split(" (instruction")[0] ?? "",
      );
    });
  }
});

test("variants with a payload show it as the node does", () => {
  expect(encodeTransactionError({ InstructionError: [0, { Custom: 1 }] })).toBe(
    "Error processing Instruction 0: custom program error: 0x1",
  );
  expect(encodeTransactionError({ InstructionError: [2, { Custom: 6001 }] })).toBe(
    "Error processing Instruction 2: custom program error: 0x1771",
  );
  expect(encodeTransactionError({ InstructionError: [0, { BorshIoError: "Unknown" }] })).toBe(
    "Error processing Instruction 0: Failed to serialize or deserialize account data",
  );
  expect(encodeTransactionError({ DuplicateInstruction: 4 })).toBe(
    "Transaction contains a duplicate instruction (4) that is not allowed",
  );
  expect(encodeTransactionError({ InsufficientFundsForRent: { account_index: 1 } })).toBe(
    "Transaction results in an account (1) with insufficient funds for rent",
  );
  expect(encodeTransactionError({ ProgramExecutionTemporarilyRestricted: { account_index: 7 } })).toBe(
    "Execution of the program referenced by account at index 7 is temporarily restricted.",
  );
});

test("an error that is not known is named, never thrown at the caller", () => {
  expect(encodeTransactionError("SomethingNew")).toBe("SomethingNew");
  expect(encodeTransactionError({ InstructionError: [1, "SomethingNew"] })).toBe(
    "Error processing Instruction 1: SomethingNew",
  );
  expect(encodeTransactionError({ SomethingNew: { a: 1 } })).toBe("SomethingNew");
});
