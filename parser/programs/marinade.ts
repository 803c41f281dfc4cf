import { type ProgramParser, parserOf } from "../program.ts";

/** Marinade. */
export const marinade: ProgramParser = parserOf({
  id: "MarBmsSgKXdrN1egZf5sqe1TMai9K1rChYNDJgjq7aD",
  source: "marinade",
  name: "Marinade",
  kind: "staking",
  instructions: [
    { tag: "f223c68952e1f2b6", name: "deposit", does: "stake", user: 6 },
    { tag: "6e827329a466023b", name: "depositStakeAccount", does: "stake", user: 4 },
    { tag: "1e1e77f0bfe30c10", name: "liquidUnstake", does: "unstake", user: 6 },
    { tag: "61a7906b75be8024", name: "orderUnstake", does: "unstake", user: 3 },
    { tag: "3ec6d6c1d59f6cd2", name: "claim", does: "unstake" },
    { tag: "d355b841b7b1e9d9", name: "withdrawStakeAccount", does: "unstake", user: 3 },
    { tag: "b59d59438fb63448", name: "addLiquidity", does: "add_liquidity" },
    { tag: "5055d14818ceb16c", name: "removeLiquidity", does: "remove_liquidity" },
  ],
});
