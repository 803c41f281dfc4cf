import { SluiceError } from "@sluice/contract/errors";
import type { Clock } from "@sluice/lib";
import { type CreditAccount, type LeaseFailure, paceOf, serve, stopDeadline, waitedFor } from "./account-credits.ts";
import { type AdvanceRecords, advanceOf } from "./advances.ts";
import type { CreditsDependencies, CreditsStore } from "./interfaces.ts";
import type { LeaseAccount, LeaseAccounts } from "./lease-accounts.ts";
import type { StoreWork } from "./store-work.ts";

export interface LeasingOptions extends LeaseBounds {
  readonly memoMs: number;
  readonly leaseTimeoutMs: number;
  readonly waitersMax: number;
}

export interface LeasingDependencies extends CreditsDependencies {
  readonly work: StoreWork;
  readonly leases: LeaseAccounts;
  /** Closes the lease account of an account and opens another of the same month; false where there is no room. */
  readonly exchange: (account: CreditAccount) => boolean;
}

/**
 * Fetches leases: ahead of need while one is being spent, and for takes that wait when none is left. While the store is
 * away it has an advance recorded for an account of which enough was left.
 */
export class Leasing {
  readonly #options: LeasingOptions;
  readonly #clock: Clock;
  readonly #store: CreditsStore;
  readonly #log: CreditsDependencies["log"];
  readonly #work: StoreWork;
  readonly #leases: LeaseAccounts;
  readonly #advances: AdvanceRecords | null;
  readonly #exchange: LeasingDependencies["exchange"];
  readonly #advanced = new Set<CreditAccount>();
  /** Whether the log has been told that the store fails, or that no advance can be recorded. */
  #isTold = false;
  /** The account of the first lease that failed since the last that was granted. */
  #failing: CreditAccount | null = null;

  constructor(options: LeasingOptions, dependencies: LeasingDependencies) {
    this.#options = options;
    this.#clock = dependencies.clock;
    this.#store = dependencies.store;
    this.#log = dependencies.log;
    this.#work = dependencies.work;
    this.#leases = dependencies.leases;
    this.#advances = dependencies.advances ?? null;
    this.#exchange = dependencies.exchange;
  }

  get isFailing(): boolean {
    return this.#failing !== null;
  }

  get isAdvancing(): boolean {
    for (const { lease, available } of this.#advanced) if (lease.advance !== null && available > 0) return true;
    return false;
  }

  /** Whether the account's lease is what shows that the store works again. */
  isRetried(account: CreditAccount): boolean {
    return this.#failing === account;
  }

  /** Asks a store that has failed again, though nobody may take credits meanwhile. */
  retry(): void {
    if (this.#failing !== null) this.ahead(this.#failing);
  }

  /** The account is given up. */
  forget(account: CreditAccount): void {
    if (this.#failing === account) this.#failing = null;
    this.#advanced.delete(account);
  }

  /** Fetches the next lease while the present one lasts. */
  ahead(account: CreditAccount): void {
    if (!account.isLeasing && !this.#isHeldOff(account)) this.#startLease(account);
  }

  /** The way of a take that the lease does not cover. */
  wait(account: CreditAccount, cost: number): false | Promise<boolean> {
    const isHeldOff = this.#isHeldOff(account);
    if (isHeldOff && account.failure === null) return false;
    if (isHeldOff && !account.isAdvancing && !this.#advance(account)) {
      return Promise.reject(new SluiceError(account.failure ?? "STORE_UNAVAILABLE"));
    }
    if (account.waiters.length >= this.#options.waitersMax) return Promise.reject(new SluiceError("OVERLOADED"));
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    account.waiters.push({ cost, resolve, reject });
    account.deadline ??= this.#clock.after(this.#options.leaseTimeoutMs, () =>
      this.#giveUp(account, "STORE_UNAVAILABLE"),
    );
    if (!account.isLeasing && !isHeldOff) this.#startLease(account);
    return promise;
  }

  /** Reports unlimited usage to the store; what could not be reported goes with the next report. */
  report(account: CreditAccount): void {
    const { lease, unreported } = account;
    if (unreported <= 0) return;
    account.unreported = 0;
    account.reports += 1;
    this.#work.follow(
      this.#leases.lease(lease, BigInt(unreported), null).then(
        () => {
          account.reports -= 1;
          this.#isTold = false;
        },
        (error: unknown) => {
          account.reports -= 1;
          this.#tell(error, "usage could not be reported", account);
          // Settling a lease account that is closed by now reports all that was spent on it.
          if (account.lease === lease) account.unreported += unreported;
        },
      ),
    );
  }

  /** True while asking the store again is pointless: it said "exhausted" under this allowance, or failed, just now. */
  #isHeldOff(account: CreditAccount): boolean {
    return this.#clock.monotonic() < account.heldOffUntilMs && account.heldOffAllowance === account.allowance;
  }

  #isHeldOffByFailure(account: CreditAccount): boolean {
    return account.failure !== null && this.#failing !== null;
  }

