import type { JsonValue } from "@sluice/encode";
import { decodeVoteAccount } from "@sluice/wire/accounts/vote";
import { programs } from "@sluice/wire/programs";
import { consecutiveSlots } from "../consensus/index.ts";
import type { BankSlot } from "../model/index.ts";
import { blockNotAvailable, invalidParams } from "./errors.ts";
import { bankOf, type MethodTable, type RpcNode, reached, withContext } from "./method.ts";
import { addressValue, booleanMember, commitmentMember, configAt, listValue, u64Member, u64Value } from "./params.ts";

const rewardAddressesMax = 32;
const epochCreditsShown = 5;
const minimumDelegationLamports = 1_000_000_000n;
/** Source: DELINQUENT_VALIDATOR_SLOT_DISTANCE. */
const delinquentSlotDistance = 128n;

function leaderSchedule(params: readonly JsonValue[], node: RpcNode): JsonValue {
  const first = params[0];
  const configFirst = typeof first === "object" && first !== null;
  const config = configAt(params, configFirst ? 0 : 1, "struct RpcLeaderScheduleConfig");
  const { chain } = node;
  const bank = chain.at(commitmentMember(config));
  const slot = configFirst || first === undefined || first === null ? bank.slot : u64Value(first);
  const requested = config?.["identity"];
  const identity = requested === undefined || requested === null ? null : addressValue(requested);
  const epoch = chain.epochs.epochOf(slot);
  const leaders = epoch > chain.epochs.lastScheduledEpoch(bank.slot) ? null : chain.cluster.leaders.ofEpoch(epoch);
  if (leaders === null) return null;
  const schedule = new Map<string, number[]>();
  for (let index = 0; index < Number(chain.epochs.slotsPerEpoch); index += 1) {
    const leader = leaders[Math.floor(index / Number(consecutiveSlots))]?.identity;
    if (leader === undefined || (identity !== null && leader !== identity)) continue;
    const slots = schedule.get(leader);
    if (slots === undefined) schedule.set(leader, [index]);
    else slots.push(index);
  }
  return Object.fromEntries(schedule);
}

function voteAccountRow(vote: string, bank: BankSlot, { chain }: RpcNode) {
  const account = chain.accounts.get(vote, bank.slot);
  const state = account === null ? null : decodeVoteAccount(account.data);
  if (state === null) return null;
  const epoch = chain.epochs.epochOf(bank.slot);
  const { stakes } = chain.cluster;
  const stakeIn = (of: bigint) => stakes.at(of)?.voters.find((voter) => voter.vote === vote)?.stake ?? 0n;
  const epochCredits = state.epochCredits.slice(-epochCreditsShown);
  return {
    votePubkey: vote,
    nodePubkey: state.node,
    activatedStake: stakeIn(epoch),
    commission: Math.floor(state.commissionBasisPoints / 100),
    inflationRewardsCommissionBps: state.commissionBasisPoints,
    epochVoteAccount: stakeIn(epoch === 0n ? 0n : epoch - 1n) > 0n,
    epochCredits: epochCredits.map(({ epoch: of, credits, previousCredits }) => [of, credits, previousCredits]),
    lastVote: state.lastVotedSlot ?? 0n,
    rootSlot: state.rootSlot ?? 0n,
  };
}

/** Those whose last vote lies too far behind the bank are delinquent, of whom those without stake are left out. */
function voteAccounts(params: readonly JsonValue[], node: RpcNode): JsonValue {
  const config = configAt(params, 0, "struct RpcGetVoteAccountsConfig");
  const bank = bankOf(node, config);
  const requested = config?.["votePubkey"] ?? null;
  const filter = requested === null ? null : addressValue(requested);
  const keepUnstaked = booleanMember(config, "keepUnstakedDelinquents", false);
  const distance = u64Member(config, "delinquentSlotDistance") ?? delinquentSlotDistance;
  const rows = [...node.chain.accounts.ofProgram(programs.vote, bank.slot)]
    .filter(([vote]) => filter === null || vote === filter)
    .flatMap(([vote]) => voteAccountRow(vote, bank, node) ?? [])
    .sort((one, other) => (one.activatedStake < other.activatedStake ? 1 : -1));
  const votes = ({ lastVote }: { readonly lastVote: bigint }) => lastVote + distance >= bank.slot;
  return {
    current: rows.filter(votes),
    delinquent: rows.filter((row) => !votes(row) && (keepUnstaked || row.activatedStake > 0n)),
  };
}

function inflationReward(params: readonly JsonValue[], node: RpcNode): JsonValue {
  const list = listValue(params[0]);
  if (list.length > rewardAddressesMax) throw invalidParams(`Too many inputs provided; max ${rewardAddressesMax}`);
  const addresses = list.map((entry) => addressValue(entry));
  const config = configAt(params, 1, "struct RpcEpochConfig");
  const { chain } = node;
  const bank = reached(chain.at(commitmentMember(config)), config);
  const current = chain.epochs.epochOf(bank.slot);
  const epoch = u64Member(config, "epoch") ?? (current === 0n ? 0n : current - 1n);
  const firstSlot = chain.epochs.firstSlot(epoch + 1n);
  if (firstSlot > bank.slot) throw blockNotAvailable(firstSlot);
  const [payingSlot] = chain.history.slots(firstSlot, bank.slot, 1);
  const block = payingSlot === undefined ? null : chain.history.block(payingSlot);
  if (payingSlot === undefined || block === null || chain.epochs.epochOf(payingSlot) !== epoch + 1n) {
    throw blockNotAvailable(firstSlot);
  }
  return addresses.map((address) => {
    const paid = block.rewards.find(
      ({ pubkey, rewardType }) => pubkey === address && (rewardType === "Staking" || rewardType === "Voting"),
    );
    if (paid === undefined) return null;
    const { lamports: amount, postBalance, commission } = paid;
    return { epoch, effectiveSlot: payingSlot, amount, postBalance, commission };
  });
}

/** The validators, their stake and their leader slots. */
export const validatorMethods: MethodTable = {
  getLeaderSchedule: { required: 0, optional: 2, run: leaderSchedule },
  getVoteAccounts: { required: 0, optional: 1, run: voteAccounts },
  getInflationReward: { required: 1, optional: 1, run: inflationReward },
  getStakeMinimumDelegation: {
    required: 0,
    optional: 1,
    run: (params, node) => withContext(bankOf(node, configAt(params, 0)), minimumDelegationLamports),
  },
};
