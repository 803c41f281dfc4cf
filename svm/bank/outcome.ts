import { encodeBase58 } from "@sluice/wire/base58";
import {
  FailedTransactionMetadata,
  InstructionErrorCustom,
  TransactionErrorDuplicateInstruction,
  TransactionErrorInstructionError,
  TransactionErrorInsufficientFundsForRent,
  TransactionErrorProgramExecutionTemporarilyRestricted,
  type TransactionMetadata,
} from "litesvm/dist/internal.js";
import { instructionErrorName, transactionErrorName } from "../native/error-names.ts";
import type { TransactionErrorJson } from "../outcome.ts";
import type { SvmOutcome } from "./svm.ts";

function errorJson(failed: FailedTransactionMetadata): TransactionErrorJson {
  const error = failed.err();
  if (typeof error === "number") return transactionErrorName(error);
  if (error instanceof TransactionErrorInstructionError) {
    const inner = error.err();
    if (typeof inner === "number") return { InstructionError: [error.index, instructionErrorName(inner)] };
    if (inner instanceof InstructionErrorCustom) return { InstructionError: [error.index, { Custom: inner.code }] };
    return { InstructionError: [error.index, "BorshIoError"] };
  }
  if (error instanceof TransactionErrorDuplicateInstruction) return { DuplicateInstruction: error.index };
  if (error instanceof TransactionErrorInsufficientFundsForRent) {
    return { InsufficientFundsForRent: { account_index: error.accountIndex } };
  }
  if (error instanceof TransactionErrorProgramExecutionTemporarilyRestricted) {
    return { ProgramExecutionTemporarilyRestricted: { account_index: error.accountIndex } };
  }
  return "SanitizeFailure";
}

function innerInstructions(meta: TransactionMetadata): SvmOutcome["innerInstructions"] {
  const groups = meta.innerInstructions().map((group, index) => ({
    index,
    instructions: group.map((inner) => {
      const instruction = inner.instruction();
      return {
        programIdIndex: instruction.programIdIndex(),
        accounts: [...instruction.accounts()],
        data: new Uint8Array(instruction.data()),
        stackHeight: inner.stackHeight(),
      };
    }),
  }));
  return groups.filter((group) => group.instructions.length > 0);
}

function returnData(meta: TransactionMetadata): SvmOutcome["returnData"] {
  const returned = meta.returnData();
  const data = returned.data();
  return data.length === 0 ? null : { programId: encodeBase58(returned.programId()), data: new Uint8Array(data) };
}

/** LiteSVM leaves the signature zero when it refused a transaction before running it. */
function wasRun(meta: TransactionMetadata): boolean {
  return meta.signature().some((byte) => byte !== 0);
}

/** What a machine said of a transaction, apart from the accounts that it changed. */
export type LiteSvmOutcome = Omit<SvmOutcome, "writes" | "balances"> & {
  /** Whether nothing ran, and the fee, which LiteSVM does not take then, is still due. */
  readonly feesOnly: boolean;
};

/** Reads LiteSVM's result. Each of its getters is a call of 0.3 to 1.5 µs: what cannot be there is not asked for. */
export function liteSvmOutcome(
  result: TransactionMetadata | FailedTransactionMetadata,
  callsNothing: boolean,
): LiteSvmOutcome {
  const failed = result instanceof FailedTransactionMetadata;
  const meta = failed ? result.meta() : result;
  const error = failed ? errorJson(result) : null;
  const feesOnly = error === "InvalidProgramForExecution" || error === "ProgramAccountNotFound";
  return {
    included: !failed || feesOnly || wasRun(meta),
    feesOnly,
    error,
    logs: meta.logs(),
    innerInstructions: callsNothing ? [] : innerInstructions(meta),
    computeUnitsConsumed: meta.computeUnitsConsumed(),
    returnData: callsNothing ? null : returnData(meta),
  };
}
