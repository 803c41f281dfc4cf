import { mevTypes } from "@sluice/contract/engine";
import { mevBreakdownNames } from "@sluice/contract/pool";
import type { PoolValidator } from "@sluice/wire/accounts/validator-list";
import type { Address } from "@sluice/wire/identifiers";
import type { BundleBalances, BundleFigures, BundleMevFigures } from "../ledger/index.ts";
import {
  type ApyParts,
  afterFee,
  annualPercent,
  apyOf,
  exchangeRate,
  fraction,
  growth,
  mevScore,
  noApy,
  type PoolHoldings,
  percentPlaces,
  poolTips,
  profitOf,
  ratePlaces,
  sharesPercent,
  stakersTips,
  type ValidatorTips,
  wholeStake,
} from "./arithmetic.ts";
import { decimalOf, divide, type ExactDecimal, native, type PoolRecord, zeroOf } from "./decimal.ts";
import type { EpochFacts, InflationReward, PoolSnapshot, ValidatorEpoch } from "./snapshot.ts";

/**
 * How a yearly rate is known: of the epochs that the pool's last update counted, of ones before, since these cannot be
 * read, or not at all, and then it is 0.
 */
export type Rating = "counted" | "kept" | "unknown";

/** A validator's figures. */
export interface ValidatorFigures {
  readonly address: Address;
  readonly name: string;
  /** Lamports of the pool with it, those on their way to and from it included. */
  readonly stake: bigint;
  readonly apy: ExactDecimal;
  readonly commission: ExactDecimal;
  readonly mevScore: ExactDecimal;
  readonly rating: Rating;
}

/** The figures of a pool at one moment. */
export interface StakePoolFigures {
  readonly holdings: PoolHoldings;
  readonly decimals: number;
  readonly rate: ExactDecimal;
  readonly apy: ApyParts;
  /** Lamports of tips for the pool in the epoch that was counted last, before its fee. */
  readonly tips: bigint;
  readonly rating: Rating;
  readonly validators: readonly ValidatorFigures[];
}

const commissionPlaces = 2;

/** Figures while there is no pool: there is nothing to know, and they are 0. */
export const noPool: StakePoolFigures = {
  holdings: { lamports: 0n, tokens: 0n },
  decimals: 0,
  rate: zeroOf(ratePlaces),
  apy: noApy,
  tips: 0n,
  rating: "counted",
  validators: [],
};

export const stakeOf = ({ activeStakeLamports, transientStakeLamports }: PoolValidator): bigint =>
  activeStakeLamports + transientStakeLamports;

/** What a validator's tips for the pool are computed from. */
export const tipsInput = (entry: PoolValidator, facts: ValidatorEpoch): ValidatorTips => ({
  tips: facts.tips,
  commissionBasisPoints: facts.tipCommissionBasisPoints,
  poolStake: entry.activeStakeLamports,
  totalStake: facts.totalStake,
});

/** What the pool held as its last update found it. */
export const holdingsOf = ({ pool }: PoolSnapshot): PoolHoldings => ({
  lamports: pool.totalLamports,
  tokens: pool.poolTokenSupply,
});

/** What it held before that update. */
export const holdingsBefore = ({ pool }: PoolSnapshot): PoolHoldings => ({
  lamports: pool.lastEpochTotalLamports,
  tokens: pool.lastEpochPoolTokenSupply,
});

/** Lamports of tips that the epoch brought to the pool, before the pool's own fee. */
export function tipsOfPool({ validators }: PoolSnapshot, facts: EpochFacts): bigint {
  return validators.reduce((sum, entry) => {
    const of = facts.validators.get(entry.voteAccount);
    return of === undefined ? sum : sum + poolTips(tipsInput(entry, of));
  }, 0n);
}

/** Null where nothing is known of what the last update counted. */
function apyOfPool(snapshot: PoolSnapshot, facts: EpochFacts | null, tips: bigint): ApyParts | null {
  const before = holdingsBefore(snapshot);
  // Without the holdings of before nothing is known of the epoch, tips included.
  if (facts === null || before.lamports === 0n || before.tokens === 0n) return null;
  const byTips = fraction(afterFee(tips, snapshot.pool.epochFee), before.lamports);
  const { counted, length } = facts;
  const whole = { grown: growth(before, holdingsOf(snapshot)), seconds: counted.seconds };
  return apyOf(whole, { grown: byTips, seconds: length.seconds });
}

