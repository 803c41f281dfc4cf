import { type ProgramParser, parserOf } from "../program.ts";

/** BonkSwap. */
export const bonkSwap: ProgramParser = parserOf({
  id: "BSwp6bEBihVLdqJRKGgzjcGLHkcTuzmSo1TQkHepzH8p",
  source: "bonk_swap",
  name: "BonkSwap",
  kind: "dex",
  instructions: [
    { tag: "f8c69e91e17587c8", name: "swap", does: "swap", user: 8, pool: 1 },
    { tag: "1cda1ed1af9b99f0", name: "addTokens", does: "add_liquidity" },
    { tag: "b0689a69fa5044f4", name: "withdrawShares", does: "remove_liquidity" },
    { tag: "bc4b1ec6632b0c36", name: "withdrawBuyback", does: "remove_liquidity" },
    { tag: "e992d18ecf6840bc", name: "createPool", does: "create_pool" },
  ],
});
