import type { ExecutedTransaction, TransactionErrorJson } from "../model/index.ts";

/** A transaction with every key that it names, loaded ones included. */
export interface RecordedTransaction {
  readonly executed: ExecutedTransaction;
  readonly keys: readonly string[];
  /** For each key, whether the transaction locked it for writing. */
  readonly writable: readonly boolean[];
  /** Micro-lamports for one compute unit. */
  readonly unitPrice: bigint;
  /** Lamports of the fee that are priority fee. */
  readonly priorityFee: bigint;
}

/** A transaction as the list of an address tells of it. */
export interface AddressEntry {
  readonly signature: string;
  readonly slot: bigint;
  /** Position in its block. */
  readonly index: number;
  readonly error: TransactionErrorJson | null;
  /** Unix seconds. */
  readonly blockTime: bigint;
  /** Whether an instruction of the transaction itself calls a memo program. */
  readonly hasMemo: boolean;
}

/** Which of an address's transactions are asked for. */
export interface AddressRange {
  /** The highest slot that counts. */
  readonly newest: bigint;
  /** Signatures of a transaction above, and of one below, what is asked for; null is no bound. */
  readonly before: string | null;
  readonly until: string | null;
}