/** What inflation paid to the pool's stake with a validator; null where nobody told. */
export function rewardOf({ activeStakeLamports: before }: PoolValidator, of: ValidatorEpoch): InflationReward | null {
  if (of.inflation === "unknown") return null;
  return of.inflation === "none" ? { paid: 0n, before } : of.inflation;
}

/** In percent. */
export const commissionOf = (of: ValidatorEpoch): ExactDecimal => ({
  units: BigInt(of.commissionBasisPoints),
  places: commissionPlaces,
});

/** Tips for those who stake with a validator, and all of that stake, which is never less than the pool's own. */
const tipsOfStake = (input: ValidatorTips) => ({ tips: stakersTips(input), stake: wholeStake(input) });

/** Tips for those who stake with the pool's validators, and all that is staked with them: the average of a score. */
export const tipsOfAll = (snapshot: PoolSnapshot, facts: EpochFacts) =>
  snapshot.validators.reduce(
    (sum, entry) => {
      const of = facts.validators.get(entry.voteAccount);
      if (of === undefined) return sum;
      const own = tipsOfStake(tipsInput(entry, of));
      return { tips: sum.tips + own.tips, stake: sum.stake + own.stake };
    },
    { tips: 0n, stake: 0n },
  );

/** What figures are made of beside the pool itself. */
export interface FiguresContext {
  readonly facts: EpochFacts | null;
  /** What validators call themselves, by identity. */
  readonly names: ReadonlyMap<string, string>;
  /** Figures of before, whose rates stand for those that cannot be read now. */
  readonly kept: StakePoolFigures | null;
}

function validatorFigures(snapshot: PoolSnapshot, { facts, names, kept }: FiguresContext): readonly ValidatorFigures[] {
  const before = new Map(kept?.validators.map((validator) => [validator.address, validator]));
  const all = facts === null ? { tips: 0n, stake: 0n } : tipsOfAll(snapshot, facts);
  return snapshot.validators.map((entry): ValidatorFigures => {
    const of = facts?.validators.get(entry.voteAccount) ?? null;
    const held = before.get(entry.voteAccount);
    const own = { address: entry.voteAccount, stake: stakeOf(entry) };
    if (of === null || facts === null) return { ...(held ?? unrated), ...own, rating: ratingBy(held) };
    const shown = {
      ...own,
      name: of.identity === null ? "" : (names.get(of.identity) ?? ""),
      commission: commissionOf(of),
      mevScore: mevScore(tipsOfStake(tipsInput(entry, of)), all),
    };
    const reward = rewardOf(entry, of);
    if (reward === null) return { ...shown, apy: held?.apy ?? zeroOf(percentPlaces), rating: ratingBy(held) };
    const earned = fraction(reward.paid + poolTips(tipsInput(entry, of)), reward.before);
    return { ...shown, apy: annualPercent(earned, facts.length.seconds), rating: "counted" };
  });
}

const unrated = {
  name: "",
  apy: zeroOf(percentPlaces),
  commission: zeroOf(commissionPlaces),
  mevScore: zeroOf(commissionPlaces),
};

/** Of a rate that stands for one that cannot be read. */
const ratingBy = (kept: { readonly rating: Rating } | null | undefined): Rating =>
  kept === null || kept === undefined || kept.rating === "unknown" ? "unknown" : "kept";

/** Computes a pool's figures. */
export function poolFigures(snapshot: PoolSnapshot, context: FiguresContext): StakePoolFigures {
  const { facts, kept } = context;
  const holdings = holdingsOf(snapshot);
  const tips = facts === null ? 0n : tipsOfPool(snapshot, facts);
  const apy = apyOfPool(snapshot, facts, tips);
  return {
    holdings,
    decimals: snapshot.decimals,
    rate: exchangeRate(holdings, snapshot.decimals),
    apy: apy ?? kept?.apy ?? noApy,
    tips,
    rating: apy === null ? ratingBy(kept) : "counted",
    validators: validatorFigures(snapshot, context),
  };
}

const apyMembers = ({ total, base, mev }: ApyParts) => ({ apy: total, baseApy: base, mevApy: mev });
const supplyOf = ({ holdings, decimals }: StakePoolFigures): ExactDecimal => ({
  units: holdings.tokens,
  places: decimals,
});

