/**
 * SQL over the ledger: the views that customers read, their columns, and the bounds of a query, as data. The views are
 * made from these, the schema endpoint and the guide show them.
 */

/** A column of a view; `type` is the engine's own name of it. */
export interface SqlColumn {
  readonly name: string;
  readonly type: string;
  readonly description: string;
}

/** A view, and what one row of it is. */
export interface SqlView {
  readonly name: string;
  readonly description: string;
  readonly columns: readonly SqlColumn[];
}

/** Forms of a result. `arrow` is the Arrow IPC stream. */
export const sqlFormats = ["json", "csv", "arrow"] as const;
export type SqlFormat = (typeof sqlFormats)[number];

/** Bounds of SQL: bytes, milliseconds and counts, as their names say. */
export const sqlLimits = {
  /** Of the text of a query, in UTF-8. */
  queryBytes: 64 * 1024,
  parameters: 100,
  /** Of all values of one query, as JSON: they travel in an address. Longer lists belong into the text. */
  parameterBytes: 4 * 1024,
  executionMs: 30_000,
  /** What a query may read, uncompressed. */
  readBytes: 10_000_000_000,
  memoryBytes: 1024 * 1024 * 1024,
  resultRows: 100_000,
  resultBytes: 64 * 1024 * 1024,
  /** Bytes that one further credit pays for; a started part counts as a whole one. */
  bytesPerCredit: 100_000_000,
  /** Saved queries of an account, and characters of the name of one. */
  savedQueries: 100,
  savedNameLength: 100,
} as const;

const column = (name: string, type: string, description: string): SqlColumn => ({ name, type, description });

const word = "LowCardinality(String)";
const slot = column("slot", "UInt64", "The slot");
const network = column("network", word, "The chain");
const index = column("transaction_index", "UInt32", "Place of the transaction in its block, from 0");
const blockhash = column("blockhash", "String", "The block");
const blockTime = column("block_time", "Nullable(DateTime('UTC'))", "The block's own time; null where it has none");
const signature = column("signature", "String", "The first signature of the transaction");
const success = column("success", "Bool", "False for a transaction that failed");
const finalized = column("finalized", "Bool", "False while the block is confirmed only");
const place = [network, slot, index, blockhash, blockTime, signature] as const;
const position = column("position", "UInt16", "Place among those of the transaction, from 0");
const kind = column("kind", word, "transfer, mint, burn, or other");

const blocks: SqlView = {
  name: "blocks",
  description: "A block, from the moment it is confirmed",
  columns: [
    network,
    slot,
    blockhash,
    blockTime,
    column("parent_slot", "UInt64", "The slot of the block before"),
    column("parent_blockhash", "String", "The block before"),
    column("block_height", "Nullable(UInt64)", "How many blocks came before it"),
    column("leader", "String", "Who was paid the fees; empty where the block does not say"),
    column("transactions", "UInt32", "Transactions in it, votes among them"),
    column("votes", "UInt32", "Votes in it"),
    column("failed", "UInt32", "Transactions in it that failed"),
    column("fees", "UInt64", "Lamports, of all its transactions"),
    column("compute_units", "UInt64", "Of all its transactions"),
    finalized,
  ],
};

const transactions: SqlView = {
  name: "transactions",
  description: "A transaction, votes and failed ones included",
  columns: [
    ...place,
    success,
    column("error", word, "The error as nodes write it in JSON; empty without one"),
    column("fee", "UInt64", "Lamports"),
    column("compute_units", "Nullable(UInt64)", "Compute units that it used"),
    column("is_vote", "Bool", "Whether it is a vote of a validator"),
    column("fee_payer", "String", "The first signer"),
    column("signers", "Array(String)", "Its signers"),
    column("version", word, "legacy or 0"),
    column("accounts", "Array(String)", "All its accounts, those from lookup tables at the end"),
    column("program_ids", `Array(${word})`, "Programs of its instructions, each once"),
    column("memo", "String", "Its memos; empty without one"),
    finalized,
  ],
};

const instructions: SqlView = {
  name: "instructions",
  description: "An instruction, outer or inner, in the order of execution",
  columns: [
    ...place,
    success,
    position,
    column("outer_index", "UInt16", "Place of the outer instruction that it is or belongs to"),
    column("inner_index", "Nullable(UInt16)", "Place among those that the outer one called; null for an outer one"),
    column("stack_height", "Nullable(UInt8)", "1 for an outer instruction; null where nodes did not keep it"),
    column("program_id", word, "The program"),
    column("accounts", "Array(String)", "The accounts that it names"),
    column("data", "String", "Its data, base58"),
  ],
};

const tokenTransfers: SqlView = {
  name: "token_transfers",
  description: "Tokens that went from one account to another, wrapped SOL among them",
  columns: [
    ...place,
    position,
    kind,
    column("mint", "String", "The token"),
    column("decimals", "Nullable(UInt8)", "Of the token; null where it is not known"),
    column("amount", "UInt64", "In the token's smallest unit"),
    column("from_account", "String", "The token account; empty where it is not known, or for a mint"),
    column("from_owner", "String", "Its owner"),
    column("to_account", "String", "The token account; empty where it is not known, or for a burn"),
    column("to_owner", "String", "Its owner"),
  ],
};

