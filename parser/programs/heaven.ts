import { type ProgramParser, parserOf } from "../program.ts";

/** Heaven. */
export const heaven: ProgramParser = parserOf({
  id: "HEAVENoP2qxoeuF8Dj2oT1GHEnu49U5mJYkdeC8BAX2o",
  source: "heaven",
  name: "Heaven",
  kind: "dex",
  instructions: [
    { tag: "66063d1201daebea", name: "buy", does: "swap", user: 5, pool: 4 },
    { tag: "33e685a4017f83ad", name: "sell", does: "swap", user: 5, pool: 4 },
    { tag: "2a2b7e38e70ad035", name: "createStandardLiquidityPool", does: "other" },
    { tag: "1c322be9f4627b76", name: "initializeProtocolConfig", does: "other" },
    { tag: "a559dd34aaf9226f", name: "claimStandardCreatorTradingFees", does: "other" },
  ],
});
