import { type ProgramParser, parserOf } from "../program.ts";

/** Saber. */
export const saber: ProgramParser = parserOf({
  id: "SSwpkEEcbUqx4vtoEByFjSkhKdCT862DNVb52nZg1UZ",
  source: "saber",
  name: "Saber",
  kind: "dex",
  instructions: [
    { tag: "00", name: "initialize", does: "create_pool" },
    { tag: "01", name: "swap", does: "swap", user: 2, source: 3, destination: 6, pool: 0 },
    { tag: "02", name: "deposit", does: "add_liquidity" },
    { tag: "03", name: "withdraw", does: "remove_liquidity" },
    { tag: "04", name: "withdrawOne", does: "remove_liquidity" },
  ],
});
