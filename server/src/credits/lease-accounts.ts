import { invariant } from "@sluice/lib";
import type { Advance, AdvanceRecords } from "./advances.ts";
import type { CreditsDependencies, CreditsStore } from "./interfaces.ts";
import type { StoreWork } from "./store-work.ts";
import type { Tally, TallyEntry } from "./tally.ts";

/**
 * Lease accounts that the store has and this process does not know, settled at the end; the next start finds the rest.
 */
const unknownMax = 1_000;

/** A sequence of leases of one account's month, and what was spent of them. */
export interface LeaseAccount {
  readonly accountId: string;
  readonly month: string;
  readonly entry: TallyEntry;
  /** Leases under way on it. */
  flights: number;
  /** Whether the store was asked for anything on it. */
  isAsked: boolean;
  /** Whether the store is known to have it. */
  isEntered: boolean;
  /**
   * Whether a lease on it failed, so that the store may have granted more than is known here; "past" when the store has
   * answered since.
   */
  doubt: "none" | "present" | "past";
  /** Set where credits are spent on it that the store has not leased; nothing is ever leased on it then. */
  readonly advance: Advance | null;
}

/**
 * The lease accounts of this process. A closed one is settled: the store then charges what was spent on it and nothing
 * else, be it that leases were left over, or granted without our learning of it. Settling can be said any number of
 * times, so it is until the store has answered.
 */
export class LeaseAccounts {
  readonly #tally: Tally;
  readonly #store: CreditsStore;
  readonly #log: CreditsDependencies["log"];
  readonly #work: StoreWork;
  readonly #closed = new Set<LeaseAccount>();
  readonly #settling = new Set<LeaseAccount>();
  readonly #advances: AdvanceRecords | null;
  /** Accounts with an advance that is not charged. */
  readonly #advanced = new Set<string>();
  #hasWarned = false;

  constructor(dependencies: Pick<CreditsDependencies, "store" | "log" | "tally" | "advances"> & { work: StoreWork }) {
    this.#advances = dependencies.advances ?? null;
    this.#tally = dependencies.tally;
    this.#store = dependencies.store;
    this.#log = dependencies.log;
    this.#work = dependencies.work;
  }

  /** Null when the tally has no room. */
  open(accountId: string, month: string): LeaseAccount | null {
    const entry = this.#tally.open();
    if (entry === null) return null;
    return { accountId, month, entry, flights: 0, isAsked: false, isEntered: false, doubt: "none", advance: null };
  }

  /**
   * One on which an advance is spent, once that is recorded; null when the tally has no room, or while an earlier
   * advance of the account is not charged.
   */
  openAdvance({ accountId, month }: LeaseAccount, credits: number): (LeaseAccount & { advance: Advance }) | null {
    if (this.#advanced.has(accountId)) return null;
    const lease = this.open(accountId, month);
    if (lease === null) return null;
    this.#advanced.add(accountId);
    return { ...lease, advance: { accountId, month, number: lease.entry.number, credits } };
  }

  /** The advance was not recorded, so nothing was or will be spent of it. */
  abandon(lease: LeaseAccount): void {
    this.#advanced.delete(lease.accountId);
    this.#tally.free(lease.entry);
  }

  /** Rejects as the store does; what it granted all the same is found when the lease account is settled. */
  async lease(lease: LeaseAccount, want: bigint, allowance: bigint | null): Promise<bigint> {
    invariant(lease.advance === null, "nothing is leased on what counts an advance");
    lease.flights += 1;
    lease.isAsked = true;
    try {
      const granted = await this.#store.lease(lease.accountId, lease.month, want, allowance, this.#nameOf(lease));
      invariant(granted >= 0n && granted <= want, "the store grants no more credits than were asked for");
      if (granted > 0n) lease.isEntered = true;
      if (lease.doubt === "present") lease.doubt = "past";
      return granted;
    } catch (error) {
      lease.doubt = "present";
      throw error;
    } finally {
      lease.flights -= 1;
      if (this.#closed.has(lease)) this.#settle(lease);
    }
  }

  /** Nothing is spent on the lease account any more. */
  close(lease: LeaseAccount): void {
    if (!lease.isAsked && lease.entry.spent === 0) {
      this.#free(lease);
      return;
    }
    this.#closed.add(lease);
    this.#settle(lease);
  }

  /** Tries again what could not be settled. */
  retry(): void {
    for (const lease of this.#closed) this.#settle(lease);
  }

  /**
   * Settles what the store still has open of this process although all lease accounts are closed: leases that it
   * granted after it had failed, on lease accounts that were settled before. False when there may be more. Rejects as
   * the store does.
   */
  async settleUnknown(): Promise<boolean> {
    const { holder } = this.#tally;
    const open = await this.#store.openBooks(holder, unknownMax);
    await Promise.all(
      open.map(({ accountId, month, number }) => this.#store.settle(accountId, month, { holder, number }, 0n)),
    );
    return open.length < unknownMax;
  }

  /** Closed lease accounts that are not settled yet. */
  get unsettled(): number {
    return this.#closed.size;
  }

  #nameOf(lease: LeaseAccount): { holder: string; number: number } {
    return { holder: this.#tally.holder, number: lease.entry.number };
  }

  #settle(lease: LeaseAccount): void {
    if (lease.flights > 0 || this.#settling.has(lease)) return;
    this.#settling.add(lease);
    this.#work.follow(this.#settleNow(lease));
  }

  async #settleNow(lease: LeaseAccount): Promise<void> {
    const { accountId, month } = lease;
    try {
      if (lease.advance === null) await this.#settleLeased(lease);
      else {
        const spent = BigInt(lease.entry.spent);
        await this.#store.bookAdvance({ ...this.#nameOf(lease), accountId, month, spent });
      }
      this.#closed.delete(lease);
      this.#free(lease);
      this.#hasWarned = false;
    } catch (error) {
      if (!this.#hasWarned) this.#log.warn({ error, accountId, month }, "leased credits could not be settled");
      this.#hasWarned = true;
    } finally {
      this.#settling.delete(lease);
    }
  }

  async #settleLeased(lease: LeaseAccount): Promise<void> {
    const { accountId, month, entry } = lease;
    const spent = BigInt(entry.spent);
    // Unlimited usage that was never reported has no lease account there yet; settling corrects one reported twice.
    if (!lease.isEntered && spent > 0n) {
      await this.#store.lease(accountId, month, spent, null, this.#nameOf(lease));
      lease.isEntered = true;
    }
    await this.#store.settle(accountId, month, this.#nameOf(lease), spent);
  }

  #free({ entry, accountId, advance }: LeaseAccount): void {
    const { spent } = entry;
    this.#tally.free(entry);
    if (advance === null) return;
    this.#advanced.delete(accountId);
    this.#advances?.booked(advance, spent);
  }
}
