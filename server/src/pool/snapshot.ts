import type { EpochSchedule } from "@sluice/wire/accounts/clock";
import type { StakePool } from "@sluice/wire/accounts/stake-pool";
import type { PoolValidator } from "@sluice/wire/accounts/validator-list";
import type { Address } from "@sluice/wire/identifiers";

/** A pool as one slot has it: all from accounts that one node gave together. */
export interface PoolSnapshot {
  readonly address: Address;
  readonly program: Address;
  readonly slot: bigint;
  readonly epoch: bigint;
  /** Unix seconds by the chain's clock. */
  readonly unixTimestamp: bigint;
  readonly epochStartTimestamp: bigint;
  readonly schedule: EpochSchedule;
  readonly pool: StakePool;
  /** Of the pool's token. */
  readonly decimals: number;
  /** Validators whose entries are not only waiting to be removed. */
  readonly validators: readonly PoolValidator[];
}

/** How long an epoch took, and how that is known. */
export interface EpochLength {
  readonly seconds: number;
  /** From the times of two epochs' first blocks, from the pace of the epoch so far, or from the nominal slot. */
  readonly from: "blocks" | "pace" | "nominal";
}

/**
 * The epochs that the pool's last update counted: one, or more where updates before it were missed. The pool does not
 * say which update was the one before; a sample of the pool does, and without one it is taken for one epoch.
 */
export interface CountedEpochs {
  readonly epochs: bigint;
  readonly seconds: number;
  readonly from: "sample" | "assumed";
}

/** What inflation paid to the pool's stake with a validator, and what that stake was before. Lamports. */
export interface InflationReward {
  readonly paid: bigint;
  readonly before: bigint;
}

/** A validator of the pool in the epoch that ended last. Lamports. */
export interface ValidatorEpoch {
  readonly vote: Address;
  readonly identity: Address | null;
  /** Of inflation rewards, as its vote account has it now. */
  readonly commissionBasisPoints: number;
  /** Of everybody with it now. */
  readonly totalStake: bigint;
  readonly tipAccount: Address;
  readonly tips: bigint;
  readonly tipCommissionBasisPoints: number;
  readonly stakeAccount: Address;
  /** `none` where there was no reward, `unknown` where no node told whether there was one. */
  readonly inflation: InflationReward | "none" | "unknown";
}

/** What is known of an epoch that has ended. */
export interface EpochFacts {
  readonly epoch: bigint;
  readonly length: EpochLength;
  readonly counted: CountedEpochs;
  readonly validators: ReadonlyMap<Address, ValidatorEpoch>;
}
