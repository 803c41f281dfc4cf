import { type ProgramParser, parserOf } from "../program.ts";

/** The first market of Magic Eden. */
export const magicEdenV1: ProgramParser = parserOf({
  id: "MEisE1HzehtrDpAAT8PnLHjpSSkRYakotTuJRPjTpo8",
  source: "magic_eden_v1",
  name: "Magic Eden",
  kind: "market",
  instructions: [{ tag: "2f031b61d7ecdb90", name: "exchange", does: "nft_sale", buyer: 0, seller: 2, tokenAccount: 1 }],
  decide(instruction, { accounts }) {
    if (accounts[0] !== accounts[2]) return instruction;
    return { ...instruction, does: "nft_cancel_listing" };
  },
});
