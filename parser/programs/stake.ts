import { programs } from "@sluice/wire/programs";
import { type ProgramParser, parserOf } from "../program.ts";

/** The stake program. `user` is who may do it. */
export const stake: ProgramParser = parserOf({
  id: programs.stake,
  source: "stake",
  name: "Stake",
  kind: "staking",
  instructions: [
    { tag: "00000000", name: "initialize", does: "helper" },
    { tag: "01000000", name: "authorize", does: "other", user: 2 },
    { tag: "02000000", name: "delegateStake", does: "stake", user: 5 },
    { tag: "03000000", name: "split", does: "other", user: 2 },
    { tag: "04000000", name: "withdraw", does: "unstake", user: 4 },
    { tag: "05000000", name: "deactivate", does: "unstake", user: 2 },
    { tag: "06000000", name: "setLockup", does: "other", user: 1 },
    { tag: "07000000", name: "merge", does: "other", user: 4 },
    { tag: "08000000", name: "authorizeWithSeed", does: "other" },
    { tag: "09000000", name: "initializeChecked", does: "helper" },
    { tag: "0a000000", name: "authorizeChecked", does: "other" },
    { tag: "0b000000", name: "authorizeCheckedWithSeed", does: "other" },
    { tag: "0c000000", name: "setLockupChecked", does: "other" },
    { tag: "0d000000", name: "getMinimumDelegation", does: "helper" },
    { tag: "0e000000", name: "deactivateDelinquent", does: "unstake" },
    { tag: "0f000000", name: "redelegate", does: "other" },
    { tag: "10000000", name: "moveStake", does: "other", user: 2 },
    { tag: "11000000", name: "moveLamports", does: "other", user: 2 },
  ],
});
