import type { LeaseRecord } from "../../state/index.ts";
import type { LeaseHolder } from "./lease-holder.ts";

export type EngineRole = "active" | "standby";

export interface SuccessionDependencies<Term extends AsyncDisposable> {
  readonly keeper: Pick<LeaseHolder, "renew" | "release">;
  /** Opens what runs while the lease is held. */
  readonly open: (lease: LeaseRecord) => Promise<Term>;
  readonly roleChanged: (role: EngineRole) => void;
  readonly internalError: (where: string, error: unknown) => void;
}

export interface SuccessionOptions {
  readonly lookMs: number;
  /** For how many looks what could not be opened here is left to others. */
  readonly retryLooks: number;
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
  #looking: Promise<void> | null = null;
  #timer: ReturnType<typeof setTimeout> | null = null;
  /** Looks that are left out, so that another process may try what failed here. */
  #looksLeftOut = 0;
  #isClosed = false;

  constructor(options: SuccessionOptions, dependencies: SuccessionDependencies<Term>) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  /** What runs here, or null while another process has the lease. */
  get term(): Term | null {
    return this.#present?.term ?? null;
  }

  /** Looks for the first time; where the lease is to be had, resolves when what it is for is open. Rejects as that does. */
  async begin(): Promise<void> {
    const lease = await this.#dependencies.keeper.renew();
    this.#wait(this.#options.lookMs);
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
    this.#timer = setTimeout(() => {
      this.#looking = this.#look();
    }, delayMs);
    this.#timer.unref();
  }

  async #look(): Promise<void> {
    if (this.#looksLeftOut > 0) this.#looksLeftOut -= 1;
    else {
      const lease = await this.#dependencies.keeper.renew();
      if (this.#changing === null && !this.#isClosed) this.#follow(lease);
    }
    this.#wait(this.#options.lookMs);
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
    const term = await this.#dependencies.open(lease);
    this.#present = { epoch: lease.epoch, term };
    this.#dependencies.roleChanged("active");
  }

  /** Another process may be able to do what this one is not. */
  async #giveUp(error: unknown): Promise<void> {
    this.#dependencies.internalError("opening the block engine", error);
    await this.#dependencies.keeper.release();
    this.#looksLeftOut = this.#options.retryLooks;
  }

  async #close(term: Term): Promise<void> {
    this.#present = null;
    this.#dependencies.roleChanged("standby");
    try {
      await term[Symbol.asyncDispose]();
    } catch (error) {
      this.#dependencies.internalError("closing the block engine", error);
    }
  }

  /** Closes what runs here, and only then lets another process have the lease. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#looking;
    await this.#changing;
    const present = this.#present;
    this.#present = null;
    try {
      await present?.term[Symbol.asyncDispose]();
    } finally {
      await this.#dependencies.keeper.release();
    }
  }
}
