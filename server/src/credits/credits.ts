import { SluiceError } from "@sluice/contract";
import type { Clock } from "../lib/index.ts";
import { type AccountCredits, openAccount } from "./account-credits.ts";
import type { Credits, CreditsDependencies, CreditsOptions } from "./interfaces.ts";
import { Leasing } from "./leasing.ts";
import { CurrentMonth, monthOf } from "./month.ts";
import { StoreWork } from "./store-work.ts";

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
/** Accounts looked at to find one that can make room. */
const evictionSteps = 64;

class LeasedCredits implements Credits {
  readonly #options: Required<Omit<CreditsOptions, "sweepIntervalMs">>;
  readonly #clock: Clock;
  readonly #leasing: Leasing;
  readonly #work: StoreWork;
  readonly #accounts = new Map<string, AccountCredits>();
  readonly #month = new CurrentMonth();
  readonly #timer: ReturnType<typeof setInterval> | null;
  #sweeps = 0;
  #isClosed = false;

  constructor(options: CreditsOptions, dependencies: CreditsDependencies) {
    this.#options = { ...defaults, ...options };
    this.#clock = dependencies.clock;
    this.#work = new StoreWork(dependencies);
    this.#leasing = new Leasing(this.#options, { ...dependencies, work: this.#work });
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
    if (account.available < cost) return this.#leasing.wait(account, cost);
    account.available -= cost;
    account.taken += cost;
    if (account.available < account.watermark) this.#leasing.ahead(account);
    return true;
  }

  refund(accountId: string, cost: number, takenAtMs?: number): void {
    if (cost <= 0) return;
    const account = this.#accounts.get(accountId);
    if (account === undefined || this.#isClosed) {
      this.#work.giveBack(accountId, monthOf(takenAtMs ?? this.#clock.now()), cost);
      return;
    }
    // Without the time of the take, what this month has not taken was taken in the month before.
    const ofThisMonth = account.taken >= cost ? account.month : (account.previousMonth ?? account.month);
    const month = takenAtMs === undefined ? ofThisMonth : monthOf(takenAtMs);
    if (month !== account.month || account.taken < cost) {
      this.#work.giveBack(accountId, month, cost);
      return;
    }
    account.taken -= cost;
    if (account.allowance === null) account.unreported -= cost;
    else account.available += cost;
  }

  async spent(accountId: string): Promise<{ month: string; used: bigint }> {
    const month = this.#month.at(this.#clock.now());
    const used = await this.#work.usedWhenQuiet(accountId, month);
    const account = this.#accounts.get(accountId);
    if (account === undefined || account.month !== month) return { month, used };
    const spent = used + BigInt(account.unreported) - BigInt(account.available);
    return { month, used: spent > 0n ? spent : 0n };
  }

  async sweep(): Promise<void> {
    this.#tick();
    await this.#work.settled();
  }

  #tick(): void {
    this.#sweeps += 1;
    for (const account of this.#accounts.values()) {
      const idle = this.#sweeps - account.usedAtSweep;
      // One report at a time, so that a store that hangs gathers no queue; the count waits in memory.
      if (account.reports === 0) this.#work.report(account);
      const isIdle = idle > (account.isScarce ? idleSweepsScarce : idleSweeps) || account.allowance === null;
      if (isIdle && !account.isLeasing) this.#work.giveBackLease(account);
      if (idle > forgottenSweeps && isEmpty(account)) this.#accounts.delete(account.accountId);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    if (this.#timer !== null) clearInterval(this.#timer);
    await this.#work.settled();
    for (const account of this.#accounts.values()) {
      this.#work.report(account);
      this.#work.giveBackLease(account);
    }
    await this.#work.settled();
  }

  /** A new month: what is left of the old one's lease goes back to it, and nothing of it is known of the new one. */
  #turn(account: AccountCredits, month: string): void {
    this.#work.report(account);
    this.#work.giveBackLease(account);
    account.previousMonth = account.month;
    account.month = month;
    account.taken = 0;
    account.heldOffUntilMs = 0;
  }

  #open(accountId: string, month: string): AccountCredits | null {
    if (this.#accounts.size >= this.#options.accountsMax && !this.#evict()) return null;
    const account = openAccount(accountId, month, this.#options.blockMin, this.#clock.monotonic());
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
      this.#work.report(account);
      this.#work.giveBackLease(account);
      this.#accounts.delete(account.accountId);
      return true;
    }
    return false;
  }
}

const isEmpty = (account: AccountCredits): boolean =>
  account.available === 0 && account.unreported === 0 && !account.isLeasing && account.reports === 0;

/** Credits over a store: see `Credits`. Disposing gives back what was leased and not spent. */
export function createCredits(options: CreditsOptions, dependencies: CreditsDependencies): Credits {
  return new LeasedCredits(options, dependencies);
}
