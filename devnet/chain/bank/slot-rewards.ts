import type { ChainAccount, Reward } from "../model.ts";
import type { AccountWrite } from "../svm/svm.ts";
import type { BankSlot } from "./bank-slot.ts";
import { epochRewards } from "./epoch-rewards.ts";
import type { EpochSchedule } from "./epochs.ts";
import type { RecordedTransaction } from "./history.ts";
import { slotYears } from "./inflation.ts";
import { distributeFees, type ValidatorVotes } from "./validator.ts";
import type { Validator } from "./vote-state.ts";

export interface FreezingSlot {
  readonly slot: bigint;
  readonly parent: BankSlot;
  readonly time: bigint;
  readonly rootSlot: bigint;
  readonly recorded: readonly RecordedTransaction[];
  readonly read: (address: string) => ChainAccount | null;
}

export interface SlotRewardsDependencies {
  readonly validator: Validator;
  readonly votes: ValidatorVotes;
  readonly epochs: EpochSchedule;
  readonly slotMs: number;
}

/**
 * What freezing a slot writes beside its transactions: the leader's fees, in the first slot of an epoch what stake has
 * earned in the one before, and the validator's vote.
 */
export function slotRewards(
  slot: FreezingSlot,
  deps: SlotRewardsDependencies,
): { readonly writes: readonly AccountWrite[]; readonly rewards: readonly Reward[] } {
  const { validator, votes, epochs, slotMs } = deps;
  const fees = distributeFees(slot.recorded, validator, slot.read);
  const writes = [...fees.writes];
  const rewards = [...fees.rewards];
  let voteAccount = slot.read(validator.vote);
  const ended = epochs.epochOf(slot.parent.slot);
  if (ended !== epochs.epochOf(slot.slot)) {
    const paid = epochRewards({
      validator,
      stakeAccount: slot.read(validator.stake),
      voteAccount,
      credits: votes.credits,
      capitalization: slot.parent.capitalization,
      years: slotYears(epochs.firstSlot(ended), slotMs),
      epochYears: slotYears(epochs.slotsPerEpoch, slotMs),
    });
    if (paid.delegated !== null) votes.delegated(paid.delegated);
    voteAccount = paid.writes.find(({ address }) => address === validator.vote)?.account ?? voteAccount;
    writes.push(...paid.writes);
    rewards.push(...paid.rewards);
  }
  writes.push(votes.vote(slot.slot, slot.rootSlot, slot.time, voteAccount));
  return { writes, rewards };
}
