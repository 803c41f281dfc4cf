import { type ProgramParser, parserOf } from "../program.ts";

/** PancakeSwap CLMM. */
export const pancakeSwap: ProgramParser = parserOf({
  id: "HpNfyc2Saw7RKkQd8nEL4khUcuPhQ7WwY1B2qjx8jxFq",
  source: "pancake_swap",
  name: "PancakeSwap",
  kind: "dex",
  instructions: [
    { tag: "f8c69e91e17587c8", name: "swap", does: "swap", user: 0, source: 3, destination: 4, pool: 2 },
    { tag: "2b04ed0b1ac91e62", name: "swapV2", does: "swap", user: 0, source: 3, destination: 4, pool: 2 },
    { tag: "87802f4d0f98f031", name: "openPosition", does: "add_liquidity", user: 0 },
    { tag: "4db84ad67056f1c7", name: "openPositionV2", does: "add_liquidity", user: 0 },
    { tag: "4dffae527d1dc92e", name: "openPositionWithToken22Nft", does: "add_liquidity", user: 0 },
    { tag: "2e9cf3760dcdfbb2", name: "increaseLiquidity", does: "add_liquidity", user: 0 },
    { tag: "851d59df45eeb00a", name: "increaseLiquidityV2", does: "add_liquidity", user: 0 },
    { tag: "a026d06f685b2c01", name: "decreaseLiquidity", does: "remove_liquidity", user: 0 },
    { tag: "3a7fbc3e4f52c460", name: "decreaseLiquidityV2", does: "remove_liquidity", user: 0 },
    { tag: "7b86510031446262", name: "closePosition", does: "other" },
    { tag: "8888fcddc2427e59", name: "collectProtocolFee", does: "other" },
    { tag: "e992d18ecf6840bc", name: "createPool", does: "create_pool" },
  ],
});
