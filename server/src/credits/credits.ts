import { SluiceError } from "@sluice/contract/errors";
import type { Clock, Random, Timer } from "@sluice/lib";
import {
  type CreditAccount,
  CurrentMonth,
  measurePace,
  monthEndOf,
  monthOf,
  openAccount,
  spend,
} from "./account-credits.ts";
import { AdvanceFile } from "./advance-file.ts";
import type { AdvanceRecords } from "./advances.ts";
import type { CreditsEvents } from "./events.ts";
import type { Balance, Credits, CreditsDependencies, CreditsOptions } from "./interfaces.ts";
import { LeaseAccounts } from "./lease-accounts.ts";
import { Leasing } from "./leasing.ts";
import { Reconciler, type ReconcilerDependencies } from "./reconciler.ts";
import { StoreWork } from "./store-work.ts";
import { tallyInMemory } from "./tally.ts";
import { createTally, type OwnTally, readBootId } from "./tally-file.ts";

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
/** Accounts examined to find one that can make room. */
const evictionSteps = 64;
/** How often settling is tried when this process ends; what is left waits for the next start. */
const lastTriesMax = 3;

class LeasedCredits implements Credits {
  readonly #options: Required<Omit<CreditsOptions, "sweepIntervalMs">>;
  readonly #clock: Clock;
  readonly #log: CreditsDependencies["log"];
  readonly #held: CreditsDependencies["held"];
  readonly #leasing: Leasing;
  readonly #work: StoreWork;
  readonly #leases: LeaseAccounts;
  readonly #accounts = new Map<string, CreditAccount>();
  readonly #month = new CurrentMonth();
  readonly #timer: Timer | null;
  #sweeps = 0;
  #sweptAtMs: number;
  #isClosed = false;
  #isSettled = false;

