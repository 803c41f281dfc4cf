import { type ProgramParser, parserOf } from "../program.ts";

/** PumpSwap (Pump AMM). */
export const pumpSwap: ProgramParser = parserOf({
  id: "pAMMBay6oceH9fJKBRHGP5D4bD4sWpmSwMn52FMfXEA",
  source: "pump_swap",
  name: "PumpSwap",
  kind: "dex",
  instructions: [
    { tag: "66063d1201daebea", name: "buy", does: "swap", user: 1, pool: 0 },
    { tag: "33e685a4017f83ad", name: "sell", does: "swap", user: 1, pool: 0 },
    { tag: "e992d18ecf6840bc", name: "createPool", does: "create_pool", user: 2, pool: 0 },
    { tag: "c62e1552b4d9e870", name: "buyExactQuoteIn", does: "swap", user: 1, pool: 0 },
    { tag: "f223c68952e1f2b6", name: "deposit", does: "add_liquidity", user: 2, pool: 0 },
    { tag: "b712469c946da122", name: "withdraw", does: "remove_liquidity", user: 2, pool: 0 },
    { tag: "a039592ab58b2b42", name: "collectCoinCreatorFee", does: "other" },
    { tag: "ea66c2cb96483ee5", name: "extendAccount", does: "other" },
    { tag: "5e06ca73ff60e8b7", name: "initUserVolumeAccumulator", does: "other" },
    { tag: "f945a4da9667548a", name: "closeUserVolumeAccumulator", does: "other" },
    { tag: "561fc057a3574fee", name: "syncUserVolumeAccumulator", does: "other" },
    { tag: "1004471ccc01281b", name: "claimTokenIncentives", does: "other" },
    { tag: "253a237ebe35e4c5", name: "claimCashback", does: "other" },
    { tag: "d295802dbc3a4eaf", name: "setCoinCreator", does: "other" },
    { tag: "8b348655e4e56cf1", name: "transferCreatorFeesToPump", does: "other" },
    { tag: "d0089f044aaf103a", name: "migratePoolCoinCreator", does: "other" },
  ],
});
