import { type ProgramParser, parserOf } from "../program.ts";

/** Meteora DAMM v1 (dynamic pools). */
export const meteoraDammV1: ProgramParser = parserOf({
  id: "Eo7WjKq67rjJQSZxS6z3YkapzY3eMj6Xy8X5EQVn5UaB",
  source: "meteora_damm_v1",
  name: "Meteora",
  kind: "dex",
  instructions: [
    { tag: "f8c69e91e17587c8", name: "swap", does: "swap", user: 12, source: 1, destination: 2, pool: 0 },
    { tag: "a8e3323ebdab54b0", name: "addBalanceLiquidity", does: "add_liquidity" },
    { tag: "4f237a54ad0f5dbf", name: "addImbalanceLiquidity", does: "add_liquidity" },
    { tag: "04e4d747e1fd77ce", name: "bootstrapLiquidity", does: "add_liquidity" },
    { tag: "856d2cb338ee7221", name: "removeBalanceLiquidity", does: "remove_liquidity" },
    { tag: "5454b142feb90afb", name: "removeLiquiditySingleSide", does: "remove_liquidity" },
    { tag: "4d55b29d3230d47e", name: "initializePermissionedPool", does: "create_pool" },
    { tag: "76ad299dad486167", name: "initializePermissionlessPool", does: "create_pool" },
    { tag: "06874493e552a971", name: "initializePermissionlessPoolWithFeeTier", does: "create_pool" },
    { tag: "07a68aabceabecf4", name: "initializePermissionlessConstantProductPoolWithConfig", does: "create_pool" },
    { tag: "3095dc823d0b09b2", name: "initializePermissionlessConstantProductPoolWithConfig2", does: "create_pool" },
    { tag: "9118acc2db7d03be", name: "initializeCustomizablePermissionlessConstantProductPool", does: "create_pool" },
    { tag: "3657a51345e3dae0", name: "createLockEscrow", does: "other" },
    { tag: "1513d02bed3eff57", name: "lock", does: "other" },
    { tag: "a9204f8988e84689", name: "claimFee", does: "other" },
    { tag: "0d46a829fa64945a", name: "createMintMetadata", does: "other" },
    { tag: "3935b01e7b463440", name: "partnerClaimFee", does: "other" },
  ],
});
