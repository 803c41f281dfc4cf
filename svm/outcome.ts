/** The JSON form of a TransactionError: a unit variant's name, or one key with its payload. */
export type TransactionErrorJson = string | { readonly [variant: string]: unknown };

/** An instruction that refers to keys by their position in the transaction. */
export interface CompiledInstruction {
  readonly programIdIndex: number;
  readonly accounts: readonly number[];
  readonly data: Uint8Array;
  /** 1 for an outer instruction, 2 for one that it calls, and so on. */
  readonly stackHeight: number;
}
