import { type ProgramParser, parserOf } from "../program.ts";

/** Raydium AMM v4. */
export const raydiumAmm: ProgramParser = parserOf({
  id: "675kPX9MHTjS2zt1qfr1NYHuzeLXfQM9H24wFSUt1Mp8",
  source: "raydium_v4",
  name: "Raydium",
  kind: "dex",
  instructions: [
    { tag: "09", name: "swapBaseIn", does: "swap", user: 17, source: 15, destination: 16, pool: 1 },
    { tag: "0b", name: "swapBaseOut", does: "swap", user: 17, source: 15, destination: 16, pool: 1 },
    { tag: "10", name: "swapBaseInV2", does: "swap", user: 7, source: 5, destination: 6, pool: 1 },
    { tag: "11", name: "swapBaseOutV2", does: "swap", user: 7, source: 5, destination: 6, pool: 1 },
    { tag: "03", name: "deposit", does: "add_liquidity", user: 12, pool: 1 },
    { tag: "04", name: "withdraw", does: "remove_liquidity", user: 18, pool: 1 },
    { tag: "01", name: "initialize2", does: "create_pool", user: 17, pool: 4 },
    { tag: "00", name: "initialize", does: "create_pool" },
    { tag: "02", name: "monitorStep", does: "other" },
    { tag: "05", name: "migrateToOpenBook", does: "other" },
    { tag: "06", name: "setParams", does: "other" },
    { tag: "07", name: "withdrawPnl", does: "other" },
    { tag: "08", name: "withdrawSrm", does: "other" },
    { tag: "0a", name: "preInitialize", does: "other" },
    { tag: "0c", name: "simulateInfo", does: "other" },
    { tag: "0d", name: "adminCancelOrders", does: "other" },
    { tag: "0e", name: "createConfigAccount", does: "other" },
    { tag: "0f", name: "updateConfigAccount", does: "other" },
  ],
});
