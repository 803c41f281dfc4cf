import { type ProgramParser, parserOf } from "../program.ts";

/** Raydium CLMM. */
export const raydiumClmm: ProgramParser = parserOf({
  id: "CAMMCzo5YL8w4VFF8KVHrK22GGUsp5VTaW7grrKgrWqK",
  source: "raydium_clmm",
  name: "Raydium",
  kind: "dex",
  instructions: [
    { tag: "f8c69e91e17587c8", name: "swap", does: "swap", user: 0, source: 3, destination: 4, pool: 2 },
    { tag: "2b04ed0b1ac91e62", name: "swapV2", does: "swap", user: 0, source: 3, destination: 4, pool: 2 },
    { tag: "457d73daf5baf2c4", name: "swapRouterBaseIn", does: "swap", user: 0, source: 1 },
    { tag: "e992d18ecf6840bc", name: "createPool", does: "create_pool", user: 0, pool: 2 },
    { tag: "87802f4d0f98f031", name: "openPosition", does: "add_liquidity", user: 0 },
    { tag: "4db84ad67056f1c7", name: "openPositionV2", does: "add_liquidity", user: 0 },
    { tag: "4dffae527d1dc92e", name: "openPositionWithToken22Nft", does: "add_liquidity", user: 0 },
    { tag: "2e9cf3760dcdfbb2", name: "increaseLiquidity", does: "add_liquidity", user: 0 },
    { tag: "851d59df45eeb00a", name: "increaseLiquidityV2", does: "add_liquidity", user: 0 },
    { tag: "a026d06f685b2c01", name: "decreaseLiquidity", does: "remove_liquidity", user: 0 },
    { tag: "3a7fbc3e4f52c460", name: "decreaseLiquidityV2", does: "remove_liquidity", user: 0 },
    { tag: "7b86510031446262", name: "closePosition", does: "other" },
    { tag: "12eda6c52210d590", name: "collectRemainingRewards", does: "other" },
    { tag: "a3ace0340b9a6adf", name: "updateRewardInfos", does: "other" },
    { tag: "8934edd4d7756c68", name: "createAmmConfig", does: "other" },
    { tag: "5f87c0c4f281e644", name: "initializeReward", does: "other" },
    { tag: "7034a74b20c9d389", name: "setRewardParams", does: "other" },
    { tag: "8888fcddc2427e59", name: "collectProtocolFee", does: "other" },
    { tag: "a78a4e95dfc2067e", name: "collectFundFee", does: "other" },
  ],
});
