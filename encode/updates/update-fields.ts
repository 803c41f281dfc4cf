/** Numbers of fields of a stream's messages. Source: geyser.proto. */

export const update = {
  filters: 1,
  account: 2,
  slot: 3,
  transaction: 4,
  block: 5,
  ping: 6,
  blockMeta: 7,
  entry: 8,
  pong: 9,
  status: 10,
  createdAt: 11,
} as const;

export const timestamp = { seconds: 1, nanos: 2 } as const;

export const account = { account: 1, slot: 2, isStartup: 3 } as const;

export const accountInfo = {
  pubkey: 1,
  lamports: 2,
  owner: 3,
  executable: 4,
  rentEpoch: 5,
  data: 6,
  writeVersion: 7,
  signature: 8,
} as const;

export const slot = { slot: 1, parent: 2, status: 3, deadError: 4 } as const;

export const transaction = { transaction: 1, slot: 2 } as const;

export const status = { slot: 1, signature: 2, isVote: 3, index: 4, error: 5 } as const;

/** What a block has beside the fields that its body has. */
export const block = {
  executedTransactionCount: 9,
  updatedAccountCount: 10,
  accounts: 11,
  entriesCount: 12,
  entries: 13,
} as const;

export const blockMeta = {
  slot: 1,
  blockhash: 2,
  rewards: 3,
  blockTime: 4,
  blockHeight: 5,
  parentSlot: 6,
  parentBlockhash: 7,
  executedTransactionCount: 8,
  entriesCount: 9,
} as const;

export const entry = {
  slot: 1,
  index: 2,
  hashCount: 3,
  hash: 4,
  executedTransactionCount: 5,
  startingTransactionIndex: 6,
} as const;

export const pong = { id: 1 } as const;

/** By number. */
export const slotStatuses = [
  "processed",
  "confirmed",
  "finalized",
  "firstShredReceived",
  "completed",
  "createdBank",
  "dead",
] as const;
export type SlotStatus = (typeof slotStatuses)[number];
