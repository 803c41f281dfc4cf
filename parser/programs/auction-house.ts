import { type Decide, type ProgramParser, parserOf } from "../program.ts";

/**
 * A cancellation serves both sides: it takes a listing back where the wallet has the token, and else a bid, which is
 * none of the types.
 */
export const cancellation: Decide = (instruction, { accounts }, view) => {
  if (instruction.does !== "nft_cancel_listing") return instruction;
  const wallet = view.keys[accounts[0] ?? -1];
  const { preTokenBalances, postTokenBalances } = view.meta ?? {};
  const held = [...(postTokenBalances ?? []), ...(preTokenBalances ?? [])].find(
    ({ accountIndex }) => accountIndex === accounts[1],
  );
  // A record without owners does not tell; only who has the token calls for its account to be changed.
  return held !== undefined && held.owner !== null && held.owner !== wallet
    ? { ...instruction, does: "other" }
    : instruction;
};

/** Metaplex Auction House. */
export const auctionHouse: ProgramParser = parserOf({
  id: "hausS13jsjafwWwGqZTUQRmWyvyxn9EQpqMwV1PBBmk",
  source: "metaplex_auction_house",
  name: "Auction House",
  kind: "market",
  decide: cancellation,
  instructions: [
    { tag: "33e685a4017f83ad", name: "sell", does: "nft_listing", seller: 0, tokenAccount: 1, price: 11 },
    { tag: "fb3c8ec379cb1ab7", name: "auctioneerSell", does: "nft_listing", seller: 0, tokenAccount: 1 },
    { tag: "e8dbdf29dbecdcbe", name: "cancel", does: "nft_cancel_listing", seller: 0, mint: 2, price: 8 },
    { tag: "c56198c473cc40d7", name: "auctioneerCancel", does: "nft_cancel_listing", seller: 0 },
    { tag: "66063d1201daebea", name: "buy", does: "nft_bid", buyer: 0, tokenAccount: 4, price: 10, currency: 3 },
    { tag: "a954da232ace10ab", name: "publicBuy", does: "nft_bid", buyer: 0, tokenAccount: 4, currency: 3, price: 10 },
    {
      tag: "116a852ee5302dd0",
      name: "auctioneerBuy",
      does: "nft_bid",
      buyer: 0,
      currency: 3,
      tokenAccount: 4,
      price: 10,
    },
    {
      tag: "254ad99d4f312306",
      name: "executeSale",
      does: "nft_sale",
      seller: 1,
      buyer: 0,
      mint: 3,
      price: 11,
      currency: 5,
    },
    {
      tag: "a312239d31a4cb85",
      name: "executePartialSale",
      does: "nft_sale",
      seller: 1,
      buyer: 0,
      mint: 3,
      currency: 5,
      price: 11,
    },
    {
      tag: "447d2041fb2b2335",
      name: "auctioneerExecuteSale",
      does: "nft_sale",
      seller: 1,
      buyer: 0,
      mint: 3,
      currency: 5,
      price: 11,
    },
    { tag: "f223c68952e1f2b6", name: "deposit", does: "other" },
    { tag: "b712469c946da122", name: "withdraw", does: "other" },
    { tag: "cf6b2ca04bdec31b", name: "printListingReceipt", does: "helper" },
    { tag: "5ef95ae6ef4044da", name: "printBidReceipt", does: "helper" },
    { tag: "e39afb07b438648f", name: "printPurchaseReceipt", does: "helper" },
    { tag: "dd42f29ff9ce86f1", name: "createAuctionHouse", does: "other" },
    { tag: "54d702acf100f5db", name: "updateAuctionHouse", does: "other" },
    { tag: "d12ad0b38c4e122b", name: "closeEscrowAccount", does: "other" },
    { tag: "f66c1be5dc2ab02b", name: "cancelBidReceipt", does: "helper" },
    { tag: "ab3b8a7ef6bd5b0b", name: "cancelListingReceipt", does: "helper" },
    { tag: "6ab20c7a4aadfbde", name: "delegateAuctioneer", does: "other" },
    { tag: "67ff50ea5e38a8d0", name: "updateAuctioneer", does: "other" },
    { tag: "b3d0be9a20b3133b", name: "withdrawFromFee", does: "other" },
    { tag: "00a4564c38480caa", name: "withdrawFromTreasury", does: "other" },
  ],
});
