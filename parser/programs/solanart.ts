import { readU64 } from "@sluice/wire/bytes";
import { type ProgramParser, parserOf } from "../program.ts";

/** Solanart: one byte of tag, then the price. Buying at no price is how a seller takes a listing back. */
export const solanart: ProgramParser = parserOf({
  id: "CJsLwbP1iu5DuUikHEJnLfANgKy6stB2uFgvBBHoyxwz",
  source: "solanart",
  name: "Solanart",
  kind: "market",
  instructions: [
    { tag: "00", name: "createOffer", does: "nft_bid", buyer: 0, mint: 3, price: 1 },
    { tag: "02", name: "acceptOffer", does: "nft_sale", seller: 0, buyer: 2, mint: 3, price: 1 },
    { tag: "04", name: "sell", does: "nft_listing", seller: 0, price: 1 },
    { tag: "05", name: "buy", does: "nft_sale", buyer: 0, seller: 3, tokenAccount: 1, price: 1 },
  ],
  decide(instruction, { data, accounts }) {
    if (instruction.name !== "buy") return instruction;
    const free = data.length >= 9 && readU64(data, 1) === 0n;
    if (!free && accounts[0] !== accounts[3]) return instruction;
    return { tag: "05", name: "buy", does: "nft_cancel_listing", seller: 0, tokenAccount: 1 };
  },
});
