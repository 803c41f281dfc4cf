import type { StakeDelegation } from "@sluice/wire/accounts/native";
import { decodeVoteAccount, type VoteAccount } from "@sluice/wire/accounts/vote";
import { programs } from "@sluice/wire/programs";
import type { ChainAccount, Reward } from "../../model/index.ts";
import type { AccountOverlay } from "../account-overlay.ts";
import { type StakeHistory, stakeStatus } from "./activation.ts";
import { type DelegatedAccount, rewarded } from "./stake-account.ts";

const wholeBps = 10_000n;

interface EpochRewardsInput {
  /** The epoch that has ended. */
  readonly epoch: bigint;
  /** Lamports that inflation pays for it. */
  readonly lamports: bigint;
  readonly delegations: readonly DelegatedAccount[];
  readonly history: StakeHistory;
}

interface Points {
  readonly stake: DelegatedAccount;
  readonly vote: VoteAccount;
  /** Effective stake times credits, over the epochs since the account was last paid. */
  readonly points: bigint;
  readonly creditsObserved: bigint;
  /** The credits are noted though nothing is paid. */
  readonly skipped: boolean;
}

/**
 * Points of one delegation; null when the vote account has earned nothing new. Source: agave, inflation_rewards/points.
 */
function pointsOf(stake: DelegatedAccount, vote: VoteAccount, input: EpochRewardsInput): Points | null {
  const { delegation } = stake;
  const observed = delegation.creditsObserved;
  const earnedByVote = vote.epochCredits.at(-1)?.credits ?? 0n;
  if (earnedByVote === observed) return null;
  const skipped = earnedByVote < observed || delegation.activationEpoch === input.epoch;
  if (earnedByVote < observed) return { stake, vote, points: 0n, creditsObserved: earnedByVote, skipped };
  let [points, creditsObserved] = [0n, observed];
  for (const { epoch, credits, previousCredits } of vote.epochCredits) {
    const from = observed < previousCredits ? previousCredits : creditsObserved;
    const earned = observed < credits ? credits - from : 0n;
    if (credits > creditsObserved) creditsObserved = credits;
    points += earned * stakeStatus(delegation, epoch, input.history).effective;
  }
  return { stake, vote, points, creditsObserved, skipped };
}

interface Split {
  readonly voter: bigint;
  readonly staker: bigint;
}

/** The validator's part of a reward; null when it is too small to give both a lamport. */
function split(reward: bigint, commissionBps: bigint): Split | null {
  if (commissionBps === 0n) return { voter: 0n, staker: reward };
  if (commissionBps >= wholeBps) return { voter: reward, staker: 0n };
  const voter = (reward * commissionBps) / wholeBps;
  const staker = (reward * (wholeBps - commissionBps)) / wholeBps;
  return voter === 0n || staker === 0n ? null : { voter, staker };
}

function votersOf(delegations: readonly DelegatedAccount[], accounts: AccountOverlay): Map<string, VoteAccount> {
  const voters = new Map<string, VoteAccount>();
  for (const { delegation } of delegations) {
    if (voters.has(delegation.voter)) continue;
    const account = accounts.read(delegation.voter);
    const vote = account?.owner === programs.vote ? decodeVoteAccount(account.data) : null;
    if (vote !== null) voters.set(delegation.voter, vote);
  }
  return voters;
}

function reward(
  pubkey: string,
  lamports: bigint,
  after: ChainAccount,
  type: "Voting" | "Staking",
  bps: number,
): Reward {
  const commission = Math.floor(bps / 100);
  return { pubkey, lamports, postBalance: after.lamports, rewardType: type, commission };
}

/**
 * Pays what inflation gives for an epoch to every delegation on the chain, in proportion to its stake times the credits
 * that its vote account has earned since the delegation was last paid, less the commission, which the vote account
 * gets. What is earned is staked at once. What rounding leaves is never created.
 */
export function payEpochRewards(input: EpochRewardsInput, accounts: AccountOverlay): Reward[] {
  const voters = votersOf(input.delegations, accounts);
  const earned = input.delegations.flatMap((stake) => {
    const vote = voters.get(stake.delegation.voter);
    return vote === undefined ? [] : (pointsOf(stake, vote, input) ?? []);
  });
  const pointsOfAll = earned.reduce((sum, { points }) => sum + points, 0n);
  const commissions = new Map<string, bigint>();
  const rewards: Reward[] = [];
  for (const { stake, vote, points, creditsObserved, skipped } of earned) {
    const account = accounts.read(stake.address);
    if (account === null) continue;
    if (skipped || input.lamports === 0n) {
      accounts.write(stake.address, rewarded(account, 0n, creditsObserved));
      continue;
    }
    const part = pointsOfAll === 0n ? 0n : (points * input.lamports) / pointsOfAll;
    const paid = part === 0n ? null : split(part, BigInt(vote.commissionBasisPoints));
    if (paid === null) continue;
    const { voter } = stake.delegation;
    commissions.set(voter, (commissions.get(voter) ?? 0n) + paid.voter);
    const after = rewarded(account, paid.staker, creditsObserved);
    accounts.write(stake.address, after);
    if (paid.staker > 0n)
      rewards.push(reward(stake.address, paid.staker, after, "Staking", vote.commissionBasisPoints));
  }
  return [...payCommissions(commissions, voters, accounts), ...rewards];
}

function payCommissions(
  commissions: ReadonlyMap<string, bigint>,
  voters: ReadonlyMap<string, VoteAccount>,
  accounts: AccountOverlay,
): Reward[] {
  const rewards: Reward[] = [];
  for (const [address, lamports] of commissions) {
    const [account, vote] = [accounts.read(address), voters.get(address)];
    if (account === null || vote === undefined) continue;
    const after = { ...account, lamports: account.lamports + lamports };
    accounts.write(address, after);
    rewards.push(reward(address, lamports, after, "Voting", vote.commissionBasisPoints));
  }
  return rewards;
}

/** The delegations that have active stake with each vote account in an epoch. */
export function activeStakes(
  delegations: readonly DelegatedAccount[],
  epoch: bigint,
  history: StakeHistory,
): Map<string, { readonly address: string; readonly stake: bigint }[]> {
  const byVoter = new Map<string, { readonly address: string; readonly stake: bigint }[]>();
  for (const { address, delegation } of delegations) {
    const stake = effectiveStake(delegation, epoch, history);
    if (stake === 0n) continue;
    const list = byVoter.get(delegation.voter);
    if (list === undefined) byVoter.set(delegation.voter, [{ address, stake }]);
    else list.push({ address, stake });
  }
  return byVoter;
}

function effectiveStake(delegation: StakeDelegation, epoch: bigint, history: StakeHistory): bigint {
  return stakeStatus(delegation, epoch, history).effective;
}
