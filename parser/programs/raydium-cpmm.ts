import { type ProgramParser, parserOf } from "../program.ts";

/** Raydium CPMM. */
export const raydiumCpmm: ProgramParser = parserOf({
  id: "CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C",
  source: "raydium_cpmm",
  name: "Raydium",
  kind: "dex",
  instructions: [
    { tag: "8fbe5adac41e33de", name: "swapBaseInput", does: "swap", user: 0, source: 4, destination: 5, pool: 3 },
    { tag: "37d96256a34ab4ad", name: "swapBaseOutput", does: "swap", user: 0, source: 4, destination: 5, pool: 3 },
    { tag: "f223c68952e1f2b6", name: "deposit", does: "add_liquidity", user: 0, pool: 2 },
    { tag: "b712469c946da122", name: "withdraw", does: "remove_liquidity", user: 0, pool: 2 },
    { tag: "afaf6d1f0d989bed", name: "initialize", does: "create_pool", user: 0, pool: 3 },
    { tag: "1416567bc61cdb84", name: "collectCreatorFee", does: "other" },
    { tag: "8888fcddc2427e59", name: "collectProtocolFee", does: "other" },
    { tag: "a78a4e95dfc2067e", name: "collectFundFee", does: "other" },
    { tag: "8934edd4d7756c68", name: "createAmmConfig", does: "other" },
    { tag: "313cae889a1c74c8", name: "updateAmmConfig", does: "other" },
    { tag: "82576c062ee0757b", name: "updatePoolStatus", does: "other" },
    { tag: "3f37fe4131b25979", name: "initializeWithPermission", does: "create_pool", user: 0 },
  ],
});
