import { invariant, type Timer, type Timers } from "@sluice/lib";
import type { LeaseRecord } from "../state/index.ts";
import type { LeaseHolder, LeaseTimes } from "./lease-holder.ts";

export type SuccessionRole = "active" | "standby";

export interface SuccessionDependencies<Term extends AsyncDisposable> {
  readonly clock: Timers;
  readonly lease: Pick<LeaseHolder, "renew" | "release">;
  /** Opens what runs while the lease is held. */
  readonly open: (lease: LeaseRecord) => Promise<Term>;
  readonly roleChanged: (role: SuccessionRole) => void;
  readonly internalError: (where: string, error: unknown) => void;
}

export interface SuccessionOptions extends Pick<LeaseTimes, "beatMs" | "lookMs"> {
  /** What runs, as faults name it. */
  readonly what: string;
  /** Renewals to skip after an opening failed, so that another process takes the lease. */
  readonly retryRenewals: number;
}

interface Present<Term> {
  readonly epoch: bigint;
  readonly term: Term;
}

/**
 * Has one process of several run something: it is opened when the lease is had and closed when it is lost, and what is
 * opened again begins with what the store holds.
 */
export class Succession<Term extends AsyncDisposable> implements AsyncDisposable {
  readonly #options: SuccessionOptions;
  readonly #dependencies: SuccessionDependencies<Term>;
  #present: Present<Term> | null = null;
  /** An opening or a closing that is under way; the lease is beaten meanwhile. */
  #changing: Promise<void> | null = null;
  #renewing: Promise<void> | null = null;
  #timer: Timer | null = null;
  /** Renewals to skip, so that another process may try to open what failed here. */
  #skippedRenewals = 0;
  #isClosed = false;

  constructor(options: SuccessionOptions, dependencies: SuccessionDependencies<Term>) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  /** What runs here, or null while another process has the lease. */
  get term(): Term | null {
    return this.#present?.term ?? null;
  }

  /**
   * Requests the lease for the first time. With the lease, resolves when the term is open, and rejects as its opening
   * does.
   */
  async begin(): Promise<void> {
    const lease = await this.#dependencies.lease.renew();
    this.#wait(this.#delayMs(lease));
    if (lease === null) {
      this.#dependencies.roleChanged("standby");
      return;
    }
    const opening = this.#open(lease);
    this.#changing = opening.catch(() => {}).finally(() => this.#changed());
    await opening;
  }

  #changed(): void {
    this.#changing = null;
  }

  #wait(delayMs: number): void {
    if (this.#isClosed) return;
    this.#timer = this.#dependencies.clock.after(delayMs, () => {
      this.#renewing = this.#renew();
    });
  }

  async #renew(): Promise<void> {
    if (this.#skippedRenewals > 0) {
      this.#skippedRenewals -= 1;
      this.#wait(this.#options.beatMs);
      return;
    }
    const lease = await this.#dependencies.lease.renew();
    if (this.#changing === null && !this.#isClosed) this.#follow(lease);
    this.#wait(this.#delayMs(lease));
  }

  /** Who holds it beats; who stands by looks more often, so that what is given up is taken over soon. */
  #delayMs(lease: LeaseRecord | null): number {
    return lease === null ? this.#options.lookMs : this.#options.beatMs;
  }

  #follow(lease: LeaseRecord | null): void {
    const present = this.#present;
    if (present !== null && lease?.epoch !== present.epoch)
      this.#changing = this.#close(present.term).finally(() => this.#changed());
    else if (present === null && lease !== null) {
      this.#changing = this.#open(lease)
        .catch((error: unknown) => this.#giveUp(error))
        .finally(() => this.#changed());
    }
  }

  async #open(lease: LeaseRecord): Promise<void> {
    invariant(this.#present === null, "one term runs at a time");
    const term = await this.#dependencies.open(lease);
    this.#present = { epoch: lease.epoch, term };
    this.#dependencies.roleChanged("active");
  }

  /** Another process may be able to do what this one is not. */
  async #giveUp(error: unknown): Promise<void> {
    this.#dependencies.internalError(`opening ${this.#options.what}`, error);
    await this.#dependencies.lease.release();
    this.#skippedRenewals = this.#options.retryRenewals;
  }

  async #close(term: Term): Promise<void> {
    this.#present = null;
    this.#dependencies.roleChanged("standby");
    await this.#end(term);
  }

  /** What cannot be closed is reported; the lease is given up all the same. */
  async #end(term: Term): Promise<void> {
    try {
      await term[Symbol.asyncDispose]();
    } catch (error) {
      this.#dependencies.internalError(`closing ${this.#options.what}`, error);
    }
  }

  /** Closes what runs here, and only then lets another process have the lease. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#timer?.cancel();
    await this.#renewing;
    await this.#changing;
    const present = this.#present;
    this.#present = null;
    if (present !== null) await this.#end(present.term);
    await this.#dependencies.lease.release();
  }
}
