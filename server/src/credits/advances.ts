import { invariant } from "@sluice/lib";

/** Credits that a process gives out while the state store does not answer, before any of them is spent. */
export interface Advance {
  readonly accountId: string;
  /** The month in which it may be spent, and to which it is charged. */
  readonly month: string;
  /** Of the tally's entry in which what is spent of it is counted. */
  readonly number: number;
  /** Whole credits. */
  readonly credits: number;
}

/** Where advances are recorded, so that they are charged whatever becomes of this process. */
export interface AdvanceRecords {
  /** Processes that spend the same allowances, as last known; at least 1. */
  readonly processes: number;
  /** Resolves when the record is on disk; only then may it be spent. Rejects when it cannot be. */
  record(advance: Advance): Promise<void>;
  /** What was spent of it is charged, or nothing was: its record is no longer needed. */
  booked(advance: Advance, spent: number): void;
}

/** What is known of an account when the store is lost. */
export interface AdvanceGround {
  /** Credits of the month that were left when the store was last asked. */
  readonly left: bigint;
  /** Credits a second that the account spends here. */
  readonly pace: number;
  /** Processes that may do the same. */
  readonly processes: number;
}

/** How long an advance lasts at the account's own pace: a managed failover takes 30 to 120 s. */
const advanceSeconds = 60;
/** All processes together advance one part in so many of what was left. */
const advanceParts = 100n;
/** What was left has to be so many times an advance. */
const leftTimesMin = 10n;

/**
 * The bound of the credits that one account may spend in one process without the store: 60 s at its pace, or its share
 * of one hundredth of what was left, whichever is less, and only where ten times that was left (decisions: Processes).
 */
export function advanceOf({ left, pace, processes }: AdvanceGround): number {
  if (left <= 0n) return 0;
  const share = left / advanceParts / BigInt(Math.max(1, processes));
  const minute = BigInt(Math.min(Number.MAX_SAFE_INTEGER, Math.ceil(pace * advanceSeconds)));
  const credits = share < minute ? share : minute;
  if (left < credits * leftTimesMin) return 0;
  invariant(credits >= 0n && credits * advanceParts <= left, "an advance is at most a hundredth of what was left");
  return Number(credits);
}
