import { type ProgramParser, parserOf } from "../program.ts";

/** Exchange Art: who listed takes the token back by the exchange that buyers call. */
export const exchangeArt: ProgramParser = parserOf({
  id: "AmK5g2XcyptVLCFESBCJqoSfwV3znGoVYQnqEnaAZKWn",
  source: "exchange_art",
  name: "Exchange Art",
  kind: "market",
  instructions: [{ tag: "01", name: "acceptExchangeByTaker", does: "nft_sale", buyer: 0, seller: 3, mint: 6 }],
  decide(instruction, { accounts }) {
    if (accounts[0] !== accounts[3]) return instruction;
    return { tag: "01", name: "acceptExchangeByTaker", does: "nft_cancel_listing", seller: 0, mint: 6 };
  },
});
