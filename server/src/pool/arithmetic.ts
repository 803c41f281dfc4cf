import type { PoolFee } from "@sluice/wire/accounts/stake-pool";
import type { BundleBalances } from "../ledger/index.ts";
import {
  changePercent,
  decimalOf,
  divide,
  type ExactDecimal,
  nativePlaces,
  ratio,
  subtract,
  zeroOf,
} from "./decimal.ts";

/**
 * The arithmetic of the pool's figures (docs/decisions/0079): whole numbers in, decimals out, nothing read from
 * anywhere.
 */

/** Places of percentages, and of the exchange rate. */
export const percentPlaces = 6;
export const ratePlaces = 9;
/** A yearly rate beyond it is no rate of a pool; it is shown as this. */
const apyPercentMax = 1_000_000;
export const secondsPerYear = 31_557_600;

/** What a pool holds and how many of its tokens there are, in the smallest units of each. */
export interface PoolHoldings {
  readonly lamports: bigint;
  readonly tokens: bigint;
}

/** Native tokens for one token of the pool; 1 while there is no token, as the pool's program mints them then. */
export function exchangeRate({ lamports, tokens }: PoolHoldings, decimals: number): ExactDecimal {
  if (tokens === 0n) return { units: 10n ** BigInt(ratePlaces), places: ratePlaces };
  return ratio(lamports * 10n ** BigInt(decimals), tokens * 10n ** BigInt(nativePlaces), ratePlaces);
}

/** How much the rate of a pool rose from one moment to another, as a fraction; 0 where either has no rate. */
export function growth(before: PoolHoldings, after: PoolHoldings): number {
  if (before.lamports === 0n || before.tokens === 0n || after.tokens === 0n) return 0;
  const whole = before.lamports * after.tokens;
  return fraction(after.lamports * before.tokens - whole, whole);
}

/** The change of the rate over a period in percent; 0 where either has no rate. */
export function rateChangePercent(before: PoolHoldings, after: PoolHoldings): ExactDecimal {
  if (before.lamports === 0n || before.tokens === 0n || after.tokens === 0n) return zeroOf(percentPlaces);
  return changePercent(before.lamports * after.tokens, after.lamports * before.tokens, percentPlaces);
}

/** Digits that a double keeps of a fraction, with some to spare. */
const fractionScale = 10n ** 24n;

/** A quotient of whole numbers as a double; 0 where the divisor is 0. */
export const fraction = (numerator: bigint, denominator: bigint): number =>
  denominator === 0n ? 0 : Number((numerator * fractionScale) / denominator) / Number(fractionScale);

/**
 * What a growth in one period makes in a year, in percent: `(1 + growth)^periods - 1`. By the logarithm of `1 + x`, so
 * that the growth of an epoch, which is small, keeps its digits.
 */
export function annualPercent(grown: number, periodSeconds: number): ExactDecimal {
  if (!(periodSeconds > 0) || Number.isNaN(grown)) return zeroOf(percentPlaces);
  // Nothing is left, and nothing comes of nothing: the logarithm has no value for it.
  if (grown <= -1) return { units: -100n * 10n ** BigInt(percentPlaces), places: percentPlaces };
  const percent = 100 * Math.expm1((secondsPerYear / periodSeconds) * Math.log1p(grown));
  return decimalOf(Math.max(-100, Math.min(apyPercentMax, percent)), percentPlaces);
}

/** A yearly rate and its parts, in percent: `total` is `base` and `mev` added, exactly. */
export interface ApyParts {
  readonly total: ExactDecimal;
  readonly base: ExactDecimal;
  readonly mev: ExactDecimal;
}

export const noApy: ApyParts = {
  total: zeroOf(percentPlaces),
  base: zeroOf(percentPlaces),
  mev: zeroOf(percentPlaces),
};

/** What something grew by in a period, as a fraction. */
export interface PeriodGrowth {
  readonly grown: number;
  readonly seconds: number;
}

/** The yearly rate of a growth, and that of what tips made it grow, each in a period of its own. */
export function apyOf(whole: PeriodGrowth, byTips: PeriodGrowth): ApyParts {
  const total = annualPercent(whole.grown, whole.seconds);
  const mev = annualPercent(byTips.grown, byTips.seconds);
  return { total, mev, base: subtract(total, mev) };
}

