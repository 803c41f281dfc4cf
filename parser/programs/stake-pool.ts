import { type ProgramParser, parserOf } from "../program.ts";

/** Stake pools; several deployments share the layout. */
export const stakePool: ProgramParser = parserOf({
  id: "SPoo1Ku8WFXoNDMHPsrGSTSG1Y47rzgn41SLUNakuHy",
  source: "stake_pool",
  name: "Stake Pool",
  kind: "staking",
  instructions: [
    { tag: "00", name: "initialize", does: "other" },
    { tag: "01", name: "addValidatorToPool", does: "other" },
    { tag: "02", name: "removeValidatorFromPool", does: "other" },
    { tag: "03", name: "decreaseValidatorStake", does: "other" },
    { tag: "04", name: "increaseValidatorStake", does: "other" },
    { tag: "05", name: "setPreferredValidator", does: "other" },
    { tag: "06", name: "updateValidatorListBalance", does: "other" },
    { tag: "07", name: "updateStakePoolBalance", does: "other" },
    { tag: "08", name: "cleanupRemovedValidatorEntries", does: "other" },
    { tag: "09", name: "depositStake", does: "stake" },
    { tag: "0a", name: "withdrawStake", does: "unstake", user: 6 },
    { tag: "0b", name: "setManager", does: "other" },
    { tag: "0c", name: "setFee", does: "other" },
    { tag: "0d", name: "setStaker", does: "other" },
    { tag: "0e", name: "depositSol", does: "stake", user: 3 },
    { tag: "0f", name: "setFundingAuthority", does: "other" },
    { tag: "10", name: "withdrawSol", does: "unstake", user: 2 },
    { tag: "11", name: "createTokenMetadata", does: "other" },
    { tag: "12", name: "updateTokenMetadata", does: "other" },
    { tag: "13", name: "increaseAdditionalValidatorStake", does: "other" },
    { tag: "14", name: "decreaseAdditionalValidatorStake", does: "other" },
    { tag: "15", name: "decreaseValidatorStakeWithReserve", does: "other" },
    { tag: "16", name: "redelegate", does: "other" },
    { tag: "17", name: "depositStakeWithSlippage", does: "stake" },
    { tag: "18", name: "withdrawStakeWithSlippage", does: "unstake", user: 6 },
    { tag: "19", name: "depositSolWithSlippage", does: "stake", user: 3 },
    { tag: "1a", name: "withdrawSolWithSlippage", does: "unstake", user: 2 },
  ],
});

export const stakePoolDevnet: ProgramParser = { ...stakePool, id: "DPoo15wWDqpPJJtS2MUZ49aRxqz5ZaaJCJP4z8bLuib" };
export const sanctumMultiPool: ProgramParser = {
  ...stakePool,
  id: "SP12tWFxD9oJsVWNavTTBZvMbA6gkAmxtVgxdqvyvhY",
  source: "sanctum_multi_pool",
  name: "Sanctum",
};
export const sanctumStakePool: ProgramParser = {
  ...stakePool,
  id: "SPMBzsVUuoHA4Jm6KunbsotaahvVikZs1JyTW6iJvbn",
  source: "sanctum_stake_pool",
  name: "Sanctum",
};
