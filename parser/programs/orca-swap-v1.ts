import { type ProgramParser, parserOf } from "../program.ts";

/** Orca. */
export const orcaSwapV1: ProgramParser = parserOf({
  id: "DjVE6JNiYqPL2QXyCUUh8rNjHrbz9hXHNYt99MQ59qw1",
  source: "orca_swap_v1",
  name: "Orca",
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
