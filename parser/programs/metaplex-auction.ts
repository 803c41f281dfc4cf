import { type ProgramParser, parserOf } from "../program.ts";

/** Auctions of Metaplex. */
export const metaplexAuction: ProgramParser = parserOf({
  id: "auctxRXPeJoc4817jDhf4HbjnhEcr1cCXenosMhK5R8",
  source: "metaplex_auction",
  name: "Metaplex Auction",
  kind: "market",
  instructions: [
    { tag: "00", name: "cancelBid", does: "other" },
    { tag: "01", name: "createAuction", does: "other" },
    { tag: "02", name: "claimBid", does: "other" },
    { tag: "03", name: "endAuction", does: "other" },
    { tag: "04", name: "startAuction", does: "other" },
    { tag: "05", name: "setAuthority", does: "other" },
    { tag: "06", name: "placeBid", does: "nft_bid", buyer: 0, price: 1 },
  ],
});
