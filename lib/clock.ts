/**
 * Time as a value handed in. Deterministic logic takes a Clock, so that a seed replays a run; the wall clock is read
 * here and nowhere else.
 */
export interface Clock {
  /** Wall time, Unix milliseconds. It may jump when the machine's clock is set. */
  now(): number;
  /** Monotonic time in milliseconds from an arbitrary origin; for durations and deadlines. */
  monotonic(): number;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  monotonic: () => performance.now(),
};

/** A clock that stands still until it is moved; both faces move together, `jump` moves the wall alone. */
export class ManualClock implements Clock {
  #wallMs: number;
  #monotonicMs = 0;

  constructor(startMs = 0) {
    this.#wallMs = startMs;
  }

  now(): number {
    return this.#wallMs;
  }

  monotonic(): number {
    return this.#monotonicMs;
  }

  advance(durationMs: number): void {
    this.#wallMs += durationMs;
    this.#monotonicMs += durationMs;
  }

  jump(toMs: number): void {
    this.#wallMs = toMs;
  }
}
