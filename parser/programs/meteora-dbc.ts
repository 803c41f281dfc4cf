import { type ProgramParser, parserOf } from "../program.ts";

/** Meteora DBC (bonding curve). */
export const meteoraDbc: ProgramParser = parserOf({
  id: "dbcij3LWUppWqq96dh6gJWwBifmcGfLSB5D4DuSMaqN",
  source: "meteora_dbc",
  name: "Meteora",
  kind: "dex",
  instructions: [
    { tag: "f8c69e91e17587c8", name: "swap", does: "swap", user: 9, source: 3, destination: 4, pool: 2 },
    { tag: "414b3f4ceb5b5b88", name: "swap2", does: "swap", user: 9, source: 3, destination: 4, pool: 2 },
    { tag: "8c55d7b06636684f", name: "initializeVirtualPoolWithSplToken", does: "other" },
    { tag: "a976334e916edc9b", name: "initializeVirtualPoolWithToken2022", does: "other" },
    { tag: "1b013016b43f76d9", name: "migrateMeteoraDamm", does: "other" },
    { tag: "9ca9e66735e45040", name: "migrationDammV2", does: "other" },
    { tag: "2f5e7e73dde2c285", name: "migrationMeteoraDammCreateMetadata", does: "other" },
    { tag: "a75a899a4b2f1154", name: "createLocker", does: "other" },
    { tag: "08ec5931987db151", name: "claimTradingFee", does: "other" },
    { tag: "52dcfabd03556b2d", name: "claimCreatorTradingFee", does: "other" },
    { tag: "a5e4853063f9ff21", name: "claimProtocolFee", does: "other" },
    { tag: "14c6caedebf3b742", name: "withdrawLeftover", does: "other" },
    { tag: "a8ad4864c962265c", name: "partnerWithdrawSurplus", does: "other" },
    { tag: "a50389071c864c50", name: "creatorWithdrawSurplus", does: "other" },
    { tag: "3688e18aacb6d6a7", name: "protocolWithdrawSurplus", does: "other" },
    { tag: "c9cff3724b6f2fbd", name: "createConfig", does: "other" },
    { tag: "c0a8eabfbce2e3ff", name: "createPartnerMetadata", does: "other" },
    { tag: "2d61bb67fe6d7c86", name: "createVirtualPoolMetadata", does: "other" },
    { tag: "1407a9213a93a621", name: "transferPoolCreator", does: "other" },
    { tag: "ed8e2d178106dea2", name: "withdrawMigrationFee", does: "other" },
    { tag: "b137ee9dfb58a52a", name: "migrateMeteoraDammLockLpToken", does: "other" },
    { tag: "8b85021e5b917f9a", name: "migrateMeteoraDammClaimLpToken", does: "other" },
  ],
});
