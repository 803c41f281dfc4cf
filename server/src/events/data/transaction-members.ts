import { encodeTransactionError, type JsonObject, type JsonValue, type TransactionMeta } from "@sluice/encode";
import type { TokenMovement } from "@sluice/parser";

/** Why a transaction failed, as it is shown everywhere. */
export type ErrorRecord = {
  readonly type: string;
  /** Of an InstructionError alone. */
  readonly index: number | bigint | null;
  readonly message: string;
};

/** Tokens that moved, as they are shown everywhere. */
export type TokenTransferRecord = {
  readonly from: string | null;
  readonly to: string | null;
  readonly mint: string | null;
  readonly amount: string;
  readonly decimals: number | null;
};

const isObject = (value: unknown): value is JsonObject =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * The record of an error of the chain: a name, or an object whose one member is the name.
 *
 * @param error - as a node has it, null of a transaction that succeeded
 */
export function errorRecord(error: JsonValue | TransactionMeta["error"]): ErrorRecord | null {
  if (error === null) return null;
  const [type = "unknown", payload = null] = isObject(error) ? (Object.entries(error)[0] ?? []) : [String(error), null];
  const at = type === "InstructionError" && Array.isArray(payload) ? payload[0] : null;
  const index = typeof at === "number" || typeof at === "bigint" ? at : null;
  return { type, index, message: encodeTransactionError(isObject(error) ? error : type) };
}

/** Ends are owners; token accounts where the owner is not known. */
export function tokenTransfers(tokens: readonly TokenMovement[]): TokenTransferRecord[] {
  return tokens.map((moved) => ({
    from: moved.fromOwner ?? moved.fromAccount,
    to: moved.toOwner ?? moved.toAccount,
    mint: moved.mint,
    amount: moved.amount.toString(),
    decimals: moved.decimals,
  }));
}
