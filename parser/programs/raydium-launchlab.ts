import { type ProgramParser, parserOf } from "../program.ts";

/** Raydium LaunchLab. */
export const raydiumLaunchlab: ProgramParser = parserOf({
  id: "LanMV9sAd7wArD4vJFi2qDdfnVhFxYSUg6eADduJ3uj",
  source: "raydium_launchlab",
  name: "Raydium LaunchLab",
  kind: "dex",
  instructions: [
    { tag: "faea0d7bd59c13ec", name: "buyExactIn", does: "swap", user: 0, pool: 4 },
    { tag: "18d3742869039938", name: "buyExactOut", does: "swap", user: 0, pool: 4 },
    { tag: "9527de9bd37c981a", name: "sellExactIn", does: "swap", user: 0, pool: 4 },
    { tag: "5fc8472208090ba6", name: "sellExactOut", does: "swap", user: 0, pool: 4 },
    { tag: "afaf6d1f0d989bed", name: "initialize", does: "other" },
    { tag: "4399af27da102620", name: "initializeV2", does: "other" },
    { tag: "f0b49ee490a7cf3e", name: "initializeWithToken2022", does: "other" },
    { tag: "cf52c091fecf91df", name: "migrateToAmm", does: "other" },
    { tag: "885cc8671cda908c", name: "migrateToCpswap", does: "other" },
    { tag: "9c27d0874ced3d48", name: "claimPlatformFee", does: "other" },
    { tag: "3cadf767045d8230", name: "collectFee", does: "other" },
    { tag: "ffba96dfeb76c9ba", name: "collectMigrateFee", does: "other" },
    { tag: "3121681ebd9d4f23", name: "claimVestedToken", does: "other" },
    { tag: "81b2020dd9ace6da", name: "createVestingAccount", does: "other" },
    { tag: "1a618acb84ab8dfc", name: "claimCreatorFee", does: "other" },
    { tag: "75f1c6a8f8da501d", name: "claimPlatformFeeFromVault", does: "other" },
    { tag: "b05ac4affd71dc14", name: "createPlatformConfig", does: "other" },
    { tag: "c33c4c81922d438f", name: "updatePlatformConfig", does: "other" },
  ],
});
