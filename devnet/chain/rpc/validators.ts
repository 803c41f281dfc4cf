import type { JsonValue } from "../encode/index.ts";
import { blockNotAvailable, invalidParams } from "./errors.ts";
import { bankOf, type MethodTable, type RpcNode, reached, withContext } from "./method.ts";
import { addressValue, booleanMember, commitmentMember, configAt, listValue, u64Member, u64Value } from "./params.ts";

const REWARD_ADDRESSES_MAX = 32;
const EPOCH_CREDITS_SHOWN = 5;
const MINIMUM_DELEGATION_LAMPORTS = 1_000_000_000n;

function leaderSchedule(params: readonly JsonValue[], node: RpcNode): JsonValue {
  const first = params[0];
  const configFirst = typeof first === "object" && first !== null;
  const config = configAt(params, configFirst ? 0 : 1, "struct RpcLeaderScheduleConfig");
  const { chain } = node;
  const bank = chain.at(commitmentMember(config));
  const slot = configFirst || first === undefined || first === null ? bank.slot : u64Value(first);
  const given = config?.["identity"];
  const identity = given === undefined || given === null ? null : addressValue(given);
  if (chain.epochs.epochOf(slot) > chain.epochs.lastScheduledEpoch(bank.slot)) return null;
  const leader = chain.genesis.validator.identity;
  if (identity !== null && identity !== leader) return {};
  return { [leader]: Array.from({ length: Number(chain.epochs.slotsPerEpoch) }, (_, index) => index) };
}

function voteAccounts(params: readonly JsonValue[], node: RpcNode): JsonValue {
  const config = configAt(params, 0, "struct RpcGetVoteAccountsConfig");
  bankOf(node, config);
  const wanted = config?.["votePubkey"];
  const { validator } = node.chain.genesis;
  if (wanted !== undefined && wanted !== null && addressValue(wanted) !== validator.vote) {
    return { current: [], delinquent: [] };
  }
  booleanMember(config, "keepUnstakedDelinquents", false);
  u64Member(config, "delinquentSlotDistance");
  const { standing } = node.chain.votes;
  const epochCredits = standing.epochCredits.slice(-EPOCH_CREDITS_SHOWN);
  const row = {
    votePubkey: validator.vote,
    nodePubkey: validator.identity,
    activatedStake: node.chain.votes.activatedStake,
    commission: validator.commission,
    epochVoteAccount: true,
    epochCredits: epochCredits.map(({ epoch, credits, previousCredits }) => [epoch, credits, previousCredits]),
    lastVote: standing.lastVote,
    rootSlot: standing.rootSlot ?? 0n,
  };
  return { current: [row], delinquent: [] };
}

function inflationReward(params: readonly JsonValue[], node: RpcNode): JsonValue {
  const list = listValue(params[0]);
  if (list.length > REWARD_ADDRESSES_MAX) throw invalidParams(`Too many inputs provided; max ${REWARD_ADDRESSES_MAX}`);
  const addresses = list.map((entry) => addressValue(entry));
  const config = configAt(params, 1, "struct RpcEpochConfig");
  const { chain } = node;
  const bank = reached(chain.at(commitmentMember(config)), config);
  const current = chain.epochs.epochOf(bank.slot);
  const epoch = u64Member(config, "epoch") ?? (current === 0n ? 0n : current - 1n);
  const payingSlot = chain.epochs.firstSlot(epoch + 1n);
  if (payingSlot > bank.slot) throw blockNotAvailable(payingSlot);
  const block = chain.history.block(payingSlot);
  if (block === null) throw blockNotAvailable(payingSlot);
  return addresses.map((address) => {
    const paid = block.rewards.find(
      ({ pubkey, rewardType }) => pubkey === address && (rewardType === "Staking" || rewardType === "Voting"),
    );
    if (paid === undefined) return null;
    const { lamports: amount, postBalance, commission } = paid;
    return { epoch, effectiveSlot: payingSlot, amount, postBalance, commission };
  });
}

/** The validator, its stake and its leader slots. */
export const validatorMethods: MethodTable = {
  getLeaderSchedule: { required: 0, optional: 2, run: leaderSchedule },
  getVoteAccounts: { required: 0, optional: 1, run: voteAccounts },
  getInflationReward: { required: 1, optional: 1, run: inflationReward },
  getStakeMinimumDelegation: {
    required: 0,
    optional: 1,
    run: (params, node) => withContext(bankOf(node, configAt(params, 0)), MINIMUM_DELEGATION_LAMPORTS),
  },
};