export const poolRecordOf = (figures: StakePoolFigures): PoolRecord => ({
  tvl: native(figures.holdings.lamports),
  exchangeRate: figures.rate,
  apy: figures.apy.total,
  validatorCount: figures.validators.length,
  tokenSupply: supplyOf(figures),
  baseApy: figures.apy.base,
  mevApy: figures.apy.mev,
});

export const validatorRecordOf = (validator: ValidatorFigures): PoolRecord => ({
  address: validator.address,
  name: validator.name,
  stake: native(validator.stake),
  apy: validator.apy,
  commission: validator.commission,
  mevScore: validator.mevScore,
});

const landingRatePlaces = 6;

/** Landed of ended, 0 to 1. */
export const landingRate = ({ landed, ended }: BundleFigures): ExactDecimal =>
  decimalOf(ended === 0 ? 0 : landed / ended, landingRatePlaces);

export const overviewRecordOf = (period: string, figures: BundleFigures): PoolRecord => ({
  period,
  total_tips_earned: figures.tips,
  total_bundles_landed: figures.landed,
  avg_tip_per_bundle: divide(figures.tips, BigInt(figures.landed)),
  landing_rate: landingRate(figures),
});

/** All types, those without a bundle too. */
export function breakdownRecordsOf(figures: readonly BundleMevFigures[]): readonly PoolRecord[] {
  const tips = mevTypes.map((type) => figures.find(({ mevType }) => mevType === type)?.tips ?? 0n);
  const shares = sharesPercent(tips);
  return mevTypes.map((type, index) => ({
    type: mevBreakdownNames[type],
    bundles: figures.find(({ mevType }) => mevType === type)?.landed ?? 0,
    revenue: native(tips[index] ?? 0n),
    percentage: shares[index] ?? zeroOf(0),
  }));
}

/** How figures changed, in percent. */
export interface PoolChanges {
  readonly tvl24h: ExactDecimal;
  readonly rate24h: ExactDecimal;
  readonly rate7d: ExactDecimal;
  readonly rate30d: ExactDecimal;
}

export const exchangeRateRecordOf = ({ rate }: StakePoolFigures, changes: PoolChanges): PoolRecord => ({
  rate,
  rate_change_24h: changes.rate24h,
  rate_change_7d: changes.rate7d,
  rate_change_30d: changes.rate30d,
});

/** Averages of epochs, in percent. */
export interface ApyAverages {
  readonly days7: ExactDecimal;
  readonly days30: ExactDecimal;
}

export const noAverages: ApyAverages = { days7: zeroOf(percentPlaces), days30: zeroOf(percentPlaces) };

export const apyRecordOf = ({ apy }: StakePoolFigures, averages: ApyAverages): PoolRecord => ({
  current_apy: apy.total,
  base_apy: apy.base,
  mev_apy: apy.mev,
  apy_7d_avg: averages.days7,
  apy_30d_avg: averages.days30,
});

/** What the ledger has of bundles: of the last day, and of all time. */
export interface BundleTotals {
  readonly day: BundleFigures;
  readonly all: BundleFigures;
}

export const dashboardRecordOf = (
  figures: StakePoolFigures,
  changes: PoolChanges,
  { day, all }: BundleTotals,
): PoolRecord => ({
  tvl: native(figures.holdings.lamports),
  tvlChange24h: changes.tvl24h,
  ...apyMembers(figures.apy),
  bundlesLanded24h: day.landed,
  bundlesTotal: all.landed,
  landingRate: landingRate(day),
  mevRevenue24h: native(day.tips),
  mevRevenueTotal: native(all.tips),
  validatorCount: figures.validators.length,
  tokenSupply: supplyOf(figures),
  exchangeRate: figures.rate,
  exchangeRateChange24h: changes.rate24h,
});

export function pnlRecordOf(
  asked: { readonly strategy: string; readonly period: string },
  profits: BundleBalances,
): PoolRecord {
  const { revenue, cost, net, average } = profitOf(profits);
  return {
    strategy: asked.strategy,
    period: asked.period,
    totalRevenue: native(revenue),
    totalCost: native(cost),
    netProfit: native(net),
    bundleCount: profits.bundles,
    avgProfitPerBundle: native(average),
  };
}
