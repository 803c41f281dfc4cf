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
  // Not named by the specification: it does what one of those above does.
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
  "getNftEditions",
] as const;

/** The price of each method that does not cost the standard 1. */
export const methodCredits: ReadonlyMap<string, number> = new Map<string, number>([
  ...heavyMethods.map((method) => [method, creditClasses.heavy] as const),
  ["getMultipleAccounts", 3],
  ["sendTransaction", creditClasses.submission],
  ["requestAirdrop", creditClasses.submission],
  ["getAsset", 10],
  ["getAssetProof", 10],
  ...assetListMethods.map((method) => [method, 15] as const),
]);

/** A method that is priced by item: the price of one, and the member of its parameters that lists the items. */
interface ItemPrice {
  readonly credits: number;
  readonly member: string;
}

/** Methods whose price is for each item asked for. */
const itemPrices: ReadonlyMap<string, ItemPrice> = new Map([
  ["getAssetBatch", { credits: 5, member: "ids" }],
  ["getAssetProofBatch", { credits: 5, member: "ids" }],
  ["simulateBundle", { credits: creditClasses.heavy, member: "encodedTransactions" }],
]);

/** Whether a call's price depends on its parameters. */
export const isPricedByItem = (method: string): boolean => itemPrices.has(method);

/** Whether the price tables name the method; a method that they do not name costs the standard price. */
export const hasOwnPrice = (method: string): boolean => methodCredits.has(method) || itemPrices.has(method);

/**
 * Credits of one JSON-RPC call. `items` counts only for the methods priced by item, at least 1 there. A method that no
 * table names costs the standard price. A batch is the sum over its calls.
 */
export function creditCost(method: string, items = 1): number {
  const price = itemPrices.get(method);
  if (price !== undefined) return price.credits * Math.max(1, Math.floor(items) || 1);
  return methodCredits.get(method) ?? creditClasses.standard;
}

/**
 * How many items a call asks for: the length of the list, which stands in the parameters by name, first by position, or
 * in an object that is first by position. 1 for a method that is not priced by item, and where no list is found.
 */
export function itemsOf(method: string, params: unknown): number {
  const member = itemPrices.get(method)?.member;
  if (member === undefined) return 1;
  const first: unknown = Array.isArray(params) ? params[0] : params;
  const list = Array.isArray(first) ? first : new Map(Object.entries(first ?? {})).get(member);
  return Array.isArray(list) ? list.length : 1;
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
  /** For each address. */
  walletIdentity: 1,
} as const;
