import { SluiceError } from "@sluice/contract";
import type { Clock } from "../lib/index.ts";
import { type AccountCredits, openAccount, type Waiter } from "./account-credits.ts";
import { type LeaseBounds, leaseSize, nextBlock } from "./lease-size.ts";
import { CurrentMonth, monthOf } from "./month.ts";

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
  lease(accountId: string, month: string, want: bigint, allowance: bigint | null): Promise<bigint>;
  giveBack(accountId: string, month: string, unspent: bigint): Promise<void>;
  used(accountId: string, month: string): Promise<bigint>;
}

export interface CreditsDependencies {
  readonly clock: Clock;
  readonly store: CreditsStore;
  readonly log: { warn(fields: object, message: string): void };
}

/**
 * Credits of accounts, spent from leases. Whatever this process does or however it ends, an account never gets more than
 * its allowance; what a killed process held is charged without having been used, at most one lease and one that was
 * being fetched.
 */
export interface Credits extends AsyncDisposable {
  /**
   * Takes `cost` credits of the calendar month (UTC), all or none: true, or false when the allowance is exhausted. Answers
   * at once while the lease lasts; a promise only while the store is asked, rejecting with OVERLOADED when that fails or
   * takes too long. Allowance null is unlimited: counted, never refused, never waiting.
   */
  take(accountId: string, allowance: bigint | null, cost: number): boolean | Promise<boolean>;
  /**
   * Puts back what a take took. `takenAtMs` (Unix milliseconds) says when that was, so that a refund over the turn of the
   * month goes to the month that was charged.
   */
  refund(accountId: string, cost: number, takenAtMs?: number): void;
  /**
   * What the account has spent in the present month on all processes: what the store counts, less what this process
   * holds and has not spent, plus what it has not told yet. Other processes' leases count as spent.
   */
  spent(accountId: string): Promise<{ month: string; used: bigint }>;
  /** Reports unlimited usage, gives idle leases back, forgets idle accounts. Never rejects. */
  sweep(): Promise<void>;
}

const defaults = {
  blockMin: 32,
  blockMax: 10_000,
  memoMs: 1_000,
  leaseTimeoutMs: 5_000,
  accountsMax: 100_000,
  waitersMax: 10_000,
  sweepIntervalMs: 1_000,
} as const;

/** Sweeps without a take after which a lease goes back: sooner where few credits are left and others may want them. */
const idleSweeps = 10;
const idleSweepsScarce = 2;
/** Sweeps without a take after which an account that holds nothing is forgotten. */
const forgottenSweeps = 120;
/** Tries to read a count while no lease is under way; a busy account's count is then off by one lease. */
const readingsMax = 5;
/** Accounts looked at to find one that can make room. */
const evictionSteps = 64;

class LeasedCredits implements Credits {
  readonly #options: Required<Omit<CreditsOptions, "sweepIntervalMs">>;
  readonly #bounds: LeaseBounds;
  readonly #clock: Clock;
  readonly #store: CreditsStore;
  readonly #log: CreditsDependencies["log"];
  readonly #accounts = new Map<string, AccountCredits>();
  readonly #month = new CurrentMonth();
  /** What is under way at the store; disposal waits for it. */
  readonly #flights = new Set<Promise<void>>();
  readonly #timer: ReturnType<typeof setInterval> | null;
  #sweeps = 0;
  #isClosed = false;

  constructor(options: CreditsOptions, dependencies: CreditsDependencies) {
    this.#options = { ...defaults, ...options };
    this.#bounds = { blockMin: this.#options.blockMin, blockMax: this.#options.blockMax };
    this.#clock = dependencies.clock;
    this.#store = dependencies.store;
    this.#log = dependencies.log;
    const interval = options.sweepIntervalMs === undefined ? defaults.sweepIntervalMs : options.sweepIntervalMs;
    this.#timer = interval === null ? null : setInterval(() => this.#tick(), interval);
    this.#timer?.unref();
  }

