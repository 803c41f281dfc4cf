import { annualPercent, fraction, percentPlaces } from "../arithmetic.ts";
import { type ExactDecimal, native, type PoolRecord, zeroOf } from "../decimal.ts";
import type { StakePoolFigures } from "../figures.ts";
import type { PositionBasis } from "./basis.ts";

/** What a wallet's tokens are worth, and what they brought. Lamports. */
export interface PositionFigures {
  readonly tokens: bigint;
  readonly value: bigint;
  /** Value and cost of those tokens whose cost is known. */
  readonly knownValue: bigint;
  readonly cost: bigint;
  /** Value less cost of these. */
  readonly rewards: bigint;
  readonly apy: ExactDecimal;
}

/**
 * A wallet's part of a pool. Tokens of unknown cost have a value and brought nothing. The yearly rate is of a holding
 * that is at least as old as an epoch is long: younger ones have earned nothing yet but what fees took.
 */
export function positionFigures(
  { holdings: { lamports, tokens: supply } }: StakePoolFigures,
  { tokens, basis }: { readonly tokens: bigint; readonly basis: PositionBasis },
  { nowMs, epochSeconds }: { readonly nowMs: number; readonly epochSeconds: number | null },
): PositionFigures {
  // Rounded down, as the pool's program pays out.
  const worth = (amount: bigint): bigint => (supply === 0n ? 0n : (amount * lamports) / supply);
  const [known, cost] = [worth(basis.known), basis.lamports];
  const heldSeconds = (nowMs - basis.heldSinceMs) / 1_000;
  const isYoung = cost === 0n || epochSeconds === null || heldSeconds < epochSeconds;
  return {
    tokens,
    value: worth(tokens),
    knownValue: known,
    cost,
    rewards: known - cost,
    apy: isYoung ? zeroOf(percentPlaces) : annualPercent(fraction(known - cost, cost), heldSeconds),
  };
}

/** A wallet's part of a pool, with what it is computed from. */
export interface WalletPosition {
  readonly wallet: string;
  readonly pool: StakePoolFigures;
  /** The slot of the pool; null where there is none. */
  readonly slot: bigint | null;
  readonly figures: PositionFigures;
  readonly basis: PositionBasis;
  /** Token accounts that hold its tokens. */
  readonly accounts: readonly string[];
  /** Unix milliseconds. */
  readonly nowMs: number;
  /** How long the last epoch was; null before the first one. */
  readonly epochSeconds: number | null;
}

export const positionRecordOf = (decimals: number, { tokens, value, rewards, apy }: PositionFigures): PoolRecord => ({
  tokenBalance: { units: tokens, places: decimals },
  valueInNative: native(value),
  unrealizedRewards: native(rewards),
  apyEarned: apy,
});
