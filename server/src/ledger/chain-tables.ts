import {
  blockhash,
  byPartition,
  filter,
  index,
  network,
  place,
  slot,
  small,
  text,
  texts,
  times,
  u64,
  wholeParts,
  word,
} from "./block-columns.ts";
import { parsedTable, reparsesTable } from "./parsed-tables.ts";
import type { ColumnDefinition, TableDefinition } from "./table-definition.ts";

/**
 * The tables of blocks. A row is named by network, slot and blockhash, and inside a block by the index of its
 * transaction and its own position, so that a block which is written twice is there once: readers add FINAL, or take
 * rows of one key once. Two blocks of one slot (forks) are told apart by the blockhash at the end of the key; rows of
 * blocks that left the chain stay, and readers leave out those that `dropped_blocks` names.
 *
 * Addresses, blockhashes and signatures are base58 text, since who asks in SQL writes them so. Neighbouring rows repeat
 * them, which ZSTD takes for a few bytes.
 */

/** The same of the tables in another order, of which each look-up reads every partition. */
const lookupPartitionSlots = 16_000_000;

/** One row for each block. */
export const blocksTable: TableDefinition = {
  name: "blocks",
  timeColumn: "at",
  columns: [
    network,
    slot,
    blockhash,
    ...times,
    u64("parent_slot"),
    text("parent_blockhash"),
    small("block_height", "Nullable(UInt64)"),
    small("transactions", "UInt32"),
    /** Of these. */
    small("votes", "UInt32"),
    small("failed", "UInt32"),
    /** Lamports, of all transactions. */
    u64("fees"),
    u64("compute_units"),
    /** Who was paid the fees; empty where the block does not say. */
    text("leader"),
    /** The block as `packBlock` writes it, without its transactions. */
    { name: "body", type: "String", codec: "ZSTD(3)" },
  ],
  ...byPartition,
  orderBy: ["network", "slot", "blockhash"],
  indexes: [filter("blockhash")],
  shardBy: "cityHash64(network, intDiv(slot, 16))",
  settings: [wholeParts],
};

/** One row for each transaction, votes and failed ones included. */
export const transactionsTable: TableDefinition = {
  name: "transactions",
  timeColumn: "at",
  columns: [
    ...place,
    text("signature"),
    small("success", "Bool"),
    /** The error as nodes write it in JSON; empty without one. */
    word("error"),
    /** Lamports; 0 where the node kept no meta. */
    u64("fee"),
    small("compute_units", "Nullable(UInt64)"),
    small("is_vote", "Bool"),
    text("fee_payer"),
    texts("signers"),
    /** `legacy`, `0` or `1`. */
    word("version"),
    /** All keys in the order of the transaction: static, loaded writable, loaded readonly. */
    texts("accounts"),
    /** How many of them are static, and how many of those that follow are loaded writable. */
    small("static_accounts", "UInt16"),
    small("loaded_writable", "UInt16"),
    /** Programs of outer and inner instructions, each once. */
    { name: "program_ids", type: "Array(LowCardinality(String))", codec: "ZSTD" },
    /** As `getSignaturesForAddress` shows it; empty without one. */
    text("memo"),
    /** `geyser.SubscribeUpdateTransactionInfo` as `packBlock` writes it. */
    text("body"),
  ],
  ...byPartition,
  orderBy: ["network", "slot", "transaction_index", "blockhash"],
  primaryKey: ["network", "slot", "transaction_index"],
  indexes: [filter("signature"), filter("accounts")],
  shardBy: "cityHash64(network, intDiv(slot, 16))",
  // A page of an address reads a thousand single rows: small granules are what that costs.
  settings: [wholeParts, "index_granularity = 256", "index_granularity_bytes = 1048576"],
};

/** One row for each instruction, outer and inner, in the order of execution. */
export const instructionsTable: TableDefinition = {
  name: "instructions",
  timeColumn: "at",
  columns: [
    ...place,
    /** In the order of execution in its transaction, from 0. */
    small("position", "UInt16"),
    /** Of the outer instruction; and among those that it called, null for the outer one itself. */
    small("outer_index", "UInt16"),
    small("inner_index", "Nullable(UInt16)"),
    /** 1 for an outer instruction; null where nodes did not keep it. */
    small("stack_height", "Nullable(UInt8)"),
    text("signature"),
    small("success", "Bool"),
    word("program_id"),
    texts("accounts"),
    /** Bytes. */
    text("data"),
  ],
  ...byPartition,
  orderBy: ["network", "slot", "transaction_index", "position", "blockhash"],
  primaryKey: ["network", "slot", "transaction_index"],
  indexes: [filter("program_id"), filter("accounts")],
  shardBy: "cityHash64(network, intDiv(slot, 16))",
  settings: [wholeParts],
};

