import type { ChainAccount } from "@sluice/svm";
import { decodeStakeAccount, type StakeDelegation, type StakeMeta } from "@sluice/wire/accounts/native";
import { MalformedBytes } from "@sluice/wire/bytes";
import type { JsonObject } from "../json.ts";

function metaJson(meta: StakeMeta): JsonObject {
  const { staker, withdrawer, lockup } = meta;
  return {
    rentExemptReserve: meta.rentExemptReserve.toString(),
    authorized: { staker, withdrawer },
    lockup: { unixTimestamp: lockup.unixTimestamp, epoch: lockup.epoch, custodian: lockup.custodian },
  };
}

function stakeJson(delegation: StakeDelegation): JsonObject {
  return {
    delegation: {
      voter: delegation.voter,
      stake: delegation.stake.toString(),
      activationEpoch: delegation.activationEpoch.toString(),
      deactivationEpoch: delegation.deactivationEpoch.toString(),
    },
    creditsObserved: delegation.creditsObserved,
  };
}

/**
 * Presents a stake account: lamports and epochs of the delegation as text, the rest as numbers. The rate of warm-up is
 * not shown, since its eight bytes are reserved now.
 */
export function parseStakeAccount(_address: string, account: ChainAccount): JsonObject {
  const stake = decodeStakeAccount(account.data);
  switch (stake?.state) {
    case "uninitialized":
    case "rewardsPool":
      return { type: stake.state };
    case "initialized":
      return { type: "initialized", info: { meta: metaJson(stake.meta), stake: null } };
    case "delegated":
      return { type: "delegated", info: { meta: metaJson(stake.meta), stake: stakeJson(stake.delegation) } };
    default:
      throw new MalformedBytes("The data are no stake account.");
  }
}