  take(accountId: string, allowance: bigint | null, cost: number): boolean | Promise<boolean> {
    if (!Number.isSafeInteger(cost) || cost < 0) throw new RangeError("A cost is a whole number of credits");
    const month = this.#month.at(this.#clock.now());
    const account = this.#accounts.get(accountId) ?? this.#open(accountId, month);
    if (account === null || this.#isClosed) return allowance === null || Promise.reject(new SluiceError("OVERLOADED"));
    if (account.month !== month) this.#turn(account, month);
    account.usedAtSweep = this.#sweeps;
    account.allowance = allowance;
    if (allowance === null) {
      account.unreported += cost;
      account.taken += cost;
      return true;
    }
    if (account.available < cost) return this.#wait(account, cost);
    account.available -= cost;
    account.taken += cost;
    if (account.available < account.watermark && !account.isLeasing && !this.#isHeldOff(account))
      this.#startLease(account);
    return true;
  }

  refund(accountId: string, cost: number, takenAtMs?: number): void {
    if (cost <= 0) return;
    const account = this.#accounts.get(accountId);
    if (account === undefined || this.#isClosed) {
      this.#return(accountId, monthOf(takenAtMs ?? this.#clock.now()), cost);
      return;
    }
    // Without the time of the take, what this month has not taken was taken in the month before.
    const ofThisMonth = account.taken >= cost ? account.month : (account.previousMonth ?? account.month);
    const month = takenAtMs === undefined ? ofThisMonth : monthOf(takenAtMs);
    if (month !== account.month || account.taken < cost) {
      this.#return(accountId, month, cost);
      return;
    }
    account.taken -= cost;
    if (account.allowance === null) account.unreported -= cost;
    else account.available += cost;
  }

  async spent(accountId: string): Promise<{ month: string; used: bigint }> {
    const month = this.#month.at(this.#clock.now());
    let used = 0n;
    for (let reading = 0; reading < readingsMax; reading++) {
      await this.#settled();
      used = await this.#store.used(accountId, month);
      // A lease that began meanwhile is in the one count and not yet in the other.
      if (this.#flights.size === 0) break;
    }
    const account = this.#accounts.get(accountId);
    if (account === undefined || account.month !== month) return { month, used };
    const spent = used + BigInt(account.unreported) - BigInt(account.available);
    return { month, used: spent > 0n ? spent : 0n };
  }

  async sweep(): Promise<void> {
    this.#tick();
    await this.#settled();
  }

  #tick(): void {
    this.#sweeps += 1;
    for (const account of this.#accounts.values()) {
      const idle = this.#sweeps - account.usedAtSweep;
      // One report at a time, so that a store that hangs gathers no queue; the count waits in memory.
      if (account.reports === 0) this.#report(account);
      const isIdle = idle > (account.isScarce ? idleSweepsScarce : idleSweeps) || account.allowance === null;
      if (isIdle && !account.isLeasing) this.#giveBackLease(account);
      if (idle > forgottenSweeps && isEmpty(account)) this.#accounts.delete(account.accountId);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#settled();
    for (const account of this.#accounts.values()) {
      this.#report(account);
      this.#giveBackLease(account);
    }
    await this.#settled();
  }

  /** A new month: what is left of the old one's lease goes back to it, and nothing of it is known of the new one. */
  #turn(account: AccountCredits, month: string): void {
    this.#report(account);
    this.#giveBackLease(account);
    account.previousMonth = account.month;
    account.month = month;
    account.taken = 0;
    account.heldOffUntilMs = 0;
  }

  /** True while asking the store again is pointless: it said "exhausted" under this allowance, or failed, just now. */
  #isHeldOff(account: AccountCredits): boolean {
    if (account.heldOffUntilMs === 0) return false;
    return this.#clock.monotonic() < account.heldOffUntilMs && account.heldOffAllowance === account.allowance;
  }

  /** The way of a take that the lease does not cover. */
  #wait(account: AccountCredits, cost: number): false | Promise<boolean> {
    if (this.#isHeldOff(account)) return account.hasFailed ? Promise.reject(new SluiceError("OVERLOADED")) : false;
    if (account.waiters.length >= this.#options.waitersMax) return Promise.reject(new SluiceError("OVERLOADED"));
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    account.waiters.push({ cost, resolve, reject });
    account.deadline ??= setTimeout(() => this.#giveUp(account), this.#options.leaseTimeoutMs).unref();
    if (!account.isLeasing) this.#startLease(account);
    return promise;
  }

  /** The store is silent. The lease that is under way stays so: when it comes after all, it is spent and not lost. */
  #giveUp(account: AccountCredits): void {
    stopDeadline(account);
    this.#holdOff(account, true);
    for (const waiter of account.waiters.splice(0)) waiter.reject(new SluiceError("OVERLOADED"));
  }

  #holdOff(account: AccountCredits, hasFailed: boolean): void {
    account.heldOffUntilMs = this.#clock.monotonic() + this.#options.memoMs;
    account.heldOffAllowance = account.allowance;
    account.hasFailed = hasFailed;
  }

  #startLease(account: AccountCredits): void {
    account.isLeasing = true;
    this.#follow(this.#lease(account));
  }

