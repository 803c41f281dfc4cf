import { type ProgramParser, parserOf } from "../program.ts";

/** Digital Eyes: who listed takes the token back by the exchange that buyers call. */
export const digitalEyes: ProgramParser = parserOf({
  id: "A7p8451ktDCHq5yYaHczeLMYsjRsAkzc3hCXcSrwYHU7",
  source: "digital_eyes",
  name: "Digital Eyes",
  kind: "market",
  instructions: [{ tag: "01", name: "exchange", does: "nft_sale", buyer: 0, seller: 3, mint: 6 }],
  decide(instruction, { accounts }) {
    if (accounts[0] !== accounts[3]) return instruction;
    return { tag: "01", name: "exchange", does: "nft_cancel_listing", seller: 0, mint: 6 };
  },
});

/** The market of one collection, by the same code. */
export const monkeBusinessMarket: ProgramParser = {
  ...digitalEyes,
  id: "GvQVaDNLV7zAPNx35FqWmgwuxa4B2h5tuuL73heqSf1C",
  source: "smb_market",
  name: "SMB Market",
};
