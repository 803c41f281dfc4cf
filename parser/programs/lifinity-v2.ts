import { type ProgramParser, parserOf } from "../program.ts";

/** Lifinity v2. */
export const lifinityV2: ProgramParser = parserOf({
  id: "2wT8Yq49kHgDzXuPxZSaeLaH1qbmGXtEyPy64bL7aD3c",
  source: "lifinity_v2",
  name: "Lifinity",
  kind: "dex",
  instructions: [
    { tag: "f8c69e91e17587c8", name: "swap", does: "swap", user: 2, source: 3, destination: 4, pool: 1 },
    { tag: "205f453c4b4fcdee", name: "depositAllTokenTypes", does: "add_liquidity" },
    { tag: "bdfe9caed209a4d8", name: "withdrawAllTokenTypes", does: "remove_liquidity" },
  ],
});