const nativeTransfers: SqlView = {
  name: "native_transfers",
  description: "Lamports that went from one account to another, fees not among them",
  columns: [
    ...place,
    position,
    kind,
    column("amount", "UInt64", "Lamports"),
    column("from_account", "String", "Empty where it is not known"),
    column("to_account", "String", "Empty where it is not known"),
  ],
};

const parsed: SqlView = {
  name: "parsed",
  description: "A transaction as the enhanced API describes it",
  columns: [
    ...place,
    column("fee_payer", "String", "The first signer"),
    column("type", word, "What it does, such as SWAP"),
    column("source", word, "The program or market by name"),
    column("description", "String", "A sentence for people"),
    column("events", "String", "The events, JSON"),
    column("success", "Bool", "Of one that failed, the type is what it attempted"),
    column("program_id", word, "The program whose call causes the type; empty where there is none"),
    column("trader", "String", "Who swaps"),
    column(
      "input_mint",
      "String",
      "What the trader gave over the whole route; wrapped native tokens stand for lamports",
    ),
    column("input_amount", "Nullable(UInt64)", "In its smallest units"),
    column("input_decimals", "Nullable(UInt8)", "Of the mint"),
    column("output_mint", "String", "What the trader got"),
    column("output_amount", "Nullable(UInt64)", "In its smallest units"),
    column("output_decimals", "Nullable(UInt8)", "Of the mint"),
    column("nft_mint", "String", "The first NFT that it is about: a mint, or the id of an asset"),
    column("nfts", "UInt16", "How many NFTs it is about"),
    column("nft_seller", "String", "Empty where the transaction does not name one"),
    column("nft_buyer", "String", "Empty where the transaction does not name one"),
    column("nft_price", "Nullable(UInt64)", "Lamports; null for a price in a token, which `events` has"),
    column("parser_version", "UInt32", "Of the parsers that said so; the newest stands"),
  ],
};

const price = (name: string, description: string): SqlColumn => column(name, "Decimal(38, 18)", description);

const prices: SqlView = {
  name: "prices",
  description: "A candle of one minute of the price oracle, five minutes after it ended",
  columns: [
    column("minute", "DateTime64(3, 'UTC')", "When the minute began"),
    column("symbol", word, "The asset"),
    price("open", "US dollars"),
    price("high", "US dollars"),
    price("low", "US dollars"),
    price("close", "US dollars"),
    price("confidence", "Half the width of the interval that the price is in, US dollars"),
    column("sources", `Array(${word})`, "The exchanges that counted"),
  ],
};

const bundles: SqlView = {
  name: "bundles",
  description: "A bundle that landed, without what its searcher said of it; the account's own bundles whole",
  columns: [
    network,
    column("ended_at", "DateTime64(3, 'UTC')", "When its outcome was final"),
    column("bundle_id", "String", "Its id"),
    column("own", "Bool", "Whether this account submitted it"),
    column("state", word, "finalized for one that landed"),
    column("landed_slot", "Nullable(UInt64)", "The slot of its block"),
    column("leader", word, "Who was handed it last"),
    column("signatures", "Array(String)", "Of its transactions"),
    column("tip_seen", "Nullable(UInt64)", "Lamports that tip accounts gained by it"),
    column("compute_units", "Nullable(UInt64)", "Compute units that it used"),
    column("tip", "Nullable(UInt64)", "Lamports that it claimed to pay; own bundles only"),
    column("mev_type", "String", "As the searcher named it; own bundles only"),
    column("reason", "String", "Why it did not land; own bundles only"),
    column("endpoint", "String", "How it came; own bundles only"),
    column("target_slot", "Nullable(UInt64)", "The slot that it asked for; own bundles only"),
    column("accepted_at", "Nullable(DateTime64(3, 'UTC'))", "Own bundles only"),
    column("forwarded_times", "Nullable(UInt32)", "How often it was handed to a leader; own bundles only"),
  ],
};

const myRequests: SqlView = {
  name: "my_requests",
  description: "A request of this account, of all networks, some seconds after it was answered",
  columns: [
    column("at", "DateTime64(3, 'UTC')", "When it arrived"),
    column("request_id", "String", "As X-Request-Id told it"),
    column("key_id", "String", "The key that made it"),
    column("network", word, "The chain; empty for a request of none"),
    column("endpoint", word, "rpc, rest, ws, pubsub or engine"),
    column("method", word, "The JSON-RPC method, or the path"),
    column("status", "UInt16", "The HTTP status"),
    column("rpc_code", "Nullable(Int32)", "The JSON-RPC code of its error"),
    column("code", word, "The public code of a refusal; empty for an answer"),
    column("latency_ms", "Float64", "Milliseconds"),
    column("bytes_in", "UInt64", "Bytes of the request"),
    column("bytes_out", "UInt64", "Bytes of the answer"),
    column("credits", "UInt64", "What it cost"),
    column("cache", word, "HIT, MISS or empty"),
  ],
};

/** All views, in the order in which they are shown. */
export const sqlViews: readonly SqlView[] = [
  blocks,
  transactions,
  instructions,
  tokenTransfers,
  nativeTransfers,
  parsed,
  prices,
  bundles,
  myRequests,
];

/** Credits that a query costs beside the first ones, for the bytes that it has read. */
export const sqlReadCredits = (bytesRead: bigint): number =>
  Number((bytesRead + BigInt(sqlLimits.bytesPerCredit) - 1n) / BigInt(sqlLimits.bytesPerCredit));
