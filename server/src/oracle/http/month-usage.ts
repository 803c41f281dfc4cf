import { BoundedMap, type Clock, within } from "@sluice/lib";
import { type Allowance, CurrentMonth, monthEndOf } from "../../credits/index.ts";

export const monthUsageLimits = {
  /** How long the count of this process stands before what others counted is read again, in milliseconds. */
  keptMs: 10_000,
  /** How long an answer waits for the first reading. */
  waitMsMax: 500,
  accountsMax: 100_000,
} as const;

/** The month's requests of one account as the headers of an answer tell them. */
export interface MonthState {
  readonly used: number;
  /** Unix seconds. */
  readonly resetAt: number;
}

interface Known {
  readonly month: string;
  /** Null while the store has not told it. */
  used: number | null;
  readAtMs: number;
  reading: Promise<void> | null;
}

/**
 * The requests of accounts in the present month: read once from the store, then counted here, and read again now and
 * then for what other processes counted. Only the first answer to an account waits for the reading.
 */
export class MonthUsage {
  readonly #clock: Pick<Clock, "now" | "monotonic" | "after">;
  readonly #allowance: Pick<Allowance, "spent">;
  readonly #month = new CurrentMonth();
  readonly #known = new BoundedMap<string, Known>({ max: monthUsageLimits.accountsMax });

  constructor(dependencies: {
    readonly clock: Pick<Clock, "now" | "monotonic" | "after">;
    readonly allowance: Pick<Allowance, "spent">;
  }) {
    this.#clock = dependencies.clock;
    this.#allowance = dependencies.allowance;
  }

  /** What the account has used, including what it takes now; null when the store does not tell. */
  async of(accountId: string): Promise<MonthState | null> {
    const nowMs = this.#clock.now();
    const known = this.#ofMonth(accountId, this.#month.at(nowMs));
    const isDue = this.#clock.monotonic() - known.readAtMs >= monthUsageLimits.keptMs;
    if (isDue && known.reading === null) known.reading = this.#read(accountId, known);
    if (known.used === null && known.reading !== null) {
      await within(this.#clock, monthUsageLimits.waitMsMax, known.reading);
    }
    return known.used === null ? null : { used: known.used, resetAt: monthEndOf(nowMs) / 1_000 };
  }

  /** Counts a request that was taken, or with -1 one that was given back. */
  count(accountId: string, requests: 1 | -1): void {
    const known = this.#known.get(accountId);
    if (known === undefined || known.used === null || known.month !== this.#month.at(this.#clock.now())) return;
    known.used = Math.max(0, known.used + requests);
  }

  #ofMonth(accountId: string, month: string): Known {
    const known = this.#known.get(accountId);
    if (known?.month === month) return known;
    const fresh: Known = { month, used: null, readAtMs: Number.NEGATIVE_INFINITY, reading: null };
    this.#known.set(accountId, fresh);
    return fresh;
  }

  /** Never rejects: the count is told beside an answer, and is no reason to fail it. */
  async #read(accountId: string, known: Known): Promise<void> {
    try {
      const { month, used } = await this.#allowance.spent(accountId);
      if (month === known.month) known.used = Number(used);
    } catch {
      // What was known stays, and is read again after a while.
    } finally {
      known.readAtMs = this.#clock.monotonic();
      known.reading = null;
    }
  }
}
