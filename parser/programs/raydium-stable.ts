import { type ProgramParser, parserOf } from "../program.ts";

/** Raydium stable swap. */
export const raydiumStable: ProgramParser = parserOf({
  id: "5quBtoiQqxF9Jv6KYKctB59NT3gtJD2Y65kdnB1Uev3h",
  source: "raydium_stable",
  name: "Raydium",
  kind: "dex",
  instructions: [
    { tag: "09", name: "swapBaseIn", does: "swap", user: 17, source: 15, destination: 16, pool: 1 },
    { tag: "0b", name: "swapBaseOut", does: "swap", user: 17, source: 15, destination: 16, pool: 1 },
    { tag: "00", name: "initialize", does: "create_pool" },
    { tag: "01", name: "initialize2", does: "create_pool" },
    { tag: "03", name: "deposit", does: "add_liquidity" },
    { tag: "04", name: "withdraw", does: "remove_liquidity" },
  ],
});
