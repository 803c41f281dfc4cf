import { tipPrograms } from "@sluice/wire/accounts/tips";
import { programs } from "@sluice/wire/programs";
import type { Reward, StakeHistoryEntry } from "../model/index.ts";
import type { AccountOverlay } from "./account-overlay.ts";
import { type EpochStakes, voterStakes } from "./leader-schedule.ts";
import type { PoolKeys } from "./stake-pool/stake-pool.ts";
import { updateStakePool } from "./stake-pool/update.ts";
import { stakeHistory } from "./stakes/activation.ts";
import { activeStakes, payEpochRewards } from "./stakes/rewards.ts";
import { delegations } from "./stakes/stake-account.ts";
import { settleTips } from "./tips/claims.ts";

interface EpochStart {
  readonly epoch: bigint;
  /** The epoch of the slot before, which has ended. */
  readonly ended: bigint;
  /** The epoch's first slot that has a block. */
  readonly slot: bigint;
  /** Lamports that inflation pays for the epoch that has ended. */
  readonly inflation: bigint;
  /** With the entry of the epoch that has ended. */
  readonly stakeHistory: readonly StakeHistoryEntry[];
}

interface EpochStartDependencies {
  readonly accounts: AccountOverlay;
  readonly ofProgram: (program: string) => Iterable<string>;
  readonly stakes: EpochStakes;
  readonly pool: PoolKeys;
  readonly tipOperator: string;
}

/** Counts each vote account's active stake as an epoch begins. */
export function countStakes(
  at: { readonly epoch: bigint; readonly slot: bigint; readonly stakeHistory: readonly StakeHistoryEntry[] },
  dependencies: Pick<EpochStartDependencies, "accounts" | "ofProgram" | "stakes">,
): void {
  const { accounts, ofProgram, stakes } = dependencies;
  const delegated = delegations(ofProgram(programs.stake), accounts);
  const active = activeStakes(delegated, at.epoch, stakeHistory(at.stakeHistory));
  stakes.record(at.epoch, at.slot, voterStakes(ofProgram(programs.vote), active, accounts));
}

/**
 * What happens before the first transaction of an epoch, in this order: the tips of the epoch before are given to those
 * who may claim them, inflation is paid for it, the stake of the new one is counted, and the stake pool is updated.
 */
export function startEpoch(start: EpochStart, dependencies: EpochStartDependencies): Reward[] {
  const { accounts, ofProgram } = dependencies;
  const history = stakeHistory(start.stakeHistory);
  const delegated = delegations(ofProgram(programs.stake), accounts);
  const stakes = activeStakes(delegated, start.ended, history);
  settleTips(
    ofProgram(tipPrograms.distribution),
    { epoch: start.epoch, stakes, operator: dependencies.tipOperator },
    accounts,
  );
  const { ended: epoch, inflation: lamports } = start;
  const rewards = payEpochRewards({ epoch, lamports, delegations: delegated, history }, accounts);
  countStakes(start, dependencies);
  updateStakePool(dependencies.pool, start.epoch, accounts);
  return rewards;
}