/** What both kinds of movement have; `position` counts those of one transaction and table from 0. */
const movement = [
  ...place,
  small("position", "UInt16"),
  text("signature"),
  word("kind"),
  /** The position of the instruction that states it; null for what balances alone show. */
  small("instruction", "Nullable(UInt16)"),
] as const;

/**
 * Tokens that moved (docs/decisions/0065): `kind` is transfer, mint, burn, wrap, unwrap, withheld or program. Over all
 * of them each account's sum is the change of its balance. A side that is none, or is not known, is empty.
 */
export const tokenMovementsTable: TableDefinition = {
  name: "token_movements",
  timeColumn: "at",
  columns: [
    ...movement,
    text("mint"),
    small("decimals", "Nullable(UInt8)"),
    u64("amount"),
    /** What is withheld of the amount on its way. */
    u64("fee"),
    text("from_account"),
    text("from_owner"),
    text("to_account"),
    text("to_owner"),
  ],
  ...byPartition,
  orderBy: ["network", "slot", "transaction_index", "position", "blockhash"],
  primaryKey: ["network", "slot", "transaction_index"],
  indexes: [filter("mint"), filter("from_owner"), filter("to_owner")],
  shardBy: "cityHash64(network, intDiv(slot, 16))",
  settings: [wholeParts],
};

/**
 * Lamports that moved, the fee not among them; as token movements. Of kind `wrapped` are those behind a movement of
 * wrapped native tokens, which is a token movement as well: who lists transfers leaves them out.
 */
export const nativeMovementsTable: TableDefinition = {
  name: "native_movements",
  timeColumn: "at",
  columns: [...movement, u64("amount"), text("from_account"), text("to_account")],
  ...byPartition,
  orderBy: ["network", "slot", "transaction_index", "position", "blockhash"],
  primaryKey: ["network", "slot", "transaction_index"],
  indexes: [filter("from_account"), filter("to_account")],
  shardBy: "cityHash64(network, intDiv(slot, 16))",
  settings: [wholeParts],
};

/** Balances that a transaction changed: lamports (`mint` empty) and tokens. */
export const accountChangesTable: TableDefinition = {
  name: "account_changes",
  timeColumn: "at",
  columns: [
    ...place,
    /** The place of the account among the keys of the transaction. */
    small("account_index", "UInt16"),
    text("account"),
    text("mint"),
    /** Of a token account; empty where it is not known, and for lamports. */
    text("owner"),
    small("decimals", "UInt8"),
    u64("before"),
    u64("after"),
  ],
  ...byPartition,
  orderBy: ["network", "slot", "transaction_index", "account_index", "mint", "blockhash"],
  primaryKey: ["network", "slot", "transaction_index"],
  indexes: [filter("account"), filter("mint")],
  shardBy: "cityHash64(network, intDiv(slot, 16))",
  settings: [wholeParts],
};

/** Rewards that a block paid. */
export const rewardsTable: TableDefinition = {
  name: "rewards",
  timeColumn: "at",
  columns: [
    network,
    slot,
    blockhash,
    ...times,
    /** In the block, from 0. */
    small("position", "UInt32"),
    text("account"),
    /** Fee, Rent, Staking, Voting, DeactivatedStake; empty where the block does not say. */
    word("reward_type"),
    /** Negative where it was charged. */
    small("lamports", "Int64"),
    u64("balance"),
    /** Per cent. */
    small("commission", "Nullable(UInt8)"),
  ],
  ...byPartition,
  orderBy: ["network", "slot", "position", "blockhash"],
  indexes: [filter("account")],
  shardBy: "cityHash64(network, intDiv(slot, 16))",
  settings: [wholeParts],
};

const lookup = {
  timeColumn: "at",
  partitionBy: `network, intDiv(slot, ${lookupPartitionSlots})`,
  replacing: true,
} as const;

/**
 * Where a transaction is, by its first signature. The key is the first eight bytes of the signature as a little-endian
 * number: two signatures may share it, so who finds a place compares the signature there.
 */