  constructor(options: CreditsOptions, dependencies: CreditsDependencies) {
    this.#options = { ...defaults, ...options };
    this.#clock = dependencies.clock;
    this.#log = dependencies.log;
    this.#held = dependencies.held;
    this.#work = new StoreWork(dependencies);
    this.#leases = new LeaseAccounts({ ...dependencies, work: this.#work });
    this.#leasing = new Leasing(this.#options, {
      ...dependencies,
      work: this.#work,
      leases: this.#leases,
      exchange: (account) => this.#exchangeLease(account, account.lease.month),
    });
    this.#sweptAtMs = this.#clock.monotonic();
    const interval = options.sweepIntervalMs === undefined ? defaults.sweepIntervalMs : options.sweepIntervalMs;
    this.#timer = interval === null ? null : this.#clock.every(interval, () => this.#tick());
  }

  take(accountId: string, allowance: bigint | null, cost: number): boolean | Promise<boolean> {
    if (!Number.isSafeInteger(cost) || cost < 0) throw new RangeError("A cost is a whole number of credits");
    const month = this.#month.at(this.#clock.now());
    const known = this.#accounts.get(accountId);
    const account = known?.lease.month === month ? known : this.#accountOf(accountId, month, known);
    if (account === null || this.#isClosed) return allowance === null || Promise.reject(new SluiceError("OVERLOADED"));
    account.usedAtSweep = this.#sweeps;
    account.allowance = allowance;
    if (allowance === null) {
      account.unreported += cost;
      spend(account, cost);
      // The store has to know of a lease account for a kill to leave it something to settle.
      if (!account.lease.isAsked) this.#leasing.report(account);
      return true;
    }
    if (account.available < cost) return this.#leasing.wait(account, cost);
    account.available -= cost;
    spend(account, cost);
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
    const ofThisMonth = account.taken >= cost ? account.lease.month : (account.previousMonth ?? account.lease.month);
    const month = takenAtMs === undefined ? ofThisMonth : monthOf(takenAtMs);
    // What was not taken on the open lease account was taken on one that is closed.
    if (month !== account.lease.month || account.lease.entry.spent < cost) {
      this.#work.giveBack(accountId, month, cost);
      return;
    }
    spend(account, -cost);
    if (account.allowance === null) account.unreported -= cost;
    else account.available += cost;
  }

  balance(accountId: string): Balance {
    const nowMs = this.#clock.now();
    const account = this.#accounts.get(accountId);
    const isOfThisMonth = account?.lease.month === this.#month.at(nowMs);
    return { remaining: isOfThisMonth ? account.available : 0, resetsAtMs: monthEndOf(nowMs) };
  }

  async spent(accountId: string): Promise<{ month: string; used: bigint }> {
    const month = this.#month.at(this.#clock.now());
    const used = await this.#work.usedWhenQuiet(accountId, month);
    const account = this.#accounts.get(accountId);
    if (account === undefined || account.lease.month !== month) return { month, used };
    const { advance, entry } = account.lease;
    // The store counts what is leased and not spent, and counts nothing yet of an advance.
    const beside = advance === null ? account.unreported - account.available : entry.spent;
    const spent = used + BigInt(beside);
    return { month, used: spent > 0n ? spent : 0n };
  }

  async sweep(): Promise<void> {
    this.#tick();
    await this.#work.settled();
  }

  get isSettled(): boolean {
    return this.#isSettled;
  }

  get isFailing(): boolean {
    return this.#leasing.isFailing;
  }

  get isAdvancing(): boolean {
    return this.#leasing.isAdvancing;
  }

  #tick(): void {
    this.#sweeps += 1;
    this.#leases.retry();
    this.#leasing.retry();
    const nowMs = this.#clock.monotonic();
    const elapsedMs = nowMs - this.#sweptAtMs;
    this.#sweptAtMs = nowMs;
    let held = 0;
    for (const account of this.#accounts.values()) {
      measurePace(account, elapsedMs);
      const idle = this.#sweeps - account.usedAtSweep;
      // One report at a time, so that a store that hangs gathers no queue; the count waits in memory.
      if (account.reports === 0) this.#leasing.report(account);
      const isIdle = idle > (account.isScarce ? idleSweepsScarce : idleSweeps);
      const isLeftOver = account.allowance === null && account.available > 0;
      // What a failed lease may have granted comes back as soon as the store answers again.
      const isDoubtful = account.lease.doubt === "past";
      const isRequested = account.lease.isAsked && (isIdle || isLeftOver || isDoubtful);
      // With the store back an advance is charged, also one of an account that takes nothing more.
      const isOverdue = account.lease.advance !== null && !this.#leasing.isFailing;
      if ((isRequested || isOverdue) && isAtRest(account)) this.#exchangeLease(account, account.lease.month);
      if (idle > forgottenSweeps && isEmpty(account) && !this.#leasing.isRetried(account)) this.#forget(account);
      if (account.lease.advance === null) held += account.available;
    }
    this.#held?.(held);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#timer?.cancel();
    await this.#work.settled();
    for (const account of this.#accounts.values()) this.#forget(account);
    await this.#work.settled();
    for (let tries = 1; tries < lastTriesMax && this.#leases.unsettled > 0; tries += 1) {
      this.#leases.retry();
      await this.#work.settled();
    }
    if (this.#leases.unsettled > 0) return;
    try {
      this.#isSettled = await this.#leases.settleUnknown();
    } catch (error) {
      this.#log.warn({ error }, "leased credits could not be settled");
    }
  }

  /** The account with a lease account of this month; null when there is no room for it. */
  #accountOf(accountId: string, month: string, known: CreditAccount | undefined): CreditAccount | null {
    if (known === undefined) return this.#open(accountId, month);
    const before = known.lease.month;
    // What is left of the old month's lease goes back to it, and nothing of it is known of the new one.
    if (!this.#exchangeLease(known, month)) return null;
    known.previousMonth = before;
    known.taken = 0;
    known.takenAtSweep = 0;
    known.heldOffUntilMs = 0;
    known.left = null;
    return known;
  }

  /** Closes the account's lease account and opens another; false, and nothing done, when there is no room for one. */
  #exchangeLease(account: CreditAccount, month: string): boolean {
    const next = this.#leases.open(account.accountId, month);
    if (next === null) return false;
    this.#leases.close(account.lease);
    account.lease = next;
    account.available = 0;
    account.watermark = 0;
    // Settling reports all that was taken on the closed lease account.
    account.unreported = 0;
    return true;
  }

  #open(accountId: string, month: string): CreditAccount | null {
    if (this.#accounts.size >= this.#options.accountsMax && !this.#evict()) return null;
    const lease = this.#leases.open(accountId, month);
    if (lease === null) return null;
    const account = openAccount(lease, this.#options.blockMin, this.#clock.monotonic());
    this.#accounts.set(accountId, account);
    return account;
  }

  /** Makes room: the oldest account without waiting takes gives its lease back and is evicted. */
  #evict(): boolean {
    let steps = 0;
    for (const account of this.#accounts.values()) {
      steps += 1;
      if (steps > evictionSteps) return false;
      if (!isAtRest(account)) continue;
      this.#forget(account);
      return true;
    }
    return false;
  }

  #forget(account: CreditAccount): void {
    this.#leases.close(account.lease);
    this.#leasing.forget(account);
    this.#accounts.delete(account.accountId);
  }
}

