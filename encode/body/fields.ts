/**
 * Numbers of fields as yellowstone-grpc has them (geyser.proto, solana-storage.proto), and our own from 1000 on, which
 * others skip. Ours keep what that proto loses: null beside an empty list, zero beside none.
 */

export const block = {
  slot: 1,
  blockhash: 2,
  rewards: 3,
  blockTime: 4,
  blockHeight: 5,
  transactions: 6,
  parentSlot: 7,
  parentBlockhash: 8,
  executedTransactionCount: 9,
} as const;

export const rewards = { rewards: 1, partitions: 2 } as const;

/** UnixTimestamp, BlockHeight and NumPartitions have one field each. */
export const boxed = { value: 1 } as const;

export const transactionInfo = { signature: 1, isVote: 2, transaction: 3, meta: 4, index: 5 } as const;

export const transaction = { signatures: 1, message: 2 } as const;

export const message = {
  header: 1,
  accountKeys: 2,
  recentBlockhash: 3,
  instructions: 4,
  versioned: 5,
  lookups: 6,
  config: 7,
} as const;

export const header = { signers: 1, readonlySigners: 2, readonlyOthers: 3 } as const;

export const config = { priorityFee: 1, computeUnitLimit: 2, loadedAccountsDataSizeLimit: 3, heapSize: 4 } as const;

export const lookup = { accountKey: 1, writable: 2, readonly: 3 } as const;

/** CompiledInstruction, and InnerInstruction, which has one field more. */
export const instruction = { programIdIndex: 1, accounts: 2, data: 3, stackHeight: 4 } as const;

export const meta = {
  error: 1,
  fee: 2,
  preBalances: 3,
  postBalances: 4,
  innerInstructions: 5,
  logs: 6,
  preTokenBalances: 7,
  postTokenBalances: 8,
  rewards: 9,
  innerInstructionsNone: 10,
  logsNone: 11,
  loadedWritable: 12,
  loadedReadonly: 13,
  returnData: 14,
  returnDataNone: 15,
  computeUnitsConsumed: 16,
  costUnits: 17,
  /** Ours. */
  preTokenBalancesNone: 1000,
  postTokenBalancesNone: 1001,
  rewardsNone: 1002,
} as const;

/** `json`, ours, is the error of a node that is newer than the list of errors. */
export const error = { bincode: 1, json: 1000 } as const;

export const innerInstructions = { index: 1, instructions: 2 } as const;

/** `uiAmountZero` is ours: the amount is shown as 0, not as null. */
export const tokenBalance = { accountIndex: 1, mint: 2, uiTokenAmount: 3, owner: 4, programId: 5 } as const;
export const uiTokenAmount = { uiAmount: 1, decimals: 2, amount: 3, uiAmountString: 4, uiAmountZero: 1000 } as const;

export const returnData = { programId: 1, data: 2 } as const;

/** `commissionBpsNone` is ours: the member is shown as null, not left out. */
export const reward = {
  pubkey: 1,
  lamports: 2,
  postBalance: 3,
  rewardType: 4,
  commission: 5,
  commissionBps: 6,
  commissionBpsNone: 1000,
} as const;

/** By number; 0 is none. */
export const rewardTypes = [null, "Fee", "Rent", "Staking", "Voting", "DeactivatedStake"] as const;
