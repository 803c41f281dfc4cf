/**
 * The chain's own records, as the engine produces them and the encoders present them. u64 values are bigint; addresses,
 * blockhashes and signatures are base58 text; instruction and account data are raw bytes.
 */

import type { ConfirmedBlock, TokenBalance as ShownTokenBalance, TransactionMeta } from "@sluice/encode";
import type { CompiledInstruction } from "@sluice/svm";

export type { Reward } from "@sluice/encode";
export type { ChainAccount, TransactionErrorJson } from "@sluice/svm";

/** This chain keeps everything that a node may not have kept. */
export interface TokenBalance extends ShownTokenBalance {
  readonly owner: string;
  readonly programId: string;
}

/** A transaction that was executed in a block, failed ones included. */
export interface ExecutedTransaction extends TransactionMeta {
  readonly signature: string;
  readonly slot: bigint;
  /** Position in its block. */
  readonly index: number;
  /** The canonical wire bytes, signatures first. */
  readonly bytes: Uint8Array;
  readonly preTokenBalances: readonly TokenBalance[];
  readonly postTokenBalances: readonly TokenBalance[];
  /** Grouped by the position of the outer instruction; groups without calls are left out. */
  readonly innerInstructions: readonly {
    readonly index: number;
    readonly instructions: readonly CompiledInstruction[];
  }[];
  readonly logs: readonly string[];
  readonly computeUnitsConsumed: bigint;
  readonly costUnits: bigint;
  /** Whether it counts as a vote. */
  readonly isVote: boolean;
}

export interface Block extends Omit<ConfirmedBlock, "transactions"> {
  /** Unix seconds. */
  readonly blockTime: bigint;
  readonly blockHeight: bigint;
  readonly transactions: readonly ExecutedTransaction[];
}

/** The block as its encoders take it. */
export function confirmedBlock(block: Block): ConfirmedBlock {
  const transactions = block.transactions.map((executed) => {
    return { signature: executed.signature, bytes: executed.bytes, meta: executed };
  });
  return { ...block, transactions };
}

/** A frozen slot as every commitment sees it once it has got there. */
export interface BankSlot {
  readonly slot: bigint;
  readonly parent: bigint;
  readonly blockhash: string;
  readonly blockHeight: bigint;
  /** Unix seconds. */
  readonly time: bigint;
  /** Transactions since genesis, this slot's included. */
  readonly transactionCount: bigint;
  /** Those of them that are votes. */
  readonly voteCount: bigint;
  /** Lamports in existence. */
  readonly capitalization: bigint;
}

export type Commitment = "processed" | "confirmed" | "finalized";
