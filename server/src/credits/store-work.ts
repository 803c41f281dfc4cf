import type { AccountCredits } from "./account-credits.ts";
import type { CreditsDependencies, CreditsStore } from "./interfaces.ts";

/** Tries to read a count while no lease is under way; a busy account's count is then off by one lease. */
const readingsMax = 5;

/** What is told to the store without anybody waiting for it: usage, and credits that come back. */
export class StoreWork {
  readonly #store: CreditsStore;
  readonly #log: CreditsDependencies["log"];
  readonly #flights = new Set<Promise<void>>();

  constructor(dependencies: Pick<CreditsDependencies, "store" | "log">) {
    this.#store = dependencies.store;
    this.#log = dependencies.log;
  }

  /** Gives credits back, once: a give-back that failed may have been done, and done twice it would be a gift. */
  giveBack(accountId: string, month: string, credits: number): void {
    if (credits <= 0) return;
    this.follow(
      this.#store.giveBack(accountId, month, BigInt(credits)).catch((error: unknown) => {
        this.#log.warn({ error, accountId, month, credits }, "credits could not be given back");
      }),
    );
  }

  giveBackLease(account: AccountCredits): void {
    const unspent = account.available;
    account.available = 0;
    account.watermark = 0;
    this.giveBack(account.accountId, account.month, unspent);
  }

  /** Tells the store of unlimited usage; what could not be told is told with the next report. */
  report(account: AccountCredits): void {
    const { accountId, month, unreported } = account;
    if (unreported === 0) return;
    account.unreported = 0;
    if (unreported < 0) {
      this.giveBack(accountId, month, -unreported);
      return;
    }
    account.reports += 1;
    this.follow(
      this.#store.lease(accountId, month, BigInt(unreported), null).then(
        () => {
          account.reports -= 1;
        },
        (error: unknown) => {
          account.reports -= 1;
          this.#log.warn({ error, accountId }, "usage could not be reported");
          if (account.month === month) account.unreported += unreported;
        },
      ),
    );
  }

  /** Counts work at the store as under way until it is over; `work` never rejects. */
  follow(work: Promise<void>): void {
    const flight = work.finally(() => this.#flights.delete(flight));
    this.#flights.add(flight);
  }

  /** Resolves when nothing is under way at the store. */
  async settled(): Promise<void> {
    while (this.#flights.size > 0) await Promise.allSettled(this.#flights);
  }

  /** What the store counts as used, read while nothing of ours is under way there if that can be had. */
  async usedWhenQuiet(accountId: string, month: string): Promise<bigint> {
    let used = 0n;
    for (let reading = 0; reading < readingsMax; reading += 1) {
      await this.settled();
      used = await this.#store.used(accountId, month);
      // A lease that began meanwhile is in the one count and not yet in the other.
      if (this.#flights.size === 0) break;
    }
    return used;
  }
}
