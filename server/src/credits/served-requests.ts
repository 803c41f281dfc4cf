import type { Clock, Log } from "@sluice/lib";
import { CurrentMonth } from "./account-credits.ts";
import type { Credits, CreditsStore } from "./interfaces.ts";

export interface ServedRequestsDependencies {
  readonly clock: Pick<Clock, "now">;
  /** Counts without a limit, and exactly over kills of the process. */
  readonly meter: Pick<Credits, "take" | "spent">;
  readonly store: Pick<CreditsStore, "lease" | "used">;
  readonly log: Pick<Log, "warn">;
}

/**
 * How many requests of an account were served in a month, counted where a kill cannot reach it. The records of requests
 * wait in memory for a second: those that a kill takes away are the difference of this count and the records.
 */
export class ServedRequests {
  readonly #dependencies: ServedRequestsDependencies;
  readonly #ofRequests = new CurrentMonth();
  readonly #present = new CurrentMonth();

  constructor(dependencies: ServedRequestsDependencies) {
    this.#dependencies = dependencies;
  }

  /** Counts a request in the month of its record, `atMs` (Unix milliseconds). Never waits and never throws. */
  count(accountId: string, atMs: number): void {
    const { clock, meter } = this.#dependencies;
    const month = this.#ofRequests.at(atMs);
    if (month === this.#present.at(clock.now())) void meter.take(accountId, null, 1);
    else this.#countIn(accountId, month);
  }

  /** Requests that were served in a month, written as "2026-11". Rejects as the store does. */
  async served(accountId: string, month: string): Promise<bigint> {
    const { clock, meter, store } = this.#dependencies;
    if (month !== this.#present.at(clock.now())) return await store.used(accountId, month);
    return (await meter.spent(accountId)).used;
  }

  /** A request that was under way when the month ended: a few at each turn, so each goes to the store by itself. */
  #countIn(accountId: string, month: string): void {
    const { store, log } = this.#dependencies;
    store.lease(accountId, month, 1n, null, null).catch((error: unknown) => {
      log.warn({ error, accountId, month }, "a served request could not be counted");
    });
  }
}
