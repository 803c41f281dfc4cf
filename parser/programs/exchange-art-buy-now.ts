import { type ProgramParser, parserOf } from "../program.ts";

/** Sales at a stated price of Exchange Art; instructions that are not listed are told by what moves. */
export const exchangeArtBuyNow: ProgramParser = parserOf({
  id: "EXBuYPNgBUXMTsjCbezENRUtFQzjUNZxvPGTd11Pznk5",
  source: "exchange_art",
  name: "Exchange Art",
  kind: "market",
  instructions: [],
});
