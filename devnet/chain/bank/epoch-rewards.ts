import type { ChainAccount, Reward } from "../model.ts";
import type { AccountWrite } from "../svm/svm.ts";
import { inflationRate } from "./inflation.ts";
import type { Validator } from "./vote-state.ts";

/** Offsets in a delegated stake account. Source: solana-stake-interface, StakeStateV2. */
const STATE_DELEGATED = 2;
const DELEGATED_STAKE = 156;
const CREDITS_OBSERVED = 188;

export interface EpochRewardsInput {
  readonly validator: Validator;
  readonly stakeAccount: ChainAccount | null;
  readonly voteAccount: ChainAccount | null;
  /** All credits that the vote account has earned. */
  readonly credits: bigint;
  readonly capitalization: bigint;
  /** Age of the chain at the epoch's start, and length of the epoch, in years. */
  readonly years: number;
  readonly epochYears: number;
}

export interface EpochRewards {
  readonly writes: readonly AccountWrite[];
  readonly rewards: readonly Reward[];
  /** Lamports delegated after the rewards, or null when the stake account is no longer a delegation. */
  readonly delegated: bigint | null;
}

function view(data: Uint8Array): DataView {
  return new DataView(data.buffer, data.byteOffset, data.byteLength);
}

/**
 * What inflation pays for one epoch. All of the validators' share goes to the one delegation, less the commission, which
 * goes to the vote account; what is earned is delegated at once.
 */
export function epochRewards(input: EpochRewardsInput): EpochRewards {
  const { validator, stakeAccount, voteAccount } = input;
  if (stakeAccount === null || voteAccount === null || stakeAccount.data[0] !== STATE_DELEGATED) {
    return { writes: [], rewards: [], delegated: null };
  }
  const rate = inflationRate(input.years).validator;
  const total = BigInt(Math.floor(rate * Number(input.capitalization) * input.epochYears));
  const commission = (total * BigInt(validator.commission)) / 100n;
  const earned = total - commission;
  const data = new Uint8Array(stakeAccount.data);
  const delegated = view(data).getBigUint64(DELEGATED_STAKE, true) + earned;
  view(data).setBigUint64(DELEGATED_STAKE, delegated, true);
  view(data).setBigUint64(CREDITS_OBSERVED, input.credits, true);
  const stake = { ...stakeAccount, data, lamports: stakeAccount.lamports + earned };
  const vote = { ...voteAccount, lamports: voteAccount.lamports + commission };
  const paid = (pubkey: string, lamports: bigint, postBalance: bigint, rewardType: "Voting" | "Staking"): Reward => ({
    pubkey,
    lamports,
    postBalance,
    rewardType,
    commission: validator.commission,
  });
  return {
    writes: [
      { address: validator.vote, account: vote },
      { address: validator.stake, account: stake },
    ],
    rewards: [
      paid(validator.vote, commission, vote.lamports, "Voting"),
      paid(validator.stake, earned, stake.lamports, "Staking"),
    ],
    delegated,
  };
}