const isAtRest = (account: CreditAccount): boolean =>
  !account.isLeasing && !account.isAdvancing && account.reports === 0 && account.waiters.length === 0;

const isEmpty = (account: CreditAccount): boolean =>
  account.available === 0 && account.unreported === 0 && isAtRest(account);

/** Credits over a store: see `Credits`. Disposing gives back what was leased and not spent. */
export function createCredits(options: CreditsOptions, dependencies: CreditsDependencies): Credits {
  return new LeasedCredits(options, dependencies);
}

export interface OpenCreditsOptions extends CreditsOptions {
  /** Where this and other processes of the host keep their tallies; made where it is missing. */
  readonly directory: string;
  /** The process, as leases on disk name it: 24 hexadecimal digits, never used before; drawn when absent. */
  readonly holder?: string;
  /** What is counted: `credits`, or the product whose requests are. */
  readonly meter: string;
}

export type OpenCreditsDependencies = Omit<CreditsDependencies, "tally" | "advances" | "held"> &
  ReconcilerDependencies & {
    readonly events: Pick<CreditsEvents, "creditsHeld">;
    readonly random: Random;
    /** Without them no account is served while the store is away. */
    readonly advances?: AdvanceOptions;
  };

export interface AdvanceOptions {
  /** Processes that spend the same allowances, as last known. */
  readonly processes: () => number;
  readonly events: Pick<CreditsEvents, "creditsAdvanced" | "advanceCharged">;
}

const holderBytes = 12;
/** Lease accounts in memory, where no file can be kept. */
const entriesInMemory = 131_072;

/**
 * Credits with a tally in a file, so that what this process holds when it is killed can be settled; and settles what
 * others, dead by now, have left in the same directory. Disposing settles everything and takes the file away.
 */
export function openCredits(options: OpenCreditsOptions, dependencies: OpenCreditsDependencies): Credits {
  const { random, log } = dependencies;
  const place = { directory: options.directory, meter: options.meter, bootId: readBootId() };
  const { holder = Buffer.from(random.bytes(holderBytes)).toString("hex") } = options;
  const own = ownTally(() => createTally(place, holder), holder, log);
  const { advances: terms } = dependencies;
  const file = own.advancesPath === null || terms === undefined ? null : new AdvanceFile(own.advancesPath);
  const advances = file === null || terms === undefined ? null : advanceRecords(options.meter, file, terms);
  const held = (leased: number): void => dependencies.events.creditsHeld(options.meter, leased);
  const credits = createCredits(options, { ...dependencies, tally: own.tally, advances, held });
  const reconciler = new Reconciler({ place, own: holder }, dependencies);
  void reconciler.run();
  return {
    get isSettled() {
      return credits.isSettled;
    },
    get isFailing() {
      return credits.isFailing;
    },
    get isAdvancing() {
      return credits.isAdvancing;
    },
    take: (accountId, allowance, cost) => credits.take(accountId, allowance, cost),
    refund: (accountId, cost, takenAtMs) => credits.refund(accountId, cost, takenAtMs),
    balance: (accountId) => credits.balance(accountId),
    spent: (accountId) => credits.spent(accountId),
    sweep: () => credits.sweep(),
    [Symbol.asyncDispose]: async () => {
      await reconciler[Symbol.asyncDispose]();
      await credits[Symbol.asyncDispose]();
      await file?.[Symbol.asyncDispose]();
      own.release(credits.isSettled);
    },
  };
}

function advanceRecords(meter: string, file: AdvanceFile, { processes, events }: AdvanceOptions): AdvanceRecords {
  return {
    get processes() {
      return processes();
    },
    record: async (advance) => {
      await file.record(advance);
      events.creditsAdvanced(meter, advance.credits, file.unbooked);
    },
    booked: (advance, spent) => {
      file.booked(advance);
      events.advanceCharged(meter, spent, file.unbooked);
    },
  };
}

function ownTally(create: () => OwnTally, holder: string, log: CreditsDependencies["log"]): OwnTally {
  try {
    return create();
  } catch (error) {
    log.warn({ error }, "no tally can be kept: what this process holds of credits stays charged if it is killed");
    return { tally: tallyInMemory(holder, entriesInMemory), advancesPath: null, release: () => undefined };
  }
}
