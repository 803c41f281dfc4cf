import { type ProgramParser, parserOf } from "../program.ts";

/** Tensor Bid. */
export const tensorBid: ProgramParser = parserOf({
  id: "TB1Dqt8JeKQh7RLDzfYDJsq8KS4fS2yt87avRjyRxMv",
  source: "tensor_bid",
  name: "Tensor",
  kind: "market",
  instructions: [
    { tag: "c738552692f3259e", name: "bid", does: "nft_bid", buyer: 2, mint: 0, price: 8 },
    { tag: "8fe3151c9880070a", name: "takeBid", does: "nft_sale", seller: 9, buyer: 8, mint: 2, price: 8 },
    { tag: "28f3bed9d0fd56ce", name: "cancelBid", does: "other" },
    { tag: "53146943f84468be", name: "closeExpiredBid", does: "other" },
  ],
});
