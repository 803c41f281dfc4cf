import type { SampledPool } from "../ledger/index.ts";
import type { ReadFigures } from "./figures-source.ts";
import type { ValidatorEpoch } from "./snapshot.ts";

/** One sample every so many milliseconds. */
export const sampleEveryMs = 600_000;

type Row = Readonly<Record<string, unknown>>;

/** The rows of one sample. */
export interface SampleRows {
  readonly pool: Row;
  /** Of the epoch that was counted; none in a sample that is not of an epoch. */
  readonly validators: readonly Row[];
}

/**
 * The moment that a sample is of, in Unix milliseconds: the last of the regular ones, or the start of the epoch in
 * which the pool was updated. Every process that samples it names the same one.
 */
export const regularMoment = (nowMs: number): number => nowMs - (nowMs % sampleEveryMs);

/** The rows of a reading at a moment; null while nothing can be sampled. */
export function sampleRows(
  of: SampledPool,
  { snapshot, facts, figures }: ReadFigures,
  { at, isEpoch }: { readonly at: number; readonly isEpoch: boolean },
): SampleRows | null {
  if (snapshot === null) return null;
  const { pool } = snapshot;
  const place = { ...of, at };
  return {
    pool: {
      ...place,
      slot: snapshot.slot,
      epoch: snapshot.epoch,
      last_update_epoch: pool.lastUpdateEpoch,
      total_lamports: pool.totalLamports,
      token_supply: pool.poolTokenSupply,
      decimals: snapshot.decimals,
      last_total_lamports: pool.lastEpochTotalLamports,
      last_token_supply: pool.lastEpochPoolTokenSupply,
      fee_numerator: pool.epochFee.numerator,
      fee_denominator: pool.epochFee.denominator,
      tips: figures.tips,
      epoch_ms: Math.round((facts?.length.seconds ?? 0) * 1_000),
      validators: figures.validators.length,
      apy: figures.apy.total.units,
      mev_apy: figures.apy.mev.units,
    },
    validators:
      isEpoch && facts !== null
        ? snapshot.validators.flatMap(({ voteAccount, activeStakeLamports }) => {
            const known = facts.validators.get(voteAccount);
            return known === undefined
              ? []
              : [{ ...place, epoch: facts.epoch, ...validatorColumns(known, activeStakeLamports) }];
          })
        : [],
  };
}

const validatorColumns = (known: ValidatorEpoch, stake: bigint): Row => ({
  vote: known.vote,
  stake,
  total_stake: known.totalStake,
  commission: known.commissionBasisPoints,
  tips: known.tips,
  tip_commission: known.tipCommissionBasisPoints,
  paid: known.inflation?.paid ?? null,
  paid_on: known.inflation?.before ?? null,
});
