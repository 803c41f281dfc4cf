import type { Timer } from "@sluice/lib";
import type { LeaseAccount } from "./lease-accounts.ts";

/** Why no lease can be had: the store has too much to do, or cannot be reached or written. */
export type LeaseFailure = "OVERLOADED" | "STORE_UNAVAILABLE";

/** A take that waits for a lease. */
export interface Waiter {
  readonly cost: number;
  readonly resolve: (taken: boolean) => void;
  readonly reject: (error: Error) => void;
}

/** What this process holds of one account's credits. Counts are whole credits; times are monotonic milliseconds. */
export interface CreditAccount {
  readonly accountId: string;
  /** What is leased now stands in this lease account, and each take is counted in it; its month is the present one. */
  lease: LeaseAccount;
  /** The month before the last turn seen here, for refunds that come over it. */
  previousMonth: string | null;
  /** As of the last take; null is unlimited. */
  allowance: bigint | null;
  /** Leased and not spent. */
  available: number;
  /** Below this the next lease is fetched ahead. */
  watermark: number;
  /** Size of the next lease, before the rest of the allowance bounds it. */
  block: number;
  leasedAtMs: number;
  /** Taken this month, less refunds. */
  taken: number;
  /** What `taken` was at the last sweep, and how many credits a second the account has spent of late. */
  takenAtSweep: number;
  pace: number;
  /** What was left of `leftOf`, this month's allowance, when the store last granted; null when it has not. */
  left: bigint | null;
  leftOf: bigint | null;
  /** Whether an advance is being recorded. */
  isAdvancing: boolean;
  /** Taken without limit and not yet reported to the store; negative when refunds exceed it. */
  unreported: number;
  isLeasing: boolean;
  /** Reports under way. */
  reports: number;
  /** True when few credits are left, so that idle ones are needed elsewhere. */
  isScarce: boolean;
  /** Until then the store is not asked under `heldOffAllowance`; 0 when it may be. */
  heldOffUntilMs: number;
  heldOffAllowance: bigint | null;
  /** What a take is refused with while the store is not asked because it failed; null when it said "exhausted". */
  failure: LeaseFailure | null;
  readonly waiters: Waiter[];
  /** Ends the waiting of all waiters; set while there are any. */
  deadline: Timer | null;
  /** The sweep during which the last take came. */
  usedAtSweep: number;
}

export function openAccount(lease: LeaseAccount, block: number, nowMs: number): CreditAccount {
  return {
    accountId: lease.accountId,
    lease,
    previousMonth: null,
    allowance: null,
    available: 0,
    watermark: 0,
    block,
    // As if the last lease had lasted neither long nor short, so that the first one has the size given.
    leasedAtMs: nowMs - 5_000,
    taken: 0,
    takenAtSweep: 0,
    pace: 0,
    left: null,
    leftOf: null,
    isAdvancing: false,
    unreported: 0,
    isLeasing: false,
    reports: 0,
    isScarce: false,
    heldOffUntilMs: 0,
    heldOffAllowance: null,
    failure: null,
    waiters: [],
    deadline: null,
    usedAtSweep: 0,
  };
}

/** Counts what is taken, before the caller learns that it was. */
export function spend(account: CreditAccount, cost: number): void {
  account.lease.entry.spend(cost);
  account.taken += cost;
}

/** An account that stops spending is as slow as it is after about a minute. */
const paceKept = 0.99;

/** Brings the account's pace up to date, `elapsedMs` after the last time. */
export function measurePace(account: CreditAccount, elapsedMs: number): void {
  account.pace = Math.max(paceOf(account, elapsedMs), account.pace * paceKept);
  account.takenAtSweep = account.taken;
}

/** Credits a second since the last sweep, of which at least one second is presumed to have passed. */
export function paceOf({ taken, takenAtSweep }: CreditAccount, elapsedMs: number): number {
  // A month that began since has begun to count anew.
  const spent = taken >= takenAtSweep ? taken - takenAtSweep : taken;
  return spent / Math.max(1, elapsedMs / 1_000);
}

/** The sum of what is waited for. */
export function waitedFor(waiters: readonly Waiter[]): number {
  let sum = 0;
  for (const waiter of waiters) sum += waiter.cost;
  return sum;
}

/** Serves waiting takes in their order as far as the credits go; `isFinal` refuses those that they do not cover. */
export function serve(account: CreditAccount, isFinal: boolean): void {
  const waiting = account.waiters.splice(0);
  for (const waiter of waiting) {
    if (account.allowance === null) {
      account.unreported += waiter.cost;
      spend(account, waiter.cost);
      waiter.resolve(true);
    } else if (account.available >= waiter.cost) {
      account.available -= waiter.cost;
      spend(account, waiter.cost);
      waiter.resolve(true);
    } else if (isFinal) {
      waiter.resolve(false);
    } else {
      account.waiters.push(waiter);
    }
  }
  if (account.waiters.length === 0) stopDeadline(account);
}

/** Nothing waits any more: the deadline of waiting is off. */
export function stopDeadline(account: CreditAccount): void {
  account.deadline?.cancel();
  account.deadline = null;
}

/** The calendar month in UTC of a moment (Unix milliseconds), written as state keeps it: "2026-11". */
export function monthOf(atMs: number): string {
  return new Date(atMs).toISOString().slice(0, 7);
}

/** When the month after that of a moment begins; both Unix milliseconds. */
export function monthEndOf(atMs: number): number {
  const date = new Date(atMs);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 1);
}

/** The month of a clock that is read on every request: a comparison of two numbers until the month is over. */
export class CurrentMonth {
  #fromMs = 0;
  #untilMs = 0;
  #month = "";

  at(nowMs: number): string {
    if (nowMs >= this.#untilMs || nowMs < this.#fromMs) {
      const date = new Date(nowMs);
      this.#fromMs = Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1);
      this.#untilMs = monthEndOf(nowMs);
      this.#month = monthOf(nowMs);
    }
    return this.#month;
  }
}
