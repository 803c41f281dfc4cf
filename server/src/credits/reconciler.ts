import type { Clock, Timer } from "@sluice/lib";
import { monthOf } from "./account-credits.ts";
import type { CreditsEvents } from "./events.ts";
import type { CreditsDependencies, CreditsStore } from "./interfaces.ts";
import { settleHolder } from "./settle-holder.ts";
import { type TallyPlace, takeDeadTally, tallyHolders } from "./tally-file.ts";

export interface ReconcilerOptions {
  readonly place: TallyPlace;
  /** This process's holder, which is never dead. */
  readonly own: string;
  /** Null leaves it to `run`. */
  readonly intervalMs?: number | null;
}

export interface ReconcilerDependencies {
  readonly clock: Clock;
  readonly store: Pick<CreditsStore, "openBooks" | "settle" | "bookAdvance"> & {
    closeBooksBefore(month: string): Promise<number>;
  };
  readonly log: CreditsDependencies["log"];
  readonly events: Pick<CreditsEvents, "creditsReconciled">;
}

/**
 * A dead process's tally is kept for this long after it was found, and its lease accounts are looked for again: the
 * database may still be carrying out what the process had asked for. A statement runs for 30 s there at most.
 */
const lingerMs = 60_000;
/** How often dead processes are looked for; beside one's own start only those of others on the same host are new. */
const lookMs = 20_000;
/** The month before the present one is left open: a process settles it within minutes of the turn. */
const monthsKeptOpen = 1;

/** Settles the leases of processes that died on this data directory. */
export class Reconciler implements AsyncDisposable {
  readonly #place: TallyPlace;
  readonly #own: string;
  readonly #dependencies: ReconcilerDependencies;
  readonly #foundAtMs = new Map<string, number>();
  readonly #timer: Timer | null;
  #running: Promise<void> | null = null;
  #closedBefore = "";

  constructor(options: ReconcilerOptions, dependencies: ReconcilerDependencies) {
    this.#place = options.place;
    this.#own = options.own;
    this.#dependencies = dependencies;
    const interval = options.intervalMs === undefined ? lookMs : options.intervalMs;
    this.#timer = interval === null ? null : dependencies.clock.every(interval, () => void this.run());
  }

  /** Looks once, one look at a time; what fails is tried again by the next. Never rejects. */
  run(): Promise<void> {
    this.#running ??= this.#run().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#timer?.cancel();
    await this.#running;
  }

  async #run(): Promise<void> {
    for (const holder of tallyHolders(this.#place)) {
      if (holder !== this.#own) await this.#attempt({ holder }, () => this.#settle(holder));
    }
    await this.#attempt({}, () => this.#closeOldBooks());
  }

  async #attempt(fields: object, work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      const { log } = this.#dependencies;
      log.warn({ ...fields, meter: this.#place.meter, error }, "credits of a dead process could not be settled yet");
    }
  }

  async #settle(holder: string): Promise<void> {
    using found = takeDeadTally(this.#place, holder);
    if (found === null) return;
    const { clock, store, events } = this.#dependencies;
    const settlement = await settleHolder(holder, found, store);
    if (settlement.books > 0 || settlement.advanced > 0n) events.creditsReconciled(this.#place.meter, settlement);
    const nowMs = clock.monotonic();
    const foundAtMs = this.#foundAtMs.get(holder) ?? nowMs;
    this.#foundAtMs.set(holder, foundAtMs);
    if (nowMs - foundAtMs < lingerMs) return;
    found.remove();
    this.#foundAtMs.delete(holder);
  }

  /**
   * Lease accounts of holders that left no tally here, as on a host that is gone, stay charged; their rows need not
   * stay.
   */
  async #closeOldBooks(): Promise<void> {
    const { clock, store } = this.#dependencies;
    const now = new Date(clock.now());
    const before = monthOf(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - monthsKeptOpen, 1));
    if (before === this.#closedBefore) return;
    await store.closeBooksBefore(before);
    this.#closedBefore = before;
  }
}
