import type { LeaseBook, OpenLeaseBook, SpentAdvance } from "../../state/index.ts";
import type { CreditsStore } from "../interfaces.ts";

/** What state keeps of credits, by the same rules, in memory: for benchmarks and tests, and what is to be forgotten. */
export class MeterInMemory implements CreditsStore {
  readonly #used = new Map<string, bigint>();
  readonly #leases = new Map<string, OpenLeaseBook>();
  readonly #booked = new Set<string>();

  async lease(
    accountId: string,
    month: string,
    want: bigint,
    allowance: bigint | null,
    lease: LeaseBook | null,
  ): Promise<bigint> {
    const before = this.usedNow(accountId, month);
    const left = allowance === null ? want : allowance - before;
    const granted = left <= 0n ? 0n : left < want ? left : want;
    this.#used.set(`${accountId} ${month}`, before + granted);
    if (lease === null || granted === 0n) return granted;
    const leased = (this.#leases.get(bookKey(lease))?.leased ?? 0n) + granted;
    this.#leases.set(bookKey(lease), { ...lease, accountId, month, leased });
    return granted;
  }

  async giveBack(accountId: string, month: string, unspent: bigint): Promise<void> {
    this.#move(accountId, month, -unspent);
  }

  async settle(accountId: string, month: string, lease: LeaseBook, spent: bigint | null): Promise<bigint | null> {
    const open = this.#leases.get(bookKey(lease));
    if (open === undefined) return null;
    this.#leases.delete(bookKey(lease));
    const unspent = open.leased - (spent ?? open.leased);
    this.#move(accountId, month, -unspent);
    return unspent;
  }

  async bookAdvance({ accountId, month, spent, ...advance }: SpentAdvance): Promise<boolean> {
    if (this.#booked.has(bookKey(advance))) return false;
    this.#booked.add(bookKey(advance));
    this.#move(accountId, month, spent);
    return true;
  }

  async openBooks(holder: string, limit: number): Promise<readonly OpenLeaseBook[]> {
    return [...this.#leases.values()].filter((lease) => lease.holder === holder).slice(0, limit);
  }

  async used(accountId: string, month: string): Promise<bigint> {
    return this.usedNow(accountId, month);
  }

  usedNow(accountId: string, month: string): bigint {
    return this.#used.get(`${accountId} ${month}`) ?? 0n;
  }

  /** All months of all accounts, each under `account month`. */
  get months(): ReadonlyMap<string, bigint> {
    return this.#used;
  }

  #move(accountId: string, month: string, by: bigint): void {
    const after = this.usedNow(accountId, month) + by;
    this.#used.set(`${accountId} ${month}`, after > 0n ? after : 0n);
  }
}

const bookKey = ({ holder, number }: LeaseBook): string => `${holder} ${number}`;
