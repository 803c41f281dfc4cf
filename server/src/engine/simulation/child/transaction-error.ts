import {
  type FailedTransactionMetadata,
  InstructionErrorCustom,
  TransactionErrorDuplicateInstruction,
  TransactionErrorInstructionError,
  TransactionErrorInsufficientFundsForRent,
  TransactionErrorProgramExecutionTemporarilyRestricted,
} from "litesvm/dist/internal.js";

/** Names of errors without parts, in the order of LiteSVM's numbering. */
const transactionErrors = `AccountInUse AccountLoadedTwice AccountNotFound ProgramAccountNotFound
  InsufficientFundsForFee InvalidAccountForFee AlreadyProcessed BlockhashNotFound CallChainTooDeep
  MissingSignatureForFee InvalidAccountIndex SignatureFailure InvalidProgramForExecution SanitizeFailure
  ClusterMaintenance AccountBorrowOutstanding WouldExceedMaxBlockCostLimit UnsupportedVersion InvalidWritableAccount
  WouldExceedMaxAccountCostLimit WouldExceedAccountDataBlockLimit TooManyAccountLocks AddressLookupTableNotFound
  InvalidAddressLookupTableOwner InvalidAddressLookupTableData InvalidAddressLookupTableIndex InvalidRentPayingAccount
  WouldExceedMaxVoteCostLimit WouldExceedAccountDataTotalLimit MaxLoadedAccountsDataSizeExceeded ResanitizationNeeded
  InvalidLoadedAccountsDataSizeLimit UnbalancedTransaction ProgramCacheHitMaxLimit CommitCancelled`.split(/\s+/);

const instructionErrors = `GenericError InvalidArgument InvalidInstructionData InvalidAccountData AccountDataTooSmall
  InsufficientFunds IncorrectProgramId MissingRequiredSignature AccountAlreadyInitialized UninitializedAccount
  UnbalancedInstruction ModifiedProgramId ExternalAccountLamportSpend ExternalAccountDataModified
  ReadonlyLamportChange ReadonlyDataModified DuplicateAccountIndex ExecutableModified RentEpochModified
  NotEnoughAccountKeys AccountDataSizeChanged AccountNotExecutable AccountBorrowFailed AccountBorrowOutstanding
  DuplicateAccountOutOfSync InvalidError ExecutableDataModified ExecutableLamportChange ExecutableAccountNotRentExempt
  UnsupportedProgramId CallDepth MissingAccount ReentrancyNotAllowed MaxSeedLengthExceeded InvalidSeeds InvalidRealloc
  ComputationalBudgetExceeded PrivilegeEscalation ProgramEnvironmentSetupFailure ProgramFailedToComplete
  ProgramFailedToCompile Immutable IncorrectAuthority AccountNotRentExempt InvalidAccountOwner ArithmeticOverflow
  UnsupportedSysvar IllegalOwner MaxAccountsDataAllocationsExceeded MaxAccountsExceeded
  MaxInstructionTraceLengthExceeded BuiltinProgramsMustConsumeComputeUnits BorshIoError`.split(/\s+/);

/** The runtime's error as a node writes it: a bare name, or JSON where it has parts. */
export function transactionError(failed: FailedTransactionMetadata): string {
  const error = failed.err();
  if (typeof error === "number") return transactionErrors[error] ?? "SanitizeFailure";
  if (error instanceof TransactionErrorInstructionError) {
    const inner = error.err();
    if (typeof inner === "number") {
      return JSON.stringify({ InstructionError: [error.index, instructionErrors[inner] ?? "GenericError"] });
    }
    const what = inner instanceof InstructionErrorCustom ? { Custom: inner.code } : "BorshIoError";
    return JSON.stringify({ InstructionError: [error.index, what] });
  }
  if (error instanceof TransactionErrorDuplicateInstruction)
    return JSON.stringify({ DuplicateInstruction: error.index });
  const account = { account_index: "accountIndex" in error ? error.accountIndex : 0 };
  if (error instanceof TransactionErrorInsufficientFundsForRent) {
    return JSON.stringify({ InsufficientFundsForRent: account });
  }
  if (error instanceof TransactionErrorProgramExecutionTemporarilyRestricted) {
    return JSON.stringify({ ProgramExecutionTemporarilyRestricted: account });
  }
  return "SanitizeFailure";
}
