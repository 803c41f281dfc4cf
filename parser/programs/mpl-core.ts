import { type ProgramParser, parserOf } from "../program.ts";

/** MPL Core: one account is one asset. A transfer or burn names its authority only where the payer is not it. */
export const mplCore: ProgramParser = parserOf({
  id: "CoREENxT6tW1HoK8ypY1SxRMZTcVPm7R94rH4PZNhX7d",
  source: "mpl_core",
  name: "MPL Core",
  kind: "nft",
  instructions: [
    { tag: "00", name: "createV1", does: "nft_mint", buyer: 4, mint: 0 },
    { tag: "01", name: "createCollectionV1", does: "other" },
    { tag: "02", name: "addPluginV1", does: "other" },
    { tag: "03", name: "addCollectionPluginV1", does: "other" },
    { tag: "04", name: "removePluginV1", does: "other" },
    { tag: "05", name: "removeCollectionPluginV1", does: "other" },
    { tag: "06", name: "updatePluginV1", does: "other" },
    { tag: "07", name: "updateCollectionPluginV1", does: "other" },
    { tag: "08", name: "approvePluginAuthorityV1", does: "other" },
    { tag: "09", name: "approveCollectionPluginAuthorityV1", does: "other" },
    { tag: "0a", name: "revokePluginAuthorityV1", does: "other" },
    { tag: "0b", name: "revokeCollectionPluginAuthorityV1", does: "other" },
    { tag: "0c", name: "burnV1", does: "other", mint: 0 },
    { tag: "0d", name: "burnCollectionV1", does: "other" },
    { tag: "0e", name: "transferV1", does: "asset_transfer", seller: 3, buyer: 4, mint: 0 },
    { tag: "0f", name: "updateV1", does: "other" },
    { tag: "10", name: "updateCollectionV1", does: "other" },
    { tag: "11", name: "compressV1", does: "other" },
    { tag: "12", name: "decompressV1", does: "other" },
    { tag: "13", name: "collect", does: "other" },
    { tag: "14", name: "createV2", does: "nft_mint", buyer: 4, mint: 0 },
    { tag: "15", name: "createCollectionV2", does: "other" },
    { tag: "1e", name: "updateV2", does: "other" },
  ],
});
