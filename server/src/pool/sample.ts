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

/** The chain's clock counts whole seconds: the last one of an epoch is one before the first of the next. */
const secondMs = 1_000;

/**
 * The row of the pool as it was at the end of the epoch before the one that its last update was in. No deposit and no
 * withdrawal is possible between the start of an epoch and the update, so that the pool held until then what its update
 * found. Its yearly rate, its fee and its validators are not known from this, and the row has none. Null where the pool
 * does not say it, or was not updated in the present epoch.
 */
export function endedEpochRow(
  of: SampledPool,
  { snapshot }: Pick<ReadFigures, "snapshot">,
): (Row & { readonly at: number }) | null {
  if (snapshot === null || snapshot.pool.lastUpdateEpoch !== snapshot.epoch) return null;
  const { pool, epoch } = snapshot;
  if (epoch === 0n || pool.lastEpochTotalLamports === 0n || pool.lastEpochPoolTokenSupply === 0n) return null;
  return {
    ...of,
    at: Number(snapshot.epochStartTimestamp) * secondMs - secondMs,
    slot: snapshot.slot,
    epoch: epoch - 1n,
    last_update_epoch: 0n,
    total_lamports: pool.lastEpochTotalLamports,
    token_supply: pool.lastEpochPoolTokenSupply,
    decimals: snapshot.decimals,
    last_total_lamports: 0n,
    last_token_supply: 0n,
    fee_numerator: 0n,
    fee_denominator: 0n,
    tips: 0n,
    epoch_ms: 0,
    epochs: 0,
    counted_ms: 0,
    validators: 0,
    apy: 0n,
    mev_apy: 0n,
  };
}

/** The rows of a reading at a moment; null while nothing can be sampled. */
export function sampleRows(
  of: SampledPool,
  { snapshot, facts, figures }: ReadFigures,
  { at, isEpoch }: { readonly at: number; readonly isEpoch: boolean },
): SampleRows | null {
  if (snapshot === null) return null;
  const { pool } = snapshot;
  const place = { ...of, at };
  // Rates of before are not those of this moment: a sample of a moment when the present ones were not known has none.
  const rated = figures.rating === "counted" ? facts : null;
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
      epoch_ms: Math.round((rated?.length.seconds ?? 0) * 1_000),
      epochs: rated?.counted.epochs ?? 0n,
      counted_ms: Math.round((rated?.counted.seconds ?? 0) * 1_000),
      validators: figures.validators.length,
      apy: rated === null ? 0n : figures.apy.total.units,
      mev_apy: rated === null ? 0n : figures.apy.mev.units,
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
  ...paidColumns(known.inflation),
});

/** Null where no node told what was paid, and on what. */
function paidColumns(inflation: ValidatorEpoch["inflation"]): Row {
  if (inflation === "unknown") return { paid: null, paid_on: null };
  return inflation === "none" ? { paid: 0n, paid_on: null } : { paid: inflation.paid, paid_on: inflation.before };
}
