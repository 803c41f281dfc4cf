import type { Clock } from "@sluice/lib";

export interface BreakerOptions {
  /** Failures within the window below which the breaker stays closed. */
  readonly failuresMin: number;
  /** Share of failed calls in the window from which on the breaker opens. */
  readonly failureShare: number;
  readonly windowMs: number;
  /** The first rest; each that follows without a success between is twice as long, up to the longest. */
  readonly restMs: number;
  readonly restMsMax: number;
}

/**
 * Five failures that are half of the last ten seconds' calls; rests of half a second to 2 s. A rest costs the node one
 * trial, so that longer ones would spare it nothing and keep it out when it is well again.
 */
export const breakerDefaults: BreakerOptions = {
  failuresMin: 5,
  failureShare: 0.5,
  windowMs: 10_000,
  restMs: 500,
  restMsMax: 2_000,
};

const slots = 10;

/**
 * A circuit breaker. Closed, calls pass and are counted over a sliding window; open, the node rests; after its rest it
 * is half-open: only trials are sent to it, and `trusted` closes it again or a failure opens it for longer.
 */
export class Breaker {
  readonly #options: BreakerOptions;
  readonly #clock: Clock;
  readonly #passed = new Uint32Array(slots);
  readonly #failed = new Uint32Array(slots);
  /** The slot of the window that counts now, numbered from the clock's zero. */
  #current = 0;
  #openedAtMs: number | null = null;
  #restMs: number;

  constructor(options: BreakerOptions, dependencies: { readonly clock: Clock }) {
    this.#options = options;
    this.#clock = dependencies.clock;
    this.#restMs = options.restMs;
  }

  get state(): "closed" | "open" | "half-open" {
    if (this.#openedAtMs === null) return "closed";
    return this.#clock.monotonic() - this.#openedAtMs < this.#restMs ? "open" : "half-open";
  }

  /** `nowMs` is monotonic; a caller that has read the clock passes it. */
  passed(nowMs = this.#clock.monotonic()): void {
    this.#turn(nowMs);
    this.#passed[this.#current % slots] = (this.#passed[this.#current % slots] ?? 0) + 1;
  }

  failed(): void {
    this.#turn(this.#clock.monotonic());
    this.#failed[this.#current % slots] = (this.#failed[this.#current % slots] ?? 0) + 1;
    if (this.#openedAtMs !== null) {
      // A call that was in flight when it opened says nothing new; a failed trial does.
      if (this.state === "half-open") this.#open(Math.min(this.#restMs * 2, this.#options.restMsMax));
      return;
    }
    const failed = this.#failed.reduce((sum, count) => sum + count, 0);
    const all = failed + this.#passed.reduce((sum, count) => sum + count, 0);
    if (failed >= this.#options.failuresMin && failed >= all * this.#options.failureShare) this.#open(this.#restMs);
  }

  /** The trials succeeded: calls pass again, and the window starts empty. */
  trusted(): void {
    this.#openedAtMs = null;
    this.#restMs = this.#options.restMs;
    this.#passed.fill(0);
    this.#failed.fill(0);
  }

  #open(restMs: number): void {
    this.#restMs = restMs;
    this.#openedAtMs = this.#clock.monotonic();
  }

  /** Moves the window on to now. */
  #turn(nowMs: number): void {
    const current = Math.floor(nowMs / (this.#options.windowMs / slots));
    for (let slot = Math.max(this.#current + 1, current - slots + 1); slot <= current; slot += 1) {
      this.#passed[slot % slots] = 0;
      this.#failed[slot % slots] = 0;
    }
    this.#current = Math.max(this.#current, current);
  }
}
