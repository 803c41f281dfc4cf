import type { Product } from "@sluice/contract/tiers";

/** Products whose subscription allows a number of requests a month. */
export type MeteredProduct = Exclude<Product, "platform">;

/**
 * A sequence of leases of one holder for one account's month; its holder gives each a number that it never uses again.
 */
export interface LeaseBook {
  /** The process, or its part, that spends what is leased. */
  readonly holder: string;
  /** Whole, from 1 to 2^53-1. */
  readonly number: number;
}

/** A book as the store has it. */
export interface OpenLeaseBook extends LeaseBook {
  readonly accountId: string;
  readonly month: string;
  /** All that was leased on it. */
  readonly leased: bigint;
}

/** Which of all open books it is. */
export type LeaseBookPlace = Pick<OpenLeaseBook, "holder" | "number" | "accountId" | "month">;

/** An open book of any holder. */
export interface HeldLeaseBook extends OpenLeaseBook {
  /** When credits were last leased on it, Unix milliseconds; null where an earlier version did. */
  readonly leasedAt: number | null;
}

/** What was spent of an advance; its holder and number are those of no book of leases. */
export interface SpentAdvance extends LeaseBook {
  readonly accountId: string;
  readonly month: string;
  readonly spent: bigint;
}

/** Credits of one account in one calendar month (UTC), written as "2026-11". */
export interface CreditStore {
  /**
   * Takes up to `want` credits out of what the month's allowance still holds, and says how many were granted, 0 when it
   * is exhausted. Null is no allowance. However many leases run at once, and on however many replicas, the sum of the
   * grants less what was given back never exceeds the allowance. With a book the grant is entered in it too, by the
   * same commit; a book belongs to one account's month.
   */
  lease(
    accountId: string,
    month: string,
    want: bigint,
    allowance: bigint | null,
    book?: LeaseBook | null,
  ): Promise<bigint>;
  /** Returns credits that were not spent and are in no open book; the amount used never falls below zero. */
  giveBack(accountId: string, month: string, unspent: bigint): Promise<void>;
  /**
   * Closes a book: of all that was leased on it `spent` stays charged (null: all of it), be that less or more. Answers
   * what was given back, below zero where more was spent than leased; null when there is no such book, as after the
   * first time. So it may be said again as often as it takes, and by several at once.
   */
  settle(accountId: string, month: string, book: LeaseBook, spent: bigint | null): Promise<bigint | null>;
  /**
   * Charges what was spent of an advance: credits that a process gave out while this store did not answer. No allowance
   * bounds it, since it was spent. Once for each holder and number; false when that was done before, so it may be said
   * as often as it takes, and by several at once.
   */
  bookAdvance(advance: SpentAdvance): Promise<boolean>;
  /** Books of a holder that are still open, in the order of their numbers, at most `limit` (1 to 1000). */
  openBooks(holder: string, limit: number): Promise<readonly OpenLeaseBook[]>;
  /** Open books of all holders after this one, in the order of holder, number, account and month; at most 1000. */
  heldBooks(after: LeaseBookPlace | null, limit: number): Promise<readonly HeldLeaseBook[]>;
  /**
   * Closes what is still open of months before this one, as spent in full; answers how many books that were. Forgets
   * which advances were booked over a year ago.
   */
  closeBooksBefore(month: string): Promise<number>;
  /** Leased on books that are open: part of what is `used`, of which only their holders know what is spent. */
  held(accountId: string, month: string): Promise<bigint>;
  /** Leased and not given back; 0 for an account or month that is not known. */
  used(accountId: string, month: string): Promise<bigint>;
}