  /** The store is silent. The lease that is under way stays so: when it comes after all, it is spent and not lost. */
  #giveUp(account: CreditAccount, failure: LeaseFailure): void {
    stopDeadline(account);
    this.#failing ??= account;
    this.#holdOff(account, failure);
    // While something leased is left it is spent first. A record that is not on disk in time is waited for no longer;
    // who comes later may have what it gives.
    if (account.waiters.length > 0 && !account.isAdvancing && this.#advance(account)) return;
    this.#refuse(account);
  }

  #refuse(account: CreditAccount): void {
    stopDeadline(account);
    const code = account.failure ?? "STORE_UNAVAILABLE";
    for (const waiter of account.waiters.splice(0)) waiter.reject(new SluiceError(code));
  }

  #holdOff(account: CreditAccount, failure: LeaseFailure | null): void {
    account.heldOffUntilMs = this.#clock.monotonic() + this.#options.memoMs;
    account.heldOffAllowance = account.allowance;
    // A store that is away has its queue full after a while, which is no other failure.
    const isStillAway = failure !== null && account.failure === "STORE_UNAVAILABLE";
    account.failure = isStillAway ? "STORE_UNAVAILABLE" : failure;
  }

  /** Begins an advance for the account; false where it may have none. Takes wait until it is on disk. */
  #advance(account: CreditAccount): boolean {
    const { allowance, left, leftOf, lease } = account;
    if (this.#advances === null || allowance === null || left === null || leftOf !== allowance) return false;
    if (lease.advance !== null || account.failure !== "STORE_UNAVAILABLE") return false;
    const pace = Math.max(account.pace, paceOf(account, 1_000));
    const credits = advanceOf({ left, pace, processes: this.#advances.processes });
    const advanced = credits < 1 ? null : this.#leases.openAdvance(lease, credits);
    if (advanced === null) return false;
    account.isAdvancing = true;
    this.#work.follow(this.#record(this.#advances, account, advanced));
    return true;
  }

  /** The advance may be spent once its record is on disk: then it takes the place of what was leased. */
  async #record(
    records: AdvanceRecords,
    account: CreditAccount,
    advanced: NonNullable<ReturnType<LeaseAccounts["openAdvance"]>>,
  ): Promise<void> {
    const before: LeaseAccount = account.lease;
    try {
      await records.record(advanced.advance);
    } catch (error) {
      this.#leases.abandon(advanced);
      account.isAdvancing = false;
      this.#tell(error, "no credits can be advanced, since their record cannot be written", account);
      this.#refuse(account);
      return;
    }
    account.isAdvancing = false;
    // A month that has turned meanwhile, or a store that is back.
    if (account.lease !== before || !this.#isHeldOffByFailure(account)) {
      this.#leases.close(advanced);
      if (account.waiters.length > 0 && !account.isLeasing) this.#startLease(account);
      return;
    }
    this.#leases.close(before);
    account.lease = advanced;
    account.available = advanced.advance.credits;
    account.unreported = 0;
    // Every take looks whether the store is back.
    account.watermark = advanced.advance.credits;
    this.#advanced.add(account);
    serve(account, false);
    this.#refuse(account);
  }

  #startLease(account: CreditAccount): void {
    account.isLeasing = true;
    this.#work.follow(this.#lease(account));
  }

  /**
   * Leases until no take waits. Each round asks for all that was then waited for, so each serves or refuses them all.
   */
  async #lease(account: CreditAccount): Promise<void> {
    try {
      do await this.#leaseRound(account);
      while (account.waiters.length > 0);
    } catch (error) {
      // Whether the store granted before it failed is not known; what it did comes back when the lease account is
      // settled.
      this.#tell(error, "credits could not be leased", account);
      this.#failing ??= account;
      const isBusy = error instanceof SluiceError && error.code === "OVERLOADED";
      const failure = isBusy ? "OVERLOADED" : "STORE_UNAVAILABLE";
      if (account.isAdvancing) this.#holdOff(account, failure);
      else this.#giveUp(account, failure);
    } finally {
      // In the same turn in which no take was seen waiting: a take that comes next starts a lease of its own.
      account.isLeasing = false;
    }
  }

  async #leaseRound(account: CreditAccount): Promise<void> {
    const { allowance } = account;
    const asked = account.lease;
    if (allowance === null) {
      serve(account, true);
      return;
    }
    const used = await this.#store.used(account.accountId, asked.month);
    if (account.lease !== asked) return;
    // The store answers again: what is left of an advance is not spent any more, and what was spent is charged.
    if (asked.advance !== null) {
      if (!this.#exchange(account)) throw new SluiceError("OVERLOADED");
      this.#advanced.delete(account);
    }
    const { lease } = account;
    const nowMs = this.#clock.monotonic();
    account.block = nextBlock(account.block, nowMs - account.leasedAtMs, this.#options);
    account.leasedAtMs = nowMs;
    const remaining = allowance > used ? allowance - used : 0n;
    const needed = waitedFor(account.waiters) - account.available;
    const { want, isScarce } = leaseSize(account.block, needed, remaining);
    const granted = Number(await this.#leases.lease(lease, BigInt(want), allowance));
    this.#failing = null;
    this.#isTold = false;
    // A month that is over meanwhile: its lease account is closed, and settled now that this lease has come.
    if (account.lease !== lease) return;
    account.left = remaining - BigInt(granted);
    account.leftOf = allowance;
    account.isScarce = isScarce;
    account.available += granted;
    account.watermark = Math.floor(granted / 2);
    account.failure = null;
    if (granted < want) this.#holdOff(account, null);
    else account.heldOffUntilMs = 0;
    serve(account, granted < want);
  }

  /** A store that fails does so for every account and every second: the log is told once. */
  #tell(error: unknown, message: string, { accountId }: CreditAccount): void {
    if (!this.#isTold) this.#log.warn({ error, accountId }, message);
    this.#isTold = true;
  }
}

/** Smallest and largest number of credits that are leased ahead of need. */
export interface LeaseBounds {
  readonly blockMin: number;
  /** Also the most that a crash of this process can over-charge an account, beside what is being waited for. */
  readonly blockMax: number;
}

/** A lease that is spent faster than this is followed by a larger one. */
const spentQuicklyMs = 2_000;
/** A lease that lasted longer than this is followed by a smaller one. */
const spentSlowlyMs = 15_000;
/**
 * At most one part in this many of what is left is leased ahead, so that the last credits are left for all processes.
 */
const remainingParts = 8n;

/** The next block by how long the last one lasted: doubled while it is gone at once, halved while it lies about. */
export function nextBlock(block: number, lastedMs: number, bounds: LeaseBounds): number {
  if (lastedMs < spentQuicklyMs) return Math.min(block * 2, bounds.blockMax);
  if (lastedMs > spentSlowlyMs) return Math.max(Math.floor(block / 2), bounds.blockMin);
  return block;
}

/**
 * How many credits to ask the store for: the block, or less where little is left of the allowance, and never less than
 * what is being waited for. Near the end leases shrink to single credits, so that none is stranded in one process while
 * another refuses.
 */
export function leaseSize(block: number, needed: number, remaining: bigint): { want: number; isScarce: boolean } {
  const share = Number(remaining / remainingParts);
  const ahead = Math.min(block, Math.max(1, share));
  return { want: Math.max(needed, ahead), isScarce: share < block };
}