export const transactionsBySignatureTable: TableDefinition = {
  name: "transactions_by_signature",
  columns: [
    network,
    // Random: nothing is gained by compressing it.
    { name: "signature_key", type: "UInt64", codec: "NONE" },
    { name: "slot", type: "UInt64", codec: "ZSTD" },
    index,
    blockhash,
    times[1] as ColumnDefinition,
  ],
  ...lookup,
  orderBy: ["network", "signature_key", "slot", "transaction_index", "blockhash"],
  primaryKey: ["network", "signature_key"],
  shardBy: "cityHash64(signature_key)",
  settings: ["index_granularity = 2048"],
};

/** The transactions of an address, whichever place it has among their accounts. */
export const transactionsByAddressTable: TableDefinition = {
  name: "transactions_by_address",
  columns: [network, text("address"), slot, index, blockhash, times[1] as ColumnDefinition, small("success", "Bool")],
  ...lookup,
  orderBy: ["network", "address", "slot", "transaction_index", "blockhash"],
  primaryKey: ["network", "address", "slot", "transaction_index"],
  shardBy: "cityHash64(address)",
  settings: ["index_granularity = 4096"],
};

/** The tables of blocks in the order in which a block is written: who finds it in the last one, `blocks`, finds all. */
export const chainTables: readonly TableDefinition[] = [
  transactionsTable,
  instructionsTable,
  tokenMovementsTable,
  nativeMovementsTable,
  accountChangesTable,
  rewardsTable,
  transactionsBySignatureTable,
  transactionsByAddressTable,
  parsedTable,
  blocksTable,
];

/**
 * Blocks that were confirmed, were written, and left the chain. A block may come back: of its rows the one with the
 * highest version says whether it is out. Readers leave out what
 * `SELECT network, slot, blockhash FROM dropped_blocks FINAL WHERE dropped` gives.
 */
export const droppedBlocksTable: TableDefinition = {
  name: "dropped_blocks",
  timeColumn: "at",
  columns: [
    network,
    slot,
    blockhash,
    { name: "at", type: "DateTime64(3, 'UTC')" },
    { name: "version", type: "UInt64" },
    { name: "dropped", type: "Bool" },
  ],
  partitionBy: "network",
  replacing: { version: "version" },
  orderBy: ["network", "slot", "blockhash"],
  shardBy: "cityHash64(network)",
};

/**
 * Which finalized slots of a network the ledger holds whole, skipped ones among them: from `first_slot` up to but not
 * including `until_slot`. Ranges grow (the row with the highest `until_slot` stands), may touch and overlap, and their
 * highest end is the network's watermark: what is below it is final. The writer's row also says where it goes on.
 */
export const heldRangesTable: TableDefinition = {
  name: "held_ranges",
  timeColumn: "at",
  columns: [
    network,
    /** `writer`, which follows the chain, or `backfill`. */
    word("source"),
    { name: "first_slot", type: "UInt64" },
    { name: "until_slot", type: "UInt64" },
    { name: "at", type: "DateTime64(3, 'UTC')" },
    { name: "version", type: "UInt64" },
    /** Of the log, after the last event that was written; empty in rows of backfill. */
    { name: "cursor", type: "String" },
    /** The chain of the row: its genesis hash, and the hash of the first block after it, or empty. */
    { name: "genesis_hash", type: "String" },
    { name: "first_blockhash", type: "String" },
  ],
  partitionBy: "network",
  replacing: { version: "version" },
  orderBy: ["network", "source", "first_slot"],
  shardBy: "cityHash64(network)",
};

/** Slots that operators want to be held. Of one order the row with the highest version stands. */
export const backfillsTable: TableDefinition = {
  name: "backfills",
  timeColumn: "at",
  columns: [
    network,
    { name: "id", type: "String" },
    { name: "first_slot", type: "UInt64" },
    { name: "until_slot", type: "UInt64" },
    /** `active`, `done` or `cancelled`. */
    word("state"),
    { name: "at", type: "DateTime64(3, 'UTC')" },
    { name: "version", type: "UInt64" },
  ],
  partitionBy: "network",
  replacing: { version: "version" },
  orderBy: ["network", "id"],
  shardBy: "cityHash64(network)",
};

/** Of every chain table, kept for ever: small, and what readers judge the others by. */
export const chainRecordTables: readonly TableDefinition[] = [
  droppedBlocksTable,
  heldRangesTable,
  backfillsTable,
  reparsesTable,
];
