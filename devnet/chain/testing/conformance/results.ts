import {
  address,
  anything,
  boolean,
  decimalText,
  either,
  float,
  i64,
  list,
  literal,
  nothing,
  nullable,
  object,
  record,
  type Shape,
  signature,
  text,
  tuple,
  u8,
  u16,
  u32,
  u64,
  withContext,
} from "./shape.ts";

/** The shapes of every method's result. Source: Agave's RPC types, by member name and Rust type. */

const uiAmount = object({
  uiAmount: nullable(float),
  decimals: u8,
  amount: decimalText,
  uiAmountString: text,
});

const accountData = either(
  text,
  tuple(text, either(literal("base58"), literal("base64"), literal("base64+zstd"))),
  object({ program: text, parsed: anything, space: u64 }),
);

export const account = object({
  lamports: u64,
  data: accountData,
  owner: address,
  executable: boolean,
  rentEpoch: u64,
  space: u64,
});

const keyedAccount = object({ pubkey: address, account });

const compiled = object({ programIdIndex: u8, accounts: list(u8), data: text, stackHeight: nullable(u32) });
const parsed = object({
  program: text,
  programId: address,
  parsed: either(text, object({ type: text, "info?": anything })),
  stackHeight: nullable(u32),
});
const partly = object({ programId: address, accounts: list(address), data: text, stackHeight: nullable(u32) });
const instruction = either(compiled, parsed, partly);

const tokenBalance = object({
  accountIndex: u8,
  mint: address,
  "owner?": address,
  "programId?": address,
  uiTokenAmount: uiAmount,
});

const loadedAddresses = object({ writable: list(address), readonly: list(address) });
const returnData = object({ programId: address, data: tuple(text, literal("base64")) });
const inner = list(object({ index: u8, instructions: list(instruction) }));
const status = either(object({ Ok: nothing }), object({ Err: anything }));

const reward = object({
  pubkey: address,
  lamports: i64,
  postBalance: u64,
  rewardType: nullable(
    either(literal("Fee"), literal("Rent"), literal("Staking"), literal("Voting"), literal("DeactivatedStake")),
  ),
  commission: nullable(u8),
  "commissionBps?": u16,
});

const meta = object({
  err: anything,
  status,
  fee: u64,
  preBalances: list(u64),
  postBalances: list(u64),
  innerInstructions: nullable(inner),
  logMessages: nullable(list(text)),
  preTokenBalances: nullable(list(tokenBalance)),
  postTokenBalances: nullable(list(tokenBalance)),
  rewards: nullable(list(reward)),
  "loadedAddresses?": loadedAddresses,
  "returnData?": returnData,
  "computeUnitsConsumed?": u64,
  "costUnits?": u64,
});

const slimMeta = object({
  err: anything,
  status,
  fee: u64,
  preBalances: list(u64),
  postBalances: list(u64),
  preTokenBalances: nullable(list(tokenBalance)),
  postTokenBalances: nullable(list(tokenBalance)),
  "rewards?": nullable(list(reward)),
});

const lookup = object({ accountKey: address, writableIndexes: list(u8), readonlyIndexes: list(u8) });
const keySource = either(literal("transaction"), literal("lookupTable"));
const listedKey = object({ pubkey: address, writable: boolean, signer: boolean, source: keySource });
const header = object({ numRequiredSignatures: u8, numReadonlySignedAccounts: u8, numReadonlyUnsignedAccounts: u8 });

const transactionBody = either(
  text,
  tuple(text, either(literal("base58"), literal("base64"))),
  object({
    signatures: list(signature, 1),
    message: object({
      "header?": header,
      accountKeys: either(list(address), list(listedKey)),
      recentBlockhash: address,
      instructions: list(instruction),
      "addressTableLookups?": list(lookup),
      "transactionConfig?": anything,
    }),
  }),
  object({ signatures: list(signature, 1), accountKeys: list(listedKey) }),
);

const version = either(literal("legacy"), literal(0), literal(1));
const transaction = object({ transaction: transactionBody, meta: either(meta, slimMeta), "version?": version });

export const block = object({
  blockhash: address,
  previousBlockhash: address,
  parentSlot: u64,
  blockTime: nullable(i64),
  blockHeight: nullable(u64),
  "transactions?": list(transaction),
  "signatures?": list(signature),
  "rewards?": list(reward),
  "numRewardPartitions?": u64,
});

const confirmationStatus = either(literal("processed"), literal("confirmed"), literal("finalized"));

const signatureRow = object({
  signature,
  slot: u64,
  err: anything,
  memo: nullable(text),
  blockTime: nullable(i64),
  confirmationStatus: nullable(confirmationStatus),
  "transactionIndex?": u32,
});

const voter = object({
  votePubkey: address,
  nodePubkey: address,
  activatedStake: u64,
  commission: u8,
  "inflationRewardsCommissionBps?": u16,
  epochVoteAccount: boolean,
  epochCredits: list(tuple(u64, u64, u64), 0, 5),
  lastVote: u64,
  rootSlot: u64,
});

const socket = nullable(text);
const contact = object({
  pubkey: address,
  gossip: socket,
  tvu: socket,
  tpu: nothing,
  tpuQuic: socket,
  tpuForwards: nothing,
  tpuForwardsQuic: socket,
  tpuVote: socket,
  serveRepair: socket,
  rpc: socket,
  pubsub: socket,
  version: nullable(text),
  clientId: nullable(text),
  featureSet: nullable(u32),
  shredVersion: nullable(u16),
});

