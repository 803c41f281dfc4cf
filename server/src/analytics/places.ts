import { SluiceError } from "@sluice/contract/errors";
import type { Timers } from "@sluice/lib";
import { LedgerAbortedError } from "../ledger/index.ts";
import { busyRetrySeconds } from "./failures.ts";

/** Bounds of the queries that wait. */
export const placeLimits = {
  /** Running queries of one account, so that no account takes all places. */
  runningOfAccountMax: 1,
  /** Waiting queries of one account, and of all. */
  waitingOfAccountMax: 2,
  waitingMax: 16,
  waitMsMax: 10_000,
} as const;

interface Waiting {
  readonly accountId: string;
  readonly enter: () => void;
}

/** The places of queries that run at a time. Who waits gets one in order of arrival, as far as the account may. */
export class QueryPlaces {
  readonly #runningMax: number;
  readonly #timers: Pick<Timers, "after">;
  readonly #running = new Map<string, number>();
  readonly #waiting: Waiting[] = [];
  #taken = 0;

  constructor(options: { readonly runningMax: number }, dependencies: { readonly timers: Pick<Timers, "after"> }) {
    this.#runningMax = options.runningMax;
    this.#timers = dependencies.timers;
  }

  get running(): number {
    return this.#taken;
  }

  get waiting(): number {
    return this.#waiting.length;
  }

  /**
   * A place, which the function that is returned gives back; at once or when one is free.
   *
   * @throws {SluiceError} SQL_ACCOUNT_BUSY, SQL_BUSY; LedgerAbortedError when the caller goes away while waiting
   */
  async enter(accountId: string, signal: AbortSignal): Promise<() => void> {
    if (this.#mayRun(accountId)) return this.#take(accountId);
    const own = this.#waiting.filter((other) => other.accountId === accountId).length;
    const details = { retryAfterSeconds: busyRetrySeconds };
    if (own >= placeLimits.waitingOfAccountMax) throw new SluiceError("SQL_ACCOUNT_BUSY", { details });
    if (this.#waiting.length >= placeLimits.waitingMax) throw new SluiceError("SQL_BUSY", { details });
    return await new Promise((resolve, reject) => {
      const leave = (error: Error): void => {
        const at = this.#waiting.indexOf(waiting);
        if (at === -1) return;
        this.#waiting.splice(at, 1);
        end();
        reject(error);
      };
      const aborted = (): void => leave(new LedgerAbortedError());
      const timer = this.#timers.after(placeLimits.waitMsMax, () => leave(new SluiceError("SQL_BUSY", { details })));
      const end = (): void => {
        timer.cancel();
        signal.removeEventListener("abort", aborted);
      };
      const waiting: Waiting = {
        accountId,
        enter: () => {
          end();
          resolve(this.#take(accountId));
        },
      };
      this.#waiting.push(waiting);
      signal.addEventListener("abort", aborted, { once: true });
      if (signal.aborted) aborted();
    });
  }

  #mayRun(accountId: string): boolean {
    return this.#taken < this.#runningMax && (this.#running.get(accountId) ?? 0) < placeLimits.runningOfAccountMax;
  }

  #take(accountId: string): () => void {
    this.#taken++;
    this.#running.set(accountId, (this.#running.get(accountId) ?? 0) + 1);
    let isGiven = false;
    return () => {
      if (isGiven) return;
      isGiven = true;
      this.#taken--;
      const left = (this.#running.get(accountId) ?? 1) - 1;
      if (left === 0) this.#running.delete(accountId);
      else this.#running.set(accountId, left);
      this.#admitNext();
    };
  }

  #admitNext(): void {
    const at = this.#waiting.findIndex((waiting) => this.#mayRun(waiting.accountId));
    if (at !== -1) this.#waiting.splice(at, 1)[0]?.enter();
  }
}
