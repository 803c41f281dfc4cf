/** Bounds and values of the enhanced API that its schemas, its server and its documents share. */

/** Signatures of one request. */
export const enhancedSignaturesMax = 100;

/** Transactions of one page of an address. */
export const enhancedPageMax = 100;

/** Items of one page of a wallet's balances and transfers, and addresses of one request of identities. */
export const walletPageMax = 100;

/** Days of a wallet's activity that are told. */
export const walletDaysMax = 90;

/** The types that a transaction may have. */
export const enhancedTypes = [
  "SWAP",
  "NFT_SALE",
  "NFT_MINT",
  "NFT_BID",
  "NFT_LISTING",
  "NFT_CANCEL_LISTING",
  "TRANSFER",
  "STAKE",
  "UNSTAKE",
  "CREATE_ACCOUNT",
  "CLOSE_ACCOUNT",
  "UNKNOWN",
] as const;

/** How long an answer may be kept, in seconds. Source: specification, node platform, Limits. */
export const enhancedLifetimeSeconds = { transactions: 300, token: 3_600, nft: 3_600, wallet: 120 } as const;