export const simulation = object({
  err: anything,
  logs: nullable(list(text)),
  accounts: nullable(list(nullable(account))),
  unitsConsumed: nullable(u64),
  loadedAccountsDataSize: nullable(u32),
  returnData: nullable(returnData),
  innerInstructions: nullable(inner),
  replacementBlockhash: nullable(object({ blockhash: address, lastValidBlockHeight: u64 })),
  fee: nullable(u64),
  preBalances: nullable(list(u64)),
  postBalances: nullable(list(u64)),
  preTokenBalances: nullable(list(tokenBalance)),
  postTokenBalances: nullable(list(tokenBalance)),
  loadedAddresses: nullable(loadedAddresses),
});

const inflationReward = object({
  epoch: u64,
  effectiveSlot: u64,
  amount: u64,
  postBalance: u64,
  commission: nullable(u8),
  "commissionBps?": u16,
});

export const results: Readonly<Record<string, Shape>> = {
  getAccountInfo: withContext(nullable(account)),
  getAgGenesisCert: nothing,
  getBalance: withContext(u64),
  getBlock: block,
  getBlockCommitment: object({ commitment: nullable(list(u64, 32, 32)), totalStake: u64 }),
  getBlockHeight: u64,
  getBlockProduction: withContext(
    object({ byIdentity: record(address, tuple(u64, u64)), range: object({ firstSlot: u64, lastSlot: u64 }) }),
  ),
  getBlocks: list(u64),
  getBlocksWithLimit: list(u64),
  getBlockTime: nullable(i64),
  getClusterNodes: list(contact, 1),
  getEpochInfo: object({
    absoluteSlot: u64,
    blockHeight: u64,
    epoch: u64,
    slotIndex: u64,
    slotsInEpoch: u64,
    transactionCount: nullable(u64),
  }),
  getEpochSchedule: object({
    slotsPerEpoch: u64,
    leaderScheduleSlotOffset: u64,
    warmup: boolean,
    firstNormalEpoch: u64,
    firstNormalSlot: u64,
  }),
  getFeeForMessage: withContext(nullable(u64)),
  getFirstAvailableBlock: u64,
  getGenesisHash: address,
  getHealth: literal("ok"),
  getIdentity: object({ identity: address }),
  getInflationGovernor: object({
    initial: float,
    terminal: float,
    taper: float,
    foundation: float,
    foundationTerm: float,
  }),
  getInflationRate: object({ total: float, validator: float, foundation: float, epoch: u64 }),
  getInflationReward: list(nullable(inflationReward)),
  getLargestAccounts: withContext(list(object({ address, lamports: u64 }), 0, 20)),
  getLatestBlockhash: withContext(object({ blockhash: address, lastValidBlockHeight: u64 })),
  getLeaderSchedule: nullable(record(address, list(u64))),
  getMaxRetransmitSlot: u64,
  getMaxShredInsertSlot: u64,
  getMinimumBalanceForRentExemption: u64,
  getMultipleAccounts: withContext(list(nullable(account))),
  getProgramAccounts: either(list(keyedAccount), withContext(list(keyedAccount))),
  getRecentPerformanceSamples: list(
    object({
      slot: u64,
      numTransactions: u64,
      numNonVoteTransactions: nullable(u64),
      numSlots: u64,
      samplePeriodSecs: u16,
    }),
  ),
  getRecentPrioritizationFees: list(object({ slot: u64, prioritizationFee: u64 }), 0, 150),
  getSignaturesForAddress: list(signatureRow),
  getSignatureStatuses: withContext(
    list(
      nullable(
        object({
          slot: u64,
          confirmations: nullable(u64),
          status,
          err: anything,
          confirmationStatus: nullable(confirmationStatus),
        }),
      ),
    ),
  ),
  getSlot: u64,
  getSlotLeader: address,
  getSlotLeaders: list(address),
  getStakeMinimumDelegation: withContext(u64),
  getSupply: withContext(
    object({ total: u64, circulating: u64, nonCirculating: u64, nonCirculatingAccounts: list(address) }),
  ),
  getTokenAccountBalance: withContext(uiAmount),
  getTokenAccountsByDelegate: withContext(list(keyedAccount)),
  getTokenAccountsByOwner: withContext(list(keyedAccount)),
  getTokenLargestAccounts: withContext(
    list(
      object({ address, uiAmount: nullable(float), decimals: u8, amount: decimalText, uiAmountString: text }),
      0,
      20,
    ),
  ),
  getTokenSupply: withContext(uiAmount),
  getTransaction: nullable(
    object({
      slot: u64,
      transaction: transactionBody,
      meta: nullable(meta),
      "version?": version,
      blockTime: nullable(i64),
      "transactionIndex?": u32,
    }),
  ),
  getTransactionCount: u64,
  getVersion: object({ "solana-core": text, "feature-set": nullable(u32) }),
  getVoteAccounts: object({ current: list(voter), delinquent: list(voter) }),
  isBlockhashValid: withContext(boolean),
  minimumLedgerSlot: u64,
  requestAirdrop: signature,
  sendTransaction: signature,
  simulateTransaction: withContext(simulation),
};
