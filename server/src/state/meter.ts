import type { Product } from "@sluice/contract";

/** Products whose subscription allows a number of requests a month. */
export type MeteredProduct = Exclude<Product, "platform">;

/** Credits of one account in one calendar month (UTC), written as "2026-11". */
export interface CreditStore {
  /**
   * Takes up to `want` credits out of what the month's allowance still holds, and says how many were granted, 0 when it
   * is exhausted. Null is no allowance. However many leases run at once, and on however many replicas, the sum of the
   * grants less what was given back never exceeds the allowance.
   */
  lease(accountId: string, month: string, want: bigint, allowance: bigint | null): Promise<bigint>;
  /** Returns leased credits that were not spent; the amount used never falls below zero. */
  giveBack(accountId: string, month: string, unspent: bigint): Promise<void>;
  /** Leased and not given back; 0 for an account or month that is not known. */
  used(accountId: string, month: string): Promise<bigint>;
}
