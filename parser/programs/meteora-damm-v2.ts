import { type ProgramParser, parserOf } from "../program.ts";

/** Meteora DAMM v2 (cp-amm). */
export const meteoraDammV2: ProgramParser = parserOf({
  id: "cpamdpZCGKUy5JxQXB4dcpGPiikHawvSWAd6mEn1sGG",
  source: "meteora_damm_v2",
  name: "Meteora",
  kind: "dex",
  instructions: [
    { tag: "f8c69e91e17587c8", name: "swap", does: "swap", user: 8, source: 2, destination: 3, pool: 1 },
    { tag: "414b3f4ceb5b5b88", name: "swap2", does: "swap", user: 8, source: 2, destination: 3, pool: 1 },
    { tag: "b59d59438fb63448", name: "addLiquidity", does: "add_liquidity" },
    { tag: "30d7c59960cbb485", name: "createPosition", does: "add_liquidity" },
    { tag: "5055d14818ceb16c", name: "removeLiquidity", does: "remove_liquidity" },
    { tag: "0a333d2370691855", name: "removeAllLiquidity", does: "remove_liquidity" },
    { tag: "5fb40aac54aee828", name: "initializePool", does: "create_pool" },
    { tag: "14a1f118bdddb402", name: "initializeCustomizablePool", does: "create_pool" },
    { tag: "955248c5fdfc440f", name: "initializePoolWithDynamicConfig", does: "create_pool" },
    { tag: "7b86510031446262", name: "closePosition", does: "other" },
    { tag: "b4269a118521a2d3", name: "claimPositionFee", does: "other" },
    { tag: "61ce27695e5e7e94", name: "claimPartnerFee", does: "other" },
    { tag: "a5e4853063f9ff21", name: "claimProtocolFee", does: "other" },
    { tag: "955fb5f25e5a9ea2", name: "claimReward", does: "other" },
    { tag: "e33e02fcf70aabb9", name: "lockPosition", does: "other" },
    { tag: "a5b07d06e7abbad5", name: "permanentLockPosition", does: "other" },
    { tag: "095ed80e74ccf700", name: "refreshVesting", does: "other" },
    { tag: "acf1dd8aa11dfd2a", name: "splitPosition", does: "other" },
    { tag: "dd93e4cf8cd41177", name: "splitPosition2", does: "other" },
    { tag: "5f87c0c4f281e644", name: "initializeReward", does: "other" },
    { tag: "bc32f9a55d97263f", name: "fundReward", does: "other" },
  ],
});
