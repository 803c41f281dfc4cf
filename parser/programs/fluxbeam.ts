import { type ProgramParser, parserOf } from "../program.ts";

/** FluxBeam. */
export const fluxbeam: ProgramParser = parserOf({
  id: "FLUXubRmkEi2q6K3Y9kBPg9248ggaZVsoSFhtJHSrm1X",
  source: "fluxbeam",
  name: "FluxBeam",
  kind: "dex",
  instructions: [
    { tag: "01", name: "swap", does: "swap", user: 2, source: 3, destination: 6, pool: 0 },
    { tag: "00", name: "initialize", does: "create_pool" },
    { tag: "02", name: "depositAllTokenTypes", does: "add_liquidity" },
    { tag: "03", name: "withdrawAllTokenTypes", does: "remove_liquidity" },
    { tag: "04", name: "depositSingleTokenTypeExactAmountIn", does: "add_liquidity" },
    { tag: "05", name: "withdrawSingleTokenTypeExactAmountOut", does: "remove_liquidity" },
  ],
});
