/**
 * What a call costs, in credits. The prices of methods are the specification's (node platform, Limits and the methods
 * table); where it names only classes, the members of the class are listed here. The code charges by this table and the
 * documents are made from it.
 */
const creditClasses = {
  /** Every method that is not named below. */
  standard: 1,
  /** Calls that make a node search, replay or serialise much. */
  heavy: 5,
  /** Submission of a transaction, and the airdrop, which submits one. */
  submission: 10,
} as const;

const heavyMethods = [
  "getBlock",
  "getTransaction",
  "getSignaturesForAddress",
  "getProgramAccounts",
  "getTokenAccountsByOwner",
  "getTokenAccountsByDelegate",
  "getTokenLargestAccounts",
  "getLargestAccounts",
  "getSupply",
  "getInflationReward",
  "getLeaderSchedule",
  "getBlockProduction",
  "getVoteAccounts",
  "simulateTransaction",
  // Not named by the specification: each does what one of those above does.
  "simulateBundle",
  "getTransactionsForAddress",
] as const;

/** Methods over digital assets are priced as in the enhanced API; the lists among them alike. */
const assetListMethods = [
  "getAssetsByOwner",
  "getAssetsByGroup",
  "getAssetsByCreator",
  "getAssetsByAuthority",
  "searchAssets",
  "getTokenAccounts",
  "getSignaturesForAsset",
] as const;

/** The price of each method that does not cost the standard 1. */
export const methodCredits: ReadonlyMap<string, number> = new Map<string, number>([
  ...heavyMethods.map((method) => [method, creditClasses.heavy] as const),
  ["getMultipleAccounts", 3],
  ["sendTransaction", creditClasses.submission],
  ["requestAirdrop", creditClasses.submission],
  ["getAsset", 10],
  ...assetListMethods.map((method) => [method, 15] as const),
]);

/** Methods whose price is for each item asked for, with that price. */
const creditsPerItem: ReadonlyMap<string, number> = new Map([["getAssetBatch", 5]]);

/**
 * Credits of one JSON-RPC call. `items` counts only for the methods priced by item (getAssetBatch), at least 1 there.
 * A method that no table names costs the standard price. A batch is the sum over its items.
 */
export function creditCost(method: string, items = 1): number {
  const perItem = creditsPerItem.get(method);
  if (perItem !== undefined) return perItem * Math.max(1, Math.floor(items) || 1);
  return methodCredits.get(method) ?? creditClasses.standard;
}

/** Credits of what is not JSON-RPC, for one call unless the name says otherwise. */
export const serviceCredits = {
  historyLookup: 5,
  historyList: 10,
  historySearch: 25,
  sqlQuery: 50,
  /** For each started 100 MB that a query reads, beside `sqlQuery`. */
  sqlPer100Megabytes: 1,
  /** For each started 0.1 MB that a stream sends. */
  streamPer100Kilobytes: 1,
  /** For a webhook event that was delivered, or given up after its last attempt. */
  webhookEvent: 1,
  parseOneTransaction: 10,
  /** For each transaction of a batch. */
  parseBatchTransaction: 5,
  tokenMetadata: 5,
  nftMetadata: 10,
  walletAnalytics: 25,
  walletHistory: 15,
  walletBalances: 15,
  walletTransfers: 15,
} as const;
