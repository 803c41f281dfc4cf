import type { AccountWrite } from "@sluice/svm/bank";
import { type Address, addressOfBytes, maxU64 } from "@sluice/wire/identifiers";
import { GenesisKeypair, systemAccount } from "../model/index.ts";
import { delegatedStake } from "./stakes/stake-account.ts";
import { newVoteAccount } from "./votes/vote-account.ts";

const sol = 1_000_000_000n;
const identityLamports = 500n * sol;
/** Percent, in turn. */
const commissions = [5, 7, 0, 10, 8] as const;
/** Of a hundred lamports in existence this many are staked, as on the main cluster. */
const stakedPercent = 65n;
const stakedLeast = 1_000_000n * sol;
/** With this, all lamports stay below a u64 however much the faucet holds. */
const stakedMost = 6_000_000_000n * sol;

export interface Validator {
  /** Leads slots, votes, and pays for its votes. */
  readonly keypair: GenesisKeypair;
  readonly identity: Address;
  readonly vote: Address;
  readonly voteBytes: Uint8Array;
  /** Its stake account of the genesis. */
  readonly stake: Address;
  readonly stakeLamports: bigint;
  /** Percent of inflation rewards. */
  readonly commission: number;
}

export type Validators = readonly [Validator, ...Validator[]];

interface ValidatorsOptions {
  readonly seed: string;
  readonly validators: number;
  readonly faucetLamports: bigint;
}

/**
 * Lamports that all validators of a genesis have staked: 65% of what exists, so that rewards are what they are
 * elsewhere.
 */
export function stakedAtGenesis(faucetLamports: bigint): bigint {
  const share = (faucetLamports * stakedPercent) / (100n - stakedPercent);
  return share < stakedLeast ? stakedLeast : share > stakedMost ? stakedMost : share;
}

/** The validators of a genesis, the one with most stake first; the last one has less than half of it. */
export function createValidators(options: ValidatorsOptions, staked: bigint): Validators {
  const { seed, validators: count } = options;
  const weights = Array.from({ length: count }, (_, index) => BigInt(count + 2 - index));
  const weightOfAll = weights.reduce((sum, weight) => sum + weight, 0n);
  const [first, ...others] = weights.map((weight, index): Validator => {
    const role = (name: string) => (index === 0 ? name : `${name}/${index}`);
    const keypair = new GenesisKeypair(seed, role("validator"));
    const vote = new GenesisKeypair(seed, role("vote"));
    const stake = new GenesisKeypair(seed, role("stake"));
    return {
      keypair,
      identity: addressOfBytes(keypair.publicKey),
      vote: addressOfBytes(vote.publicKey),
      voteBytes: vote.publicKey,
      stake: addressOfBytes(stake.publicKey),
      stakeLamports: (staked * weight) / weightOfAll,
      commission: commissions[index % commissions.length] ?? 0,
    };
  });
  if (first === undefined) throw new RangeError("a chain has at least one validator");
  return [first, ...others];
}

/**
 * Identity, vote account and stake account of each validator. Stake of the genesis is active from the first epoch on.
 */
export function validatorGenesis(validators: readonly Validator[]): AccountWrite[] {
  return validators.flatMap((validator) => {
    const { identity, vote, stake, stakeLamports, commission } = validator;
    const authorities = { staker: identity, withdrawer: identity };
    return [
      { address: identity, account: systemAccount(identityLamports) },
      {
        address: vote,
        account: newVoteAccount({ identity, withdrawer: identity, vote, commissionBps: commission * 100 }),
      },
      {
        address: stake,
        account: delegatedStake({ ...authorities, voter: vote, stake: stakeLamports, activationEpoch: maxU64 }),
      },
    ];
  });
}
