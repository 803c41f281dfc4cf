import type { Clock, Log } from "@sluice/lib";
import type { LeaseBook, OpenLeaseBook, SpentAdvance } from "../state/index.ts";
import type { AdvanceRecords } from "./advances.ts";
import type { Tally } from "./tally.ts";

export interface CreditsOptions {
  readonly blockMin?: number;
  readonly blockMax?: number;
  /** An account that the store called exhausted, or that it failed for, is not asked for again before this. */
  readonly memoMs?: number;
  /** How long a take waits for the store. */
  readonly leaseTimeoutMs?: number;
  readonly accountsMax?: number;
  readonly waitersMax?: number;
  /** How often unlimited usage is reported and idle leases are given back; null leaves it to `sweep`. */
  readonly sweepIntervalMs?: number | null;
}

/** The part of state's credit store that is used. */
export interface CreditsStore {
  lease(
    accountId: string,
    month: string,
    want: bigint,
    allowance: bigint | null,
    lease: LeaseBook | null,
  ): Promise<bigint>;
  giveBack(accountId: string, month: string, unspent: bigint): Promise<void>;
  settle(accountId: string, month: string, lease: LeaseBook, spent: bigint | null): Promise<bigint | null>;
  bookAdvance(advance: SpentAdvance): Promise<boolean>;
  openBooks(holder: string, limit: number): Promise<readonly OpenLeaseBook[]>;
  used(accountId: string, month: string): Promise<bigint>;
}

export interface CreditsDependencies {
  readonly clock: Clock;
  readonly store: CreditsStore;
  readonly tally: Tally;
  /** Without a place for records no account is served while the store is away. */
  readonly advances?: AdvanceRecords | null;
  readonly log: Pick<Log, "warn">;
  /** What this process holds, with each sweep. */
  readonly held?: (leased: number) => void;
}

/** What is left of an account's month. */
export interface Balance {
  readonly remaining: number;
  /** Unix milliseconds. */
  readonly resetsAtMs: number;
}

/**
 * Credits of accounts, spent from leases. Whatever this process does or however it ends, an account never gets more
 * than its allowance, but for an advance of bounded size while the store is away, which is recorded before it is spent
 * and charged to its month. What a killed process held stays charged, at most one lease and one that was being fetched,
 * until it is settled by the tally that the process has left.
 */
export interface Credits extends AsyncDisposable {
  /** Whether disposing has settled every lease account, so that the tally is no longer needed. */
  readonly isSettled: boolean;
  /**
   * Whether the store has failed to lease credits and has granted none since: takes that need a lease are refused, or
   * served from an advance. It is tried again each second.
   */
  readonly isFailing: boolean;
  /** Whether some account has an advance that is not used up. */
  readonly isAdvancing: boolean;
  /**
   * Takes `cost` credits of the calendar month (UTC), all or none: true, or false when the allowance is exhausted.
   * Answers at once while the lease lasts; a promise only while the store is asked, rejecting with STORE_UNAVAILABLE
   * when that fails or takes too long and there is no advance, and with OVERLOADED when too many wait. Allowance null
   * is unlimited: counted, never refused, never waiting.
   */
  take(accountId: string, allowance: bigint | null, cost: number): boolean | Promise<boolean>;
  /**
   * Puts back what a take took. `takenAtMs` (Unix milliseconds) says when that was, so that a refund over the turn of
   * the month goes to the month that was charged.
   */
  refund(accountId: string, cost: number, takenAtMs?: number): void;
  /**
   * What this process can give the account without asking the store, and when the next month begins. After a take was
   * refused that is what is left of the allowance; credits that other processes hold count as spent.
   */
  balance(accountId: string): Balance;
  /**
   * What the account has spent in the present month on all processes: what the store counts, less what this process
   * holds and has not spent, plus what it has not reported yet. Other processes' leases count as spent.
   */
  spent(accountId: string): Promise<{ month: string; used: bigint }>;
  /** Reports unlimited usage, gives idle leases back, forgets idle accounts. Never rejects. */
  sweep(): Promise<void>;
}

/** A month's credits, or a product's requests a month, as those who spend them see them. */
export type Allowance = Pick<Credits, "take" | "refund" | "spent">;
