/** The types of transactions; `UNKNOWN` is what none of them is. */
export const transactionTypes = [
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

export type TransactionType = (typeof transactionTypes)[number];
