import type { CompiledInstruction, TransactionErrorJson } from "@sluice/svm";

/**
 * Blocks and transactions as a node has confirmed them, whoever they come from. u64 values are bigint; addresses,
 * blockhashes and signatures are base58 text; transactions and data of instructions are raw bytes. Null is what the
 * node does not know or did not keep. Source: Solana's transaction-status, ConfirmedBlock and TransactionStatusMeta.
 */
export interface ConfirmedBlock {
  readonly slot: bigint;
  readonly parentSlot: bigint;
  readonly blockhash: string;
  readonly previousBlockhash: string;
  /** Unix seconds. */
  readonly blockTime: bigint | null;
  readonly blockHeight: bigint | null;
  /** In the order of execution. */
  readonly transactions: readonly ConfirmedTransaction[];
  readonly rewards: readonly Reward[];
  /** The number of slots over which an epoch's rewards are paid; only blocks that begin an epoch have it. */
  readonly rewardPartitions?: bigint;
}

export interface ConfirmedTransaction {
  /** The first signature. */
  readonly signature: string;
  /** The canonical wire bytes, signatures first. */
  readonly bytes: Uint8Array;
  readonly meta: TransactionMeta | null;
}

/** What the execution of a transaction has changed, of one that failed as well. */
export interface TransactionMeta {
  readonly error: TransactionErrorJson | null;
  /** Lamports. */
  readonly fee: bigint;
  /** One entry for each key: static, then loaded writable, then loaded readonly. */
  readonly preBalances: readonly bigint[];
  readonly postBalances: readonly bigint[];
  readonly preTokenBalances: readonly TokenBalance[] | null;
  readonly postTokenBalances: readonly TokenBalance[] | null;
  readonly innerInstructions: readonly InnerInstructions[] | null;
  readonly logs: readonly string[] | null;
  readonly loadedAddresses: LoadedAddresses;
  readonly returnData: ReturnData | null;
  readonly computeUnitsConsumed: bigint | null;
  readonly costUnits: bigint | null;
  /** Rewards of the transaction itself, which no cluster pays today; absent is an empty list. */
  readonly rewards?: readonly Reward[] | null;
}

export interface LoadedAddresses {
  readonly writable: readonly string[];
  readonly readonly: readonly string[];
}

export interface ReturnData {
  readonly programId: string;
  readonly data: Uint8Array;
}

/** An instruction that was executed; nodes of earlier versions did not keep how deep in calls. */
export interface ExecutedInstruction extends Omit<CompiledInstruction, "stackHeight" | "accounts"> {
  readonly accounts: ArrayLike<number>;
  readonly stackHeight: number | null;
}

/** What an outer instruction called; an outer one that called nothing may have no entry. */
export interface InnerInstructions {
  /** Position of the outer instruction. */
  readonly index: number;
  readonly instructions: readonly ExecutedInstruction[];
}

/** The tokens of one account of a transaction. */
export interface TokenBalance {
  readonly accountIndex: number;
  readonly mint: string;
  /** Null where the node did not keep it. */
  readonly owner: string | null;
  readonly programId: string | null;
  readonly amount: bigint;
  readonly decimals: number;
  /**
   * What the node shows where it is not what `amount` and `decimals` give: of mints that bear interest or scale their
   * amounts, and of records of earlier versions.
   */
  readonly shown?: ShownAmount;
}

export interface ShownAmount {
  readonly uiAmount: number | null;
  readonly uiAmountString: string;
}

export type RewardType = "Fee" | "Rent" | "Staking" | "Voting" | "DeactivatedStake";

export interface Reward {
  readonly pubkey: string;
  readonly lamports: bigint;
  readonly postBalance: bigint;
  readonly rewardType: RewardType | null;
  /** Per cent. */
  readonly commission: number | null;
  /** Hundredths of a per cent; absent where the node does not show it. */
  readonly commissionBps?: number | null;
}
