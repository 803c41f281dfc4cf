import { encodeBase58 } from "@sluice/wire/base58";
import { FailedTransactionMetadata, type TransactionMetadata } from "litesvm/dist/internal.js";
import { transactionError } from "../native/transaction-error.ts";
import type { SvmOutcome } from "./svm.ts";

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

/** The outcome of a transaction, without the accounts that it changed. */
export type LiteSvmOutcome = Omit<SvmOutcome, "writes" | "balances"> & {
  /** Whether nothing ran and the fee is due all the same: LiteSVM does not take it then. */
  readonly feesOnly: boolean;
};

/** Reads LiteSVM's result. Each of its getters is a call of 0.3 to 1.5 µs: `callsNothing` leaves out what cannot exist. */
export function liteSvmOutcome(
  result: TransactionMetadata | FailedTransactionMetadata,
  callsNothing: boolean,
): LiteSvmOutcome {
  const failed = result instanceof FailedTransactionMetadata;
  const meta = failed ? result.meta() : result;
  const error = failed ? transactionError(result) : null;
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
