import type { TransactionErrorJson } from "../model.ts";

/** The sentence that a node writes for a TransactionError, as in "Transaction simulation failed: <sentence>". */
export function encodeTransactionError(error: TransactionErrorJson): string {
  return typeof error === "string" ? error : JSON.stringify(error);
}
