import { type ProgramParser, parserOf } from "../program.ts";

/** Moonshot / Moonit. */
export const moonshot: ProgramParser = parserOf({
  id: "MoonCVVNZFSYkqNXP6bxHLPL6QQJiMagDL3qcqUQTrG",
  source: "moonshot",
  name: "Moonshot",
  kind: "dex",
  instructions: [
    { tag: "66063d1201daebea", name: "buy", does: "swap", user: 0, pool: 2 },
    { tag: "33e685a4017f83ad", name: "sell", does: "swap", user: 0, pool: 2 },
    { tag: "032ca4b87b0df5b3", name: "tokenMint", does: "other" },
    { tag: "2ae50ae7bd3ec1ae", name: "migrateFunds", does: "other" },
    { tag: "0deca4ad6afda4b9", name: "configInit", does: "other" },
    { tag: "50256d88528759f1", name: "configUpdate", does: "other" },
  ],
});
