/** The state's replays have this shape. */
export interface ExpiringReplays {
  /** Forgets some of those that are over; says how many. */
  forgetExpired(): Promise<number>;
}

export interface ReplaySweepDependencies {
  readonly replays: ExpiringReplays;
  readonly heldUp: (what: string, fault: unknown) => void;
}

const everyMs = 60_000;
/** Steps of one sweep; what is left then waits for the next. */
const stepsMax = 20;

/** Forgets encapsulated keys whose time is over, so that the memory of them does not grow for ever. */
export class ReplaySweep implements AsyncDisposable {
  readonly #deps: ReplaySweepDependencies;
  readonly #timer: ReturnType<typeof setInterval>;
  #sweeping: Promise<void> | null = null;

  constructor(dependencies: ReplaySweepDependencies) {
    this.#deps = dependencies;
    this.#timer = setInterval(() => void this.sweep(), everyMs);
    this.#timer.unref();
  }

  /** Joins a sweep that is under way. Never rejects. */
  sweep(): Promise<void> {
    this.#sweeping ??= this.#sweep()
      .catch((fault: unknown) => this.#deps.heldUp("replays", fault))
      .finally(() => {
        this.#sweeping = null;
      });
    return this.#sweeping;
  }

  async #sweep(): Promise<void> {
    for (let step = 0; step < stepsMax; step += 1) if ((await this.#deps.replays.forgetExpired()) === 0) return;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#sweeping;
  }
}
