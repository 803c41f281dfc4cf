/**
 * consensus: the validators and all that follows from their stake: epochs, inflation, leader schedule, votes, stake
 * accounts, rewards, the stake pool, and tips. The bank feeds it each slot that opens; it feeds the bank with the accounts to
 * write, the votes to run and the rewards to list. It holds no state that a fork does not take back.
 */

export { distributeFees } from "./block-fees.ts";
export { Cluster } from "./cluster.ts";
export { EpochSchedule } from "./epochs.ts";
export { INFLATION, inflationRate, slotYears } from "./inflation.ts";
export { CONSECUTIVE_SLOTS } from "./schedule/leader-schedule.ts";
export { type PoolKeys, poolGenesis, poolKeys } from "./stake-pool/stake-pool.ts";
export type { BlockBuilder } from "./tips/sweep.ts";
export { tipAccounts, tipGenesis, tipKeeper } from "./tips/tip-programs.ts";
export { createValidators, stakedAtGenesis, type Validators, validatorGenesis } from "./validator.ts";
export { isSimpleVote } from "./votes/simple-vote.ts";
export { readTower } from "./votes/vote-account.ts";
