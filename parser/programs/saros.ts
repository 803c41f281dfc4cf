import { type ProgramParser, parserOf } from "../program.ts";

/** Saros. */
export const saros: ProgramParser = parserOf({
  id: "SSwapUtytfBdBn1b9NUGG6foMVPtcWgpRU32HToDUZr",
  source: "saros",
  name: "Saros",
  kind: "dex",
  instructions: [
    { tag: "00", name: "initialize", does: "create_pool" },
    { tag: "01", name: "swap", does: "swap", user: 2, source: 3, destination: 6, pool: 0 },
    { tag: "02", name: "depositAllTokenTypes", does: "add_liquidity" },
    { tag: "03", name: "withdrawAllTokenTypes", does: "remove_liquidity" },
    { tag: "04", name: "depositSingleTokenTypeExactAmountIn", does: "add_liquidity" },
    { tag: "05", name: "withdrawSingleTokenTypeExactAmountOut", does: "remove_liquidity" },
  ],
});