/** The average of rates, each of so many epochs; base is what is left of the total. */
export function averageApy(rates: readonly { readonly parts: ApyParts; readonly epochs: bigint }[]): ApyParts {
  if (rates.length === 0) return noApy;
  const epochs = rates.reduce((sum, each) => sum + each.epochs, 0n);
  const average = (part: (of: ApyParts) => ExactDecimal): ExactDecimal => ({
    units: divide(
      rates.reduce((sum, each) => sum + part(each.parts).units * each.epochs, 0n),
      epochs,
    ),
    places: percentPlaces,
  });
  const total = average((each) => each.total);
  const mev = average((each) => each.mev);
  return { total, mev, base: subtract(total, mev) };
}

const wholeBasisPoints = 10_000n;

/** A validator's part in what an epoch brought to a pool. Lamports. */
export interface ValidatorTips {
  /** Tips that its leader slots of the epoch brought. */
  readonly tips: bigint;
  /** Of tips, which the validator keeps. */
  readonly commissionBasisPoints: number;
  /** Stake of the pool with it, and of everybody. */
  readonly poolStake: bigint;
  readonly totalStake: bigint;
}

/** Lamports of tips for those who stake with a validator: all but its commission, which is rounded down. */
export const stakersTips = ({ tips, commissionBasisPoints }: ValidatorTips): bigint =>
  tips - (tips * BigInt(commissionBasisPoints)) / wholeBasisPoints;

/** Stake of everybody with a validator; where less is told than the pool's own, as nodes may be behind, that. */
export const wholeStake = ({ poolStake, totalStake }: ValidatorTips): bigint =>
  poolStake > totalStake ? poolStake : totalStake;

/** Lamports of them for the pool: in proportion to its stake, rounded down, as each claim is. */
export function poolTips(validator: ValidatorTips): bigint {
  const whole = wholeStake(validator);
  return whole === 0n ? 0n : (stakersTips(validator) * validator.poolStake) / whole;
}

/** What a pool's fee leaves of an amount; the fee is rounded up, as the pool's program rounds it. */
export function afterFee(amount: bigint, { numerator, denominator }: PoolFee): bigint {
  if (denominator === 0n) return amount;
  const fee = (amount * numerator + denominator - 1n) / denominator;
  return fee > amount ? 0n : amount - fee;
}

const scorePlaces = 2;

/**
 * What tips a validator brings to those who stake with it, beside the others: 100 · own / (own + average), both in
 * lamports for each lamport of stake, the average weighted by stake. 50 is the average, 0 none, and nobody reaches 100
 * beside others.
 */
export function mevScore(
  own: { readonly tips: bigint; readonly stake: bigint },
  all: { readonly tips: bigint; readonly stake: bigint },
): ExactDecimal {
  if (own.tips === 0n || own.stake === 0n || all.stake === 0n) return zeroOf(scorePlaces);
  const mine = own.tips * all.stake;
  return ratio(100n * mine, mine + all.tips * own.stake, scorePlaces);
}

const sharePlaces = 2;
const wholeShare = 100n * 10n ** BigInt(sharePlaces);

/**
 * Each amount's percentage of the sum with two places. They add up to 100 exactly: what rounding down leaves goes to
 * the largest remainders, of equal ones to the first. All are 0 where the sum is.
 */
export function sharesPercent(amounts: readonly bigint[]): readonly ExactDecimal[] {
  const sum = amounts.reduce((total, amount) => total + amount, 0n);
  if (sum === 0n) return amounts.map(() => zeroOf(sharePlaces));
  const units = amounts.map((amount) => (amount * wholeShare) / sum);
  const remainders = amounts.map((amount, index) => ({ index, left: (amount * wholeShare) % sum }));
  remainders.sort((one, other) => (one.left === other.left ? one.index - other.index : one.left < other.left ? 1 : -1));
  const missing = Number(wholeShare - units.reduce((total, each) => total + each, 0n));
  const raised = new Set(remainders.slice(0, missing).map(({ index }) => index));
  return units.map((each, index) => ({ units: each + (raised.has(index) ? 1n : 0n), places: sharePlaces }));
}

/** Revenue is what signers gained before fees and tips, cost is those, and net is what is left. */
export function profitOf({ bundles, gained, fees, tips }: BundleBalances) {
  const cost = fees + tips;
  return { revenue: gained + cost, cost, net: gained, average: divide(gained, bundles) };
}
