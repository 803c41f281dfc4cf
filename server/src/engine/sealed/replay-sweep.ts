/** The state's replays have this shape. */
export interface ExpiringReplays {
  /** Forgets some of those that are over; says how many. */
  forgetExpired(): Promise<number>;
}

export interface ReplaySweepDependencies {
  readonly replays: ExpiringReplays;
  readonly retryableError: (what: string, error: unknown) => void;
}

const everyMs = 60_000;
/** Steps of one sweep; what is left then waits for the next. */
const stepsMax = 20;

/** Forgets encapsulated keys whose time is over, so that the memory of them does not grow for ever. */
export class ReplaySweep implements AsyncDisposable {
  readonly #dependencies: ReplaySweepDependencies;
  readonly #timer: ReturnType<typeof setInterval>;
  #sweeping: Promise<void> | null = null;

  constructor(dependencies: ReplaySweepDependencies) {
    this.#dependencies = dependencies;
    this.#timer = setInterval(() => void this.sweep(), everyMs);
    this.#timer.unref();
  }

  /** Joins a sweep that is under way. Never rejects. */
  sweep(): Promise<void> {
    this.#sweeping ??= this.#sweep()
      .catch((error: unknown) => this.#dependencies.retryableError("replays", error))
      .finally(() => {
        this.#sweeping = null;
      });
    return this.#sweeping;
  }

  async #sweep(): Promise<void> {
    for (let step = 0; step < stepsMax; step += 1) if ((await this.#dependencies.replays.forgetExpired()) === 0) return;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#sweeping;
  }
}