  /** Leases until nobody waits. Each round asks for all that was then waited for, so each serves or refuses them all. */
  async #lease(account: AccountCredits): Promise<void> {
    try {
      do await this.#leaseRound(account);
      while (account.waiters.length > 0);
    } catch (error) {
      // Whether the store granted before it failed is not known; what it did is lost to the account, never doubled.
      this.#log.warn({ error, accountId: account.accountId }, "credits could not be leased");
      this.#giveUp(account);
    } finally {
      // In the same turn in which it is seen that nobody waits: a take that comes next starts a lease of its own.
      account.isLeasing = false;
    }
  }

  async #leaseRound(account: AccountCredits): Promise<void> {
    const { month, allowance } = account;
    if (allowance === null) {
      serve(account, true);
      return;
    }
    const used = await this.#store.used(account.accountId, month);
    if (account.month !== month) return;
    const nowMs = this.#clock.monotonic();
    account.block = nextBlock(account.block, nowMs - account.leasedAtMs, this.#bounds);
    account.leasedAtMs = nowMs;
    const remaining = allowance > used ? allowance - used : 0n;
    const needed = waitedFor(account.waiters) - account.available;
    const { want, isScarce } = leaseSize(account.block, needed, remaining);
    const granted = Number(await this.#store.lease(account.accountId, month, BigInt(want), allowance));
    if (account.month !== month) {
      this.#return(account.accountId, month, granted);
      return;
    }
    account.isScarce = isScarce;
    account.available += granted;
    account.watermark = Math.floor(granted / 2);
    if (granted < want) this.#holdOff(account, false);
    else account.heldOffUntilMs = 0;
    serve(account, granted < want);
  }

  /** Tells the store of unlimited usage; what could not be told is told with the next report. */
  #report(account: AccountCredits): void {
    const { accountId, month, unreported } = account;
    if (unreported === 0) return;
    account.unreported = 0;
    if (unreported < 0) {
      this.#return(accountId, month, -unreported);
      return;
    }
    account.reports += 1;
    this.#follow(
      this.#store.lease(accountId, month, BigInt(unreported), null).then(
        () => undefined,
        (error: unknown) => {
          this.#log.warn({ error, accountId }, "usage could not be reported");
          if (account.month === month) account.unreported += unreported;
        },
      ),
      () => {
        account.reports -= 1;
      },
    );
  }

  #giveBackLease(account: AccountCredits): void {
    const unspent = account.available;
    account.available = 0;
    account.watermark = 0;
    if (unspent > 0) this.#return(account.accountId, account.month, unspent);
  }

  /** Gives credits back, once: a give-back that failed may have been done, and done twice it would be a gift. */
  #return(accountId: string, month: string, credits: number): void {
    if (credits <= 0) return;
    this.#follow(
      this.#store.giveBack(accountId, month, BigInt(credits)).catch((error: unknown) => {
        this.#log.warn({ error, accountId, month, credits }, "credits could not be given back");
      }),
    );
  }

  #open(accountId: string, month: string): AccountCredits | null {
    if (this.#accounts.size >= this.#options.accountsMax && !this.#evict()) return null;
    const account = openAccount(accountId, month, this.#bounds.blockMin, this.#clock.monotonic());
    this.#accounts.set(accountId, account);
    return account;
  }

  /** Makes room: the oldest account that nobody waits for gives its lease back and is forgotten. */
  #evict(): boolean {
    let steps = 0;
    for (const account of this.#accounts.values()) {
      steps += 1;
      if (steps > evictionSteps) return false;
      if (account.isLeasing || account.reports > 0 || account.waiters.length > 0) continue;
      this.#report(account);
      this.#giveBackLease(account);
      this.#accounts.delete(account.accountId);
      return true;
    }
    return false;
  }

  #follow(work: Promise<void>, then: () => void = () => undefined): void {
    const flight = work.finally(() => {
      then();
      this.#flights.delete(flight);
    });
    this.#flights.add(flight);
  }

  async #settled(): Promise<void> {
    while (this.#flights.size > 0) await Promise.allSettled(this.#flights);
  }
}

const isEmpty = (account: AccountCredits): boolean =>
  account.available === 0 && account.unreported === 0 && !account.isLeasing && account.reports === 0;

function waitedFor(waiters: readonly Waiter[]): number {
  let sum = 0;
  for (const waiter of waiters) sum += waiter.cost;
  return sum;
}

/** Serves waiting takes in their order as far as the credits go; `isFinal` refuses those that they do not cover. */
function serve(account: AccountCredits, isFinal: boolean): void {
  const waiting = account.waiters.splice(0);
  for (const waiter of waiting) {
    if (account.allowance === null) {
      account.unreported += waiter.cost;
      account.taken += waiter.cost;
      waiter.resolve(true);
    } else if (account.available >= waiter.cost) {
      account.available -= waiter.cost;
      account.taken += waiter.cost;
      waiter.resolve(true);
    } else if (isFinal) {
      waiter.resolve(false);
    } else {
      account.waiters.push(waiter);
    }
  }
  if (account.waiters.length === 0) stopDeadline(account);
}

function stopDeadline(account: AccountCredits): void {
  if (account.deadline !== null) clearTimeout(account.deadline);
  account.deadline = null;
}

/** Credits over a store: see `Credits`. Disposing gives back what was leased and not spent. */
export function createCredits(options: CreditsOptions, dependencies: CreditsDependencies): Credits {
  return new LeasedCredits(options, dependencies);
}
