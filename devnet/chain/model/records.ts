/**
 * The chain's own records, as the engine produces them and the encoders present them. u64 values are bigint; addresses,
 * blockhashes and signatures are base58 text; instruction and account data are raw bytes.
 */

import type { CompiledInstruction, TransactionErrorJson } from "@sluice/svm";

export type { ChainAccount, CompiledInstruction, TransactionErrorJson } from "@sluice/svm";

export interface TokenBalance {
  readonly accountIndex: number;
  readonly mint: string;
  readonly owner: string;
  readonly programId: string;
  readonly amount: bigint;
  readonly decimals: number;
}

/** A transaction that was executed in a block, failed ones included. */
export interface ExecutedTransaction {
  readonly signature: string;
  readonly slot: bigint;
  /** Position in its block. */
  readonly index: number;
  /** The canonical wire bytes, signatures first. */
  readonly bytes: Uint8Array;
  readonly error: TransactionErrorJson | null;
  readonly fee: bigint;
  /** One entry for each key: static, then loaded writable, then loaded readonly. */
  readonly preBalances: readonly bigint[];
  readonly postBalances: readonly bigint[];
  readonly preTokenBalances: readonly TokenBalance[];
  readonly postTokenBalances: readonly TokenBalance[];
  /** Grouped by the position of the outer instruction; groups without calls are left out. */
  readonly innerInstructions: readonly {
    readonly index: number;
    readonly instructions: readonly CompiledInstruction[];
  }[];
  readonly logs: readonly string[];
  readonly loadedAddresses: { readonly writable: readonly string[]; readonly readonly: readonly string[] };
  readonly returnData: { readonly programId: string; readonly data: Uint8Array } | null;
  readonly computeUnitsConsumed: bigint;
  readonly costUnits: bigint;
  /** Whether it counts as a vote. */
  readonly isVote: boolean;
}

export interface Reward {
  readonly pubkey: string;
  readonly lamports: bigint;
  readonly postBalance: bigint;
  readonly rewardType: "Fee" | "Rent" | "Staking" | "Voting" | "DeactivatedStake" | null;
  readonly commission: number | null;
}

export interface Block {
  readonly slot: bigint;
  readonly parentSlot: bigint;
  readonly blockhash: string;
  readonly previousBlockhash: string;
  /** Unix seconds. */
  readonly blockTime: bigint;
  readonly blockHeight: bigint;
  readonly transactions: readonly ExecutedTransaction[];
  readonly rewards: readonly Reward[];
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
