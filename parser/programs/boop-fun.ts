import { type ProgramParser, parserOf } from "../program.ts";

/** Boop.fun. */
export const boopFun: ProgramParser = parserOf({
  id: "boop8hVGQGqehUK2iVEMEnMrL5RbjywRzHKBmBE7ry4",
  source: "boop_fun",
  name: "Boop.fun",
  kind: "dex",
  instructions: [
    { tag: "8a7f0e5b26577369", name: "buyToken", does: "swap", user: 6, pool: 1 },
    { tag: "6d3d28bbe6b087ae", name: "sellToken", does: "swap", user: 6, pool: 1 },
    { tag: "5434cce4188cea4b", name: "createToken", does: "other" },
    { tag: "b459c74ca8ecd98a", name: "deployBondingCurve", does: "other" },
    { tag: "bd26cdea514d1901", name: "collectTradingFees", does: "other" },
    { tag: "a859631e753158e0", name: "depositIntoRaydium", does: "other" },
    { tag: "412d774dccb25402", name: "createRaydiumPool", does: "other" },
  ],
});
