import type { CreditsDependencies, CreditsStore } from "./interfaces.ts";

/** Tries to read a count while no lease is under way; a busy account's count is then off by one lease. */
const readingsMax = 5;

/** Calls of the store that no caller waits for. */
export class StoreWork {
  readonly #store: CreditsStore;
  readonly #log: CreditsDependencies["log"];
  readonly #flights = new Set<Promise<void>>();

  constructor(dependencies: Pick<CreditsDependencies, "store" | "log">) {
    this.#store = dependencies.store;
    this.#log = dependencies.log;
  }

  /**
   * Gives back what was taken on a lease account that is closed by now, once: it may have been done although it failed,
   * and done twice it would be a gift.
   */
  giveBack(accountId: string, month: string, credits: number): void {
    this.follow(
      this.#store.giveBack(accountId, month, BigInt(credits)).catch((error: unknown) => {
        this.#log.warn({ error, accountId, month, credits }, "credits could not be given back");
      }),
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

  /** The store's count of used credits, read while no call of this process is under way, if such a moment comes. */
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
