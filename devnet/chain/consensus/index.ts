/**
 * consensus: the validators and all that follows from their stake: epochs, inflation, leader schedule, votes, stake
 * accounts, rewards, the stake pool, and tips. The bank feeds it each slot that opens; it feeds the bank with the
 * accounts to write, the votes to run and the rewards to list. It holds no state that a fork does not take back.
 */

export { Cluster, distributeFees } from "./cluster.ts";
export { inflationRate, inflationSchedule, slotYears } from "./inflation.ts";
export { consecutiveSlots, EpochSchedule } from "./leader-schedule.ts";
export { type PoolKeys, poolGenesis, poolKeys } from "./stake-pool/stake-pool.ts";
export type { BlockBuilder } from "./tips/tip-programs.ts";
export { tipAccounts, tipGenesis, tipOperator } from "./tips/tip-programs.ts";
export { createValidators, stakedAtGenesis, type Validators, validatorGenesis } from "./validator.ts";
export { readTower } from "./votes/vote-account.ts";
export { isSimpleVote } from "./votes/voting.ts";
