declare const wallTime: unique symbol;
declare const monotonicTime: unique symbol;

/** A moment of wall time in Unix milliseconds. It can jump when the machine's clock is set. */
export type WallMs = number & { readonly [wallTime]: true };

/** A moment in milliseconds from an arbitrary origin that never goes back; for durations and deadlines. */
export type MonotonicMs = number & { readonly [monotonicTime]: true };

/** Marks Unix milliseconds that come from outside, such as a stored row or a message, as wall time. */
export const wallMs = (unixMs: number): WallMs => unixMs as WallMs;

/** Marks milliseconds as monotonic time; for results of arithmetic on readings of one clock. */
export const monotonicMs = (ms: number): MonotonicMs => ms as MonotonicMs;

/** Work that is scheduled and has not run yet. Cancelling twice, or after it ran, does nothing. */
export interface Timer extends Disposable {
  cancel(): void;
}

export interface TimerOptions {
  /** Keeps the process alive until the timer has fired or is cancelled. Default false. */
  readonly keepsAlive?: boolean;
}

/** What schedules work: the only owner of the runtime's timers. */
export interface Timers {
  /** Calls `run` once, at the earliest `delayMs` from now. */
  after(delayMs: number, run: () => void, options?: TimerOptions): Timer;
  /** Calls `run` every `intervalMs` until it is cancelled. Does not wait for promises that `run` starts. */
  every(intervalMs: number, run: () => void, options?: TimerOptions): Timer;
}

/**
 * Time as a value handed in. Deterministic logic takes a Clock, so that a seed replays a run; the system's clock and
 * its timers are used here and nowhere else.
 */
export interface Clock extends Timers {
  now(): WallMs;
  monotonic(): MonotonicMs;
}

type RuntimeTimer = ReturnType<typeof setTimeout>;

class SystemTimer implements Timer {
  readonly #timer: RuntimeTimer;

  constructor(timer: RuntimeTimer, options: TimerOptions | undefined) {
    this.#timer = timer;
    if (options?.keepsAlive !== true) timer.unref();
  }

  cancel(): void {
    // clearTimeout takes both kinds of timers (HTML standard, 8.6).
    clearTimeout(this.#timer);
  }

  [Symbol.dispose](): void {
    this.cancel();
  }
}

export const systemClock: Clock = {
  now: () => wallMs(Date.now()),
  monotonic: () => monotonicMs(performance.now()),
  after: (delayMs, run, options) => new SystemTimer(setTimeout(run, delayMs), options),
  every: (intervalMs, run, options) => new SystemTimer(setInterval(run, intervalMs), options),
};

interface ManualTimer extends Timer {
  /** Monotonic milliseconds at which it fires next. */
  dueMs: number;
  /** Null for a timer that fires once. */
  readonly intervalMs: number | null;
  readonly run: () => void;
}

/**
 * A clock that stands still until it is moved. Moving it fires the timers that become due, each at its own time and in
 * the order of their times; timers of equal time fire in the order in which they were set.
 */
export class ManualClock implements Clock {
  #wallMs: number;
  #monotonicMs = 0;
  readonly #timers = new Set<ManualTimer>();

  constructor(startMs = 0) {
    this.#wallMs = startMs;
  }

  /** Timers that are set and have neither fired nor been cancelled. */
  get pendingTimers(): number {
    return this.#timers.size;
  }

  now(): WallMs {
    return wallMs(this.#wallMs);
  }

  monotonic(): MonotonicMs {
    return monotonicMs(this.#monotonicMs);
  }

  after(delayMs: number, run: () => void): Timer {
    return this.#set(Math.max(0, delayMs), null, run);
  }

  /** @throws {RangeError} when the interval is not above zero: moving the clock would never end. */
  every(intervalMs: number, run: () => void): Timer {
    if (!(intervalMs > 0)) throw new RangeError("An interval is a number of milliseconds above zero.");
    return this.#set(intervalMs, intervalMs, run);
  }

  /**
   * Moves wall and monotonic time together, and fires what becomes due on the way. A negative duration moves both back.
   */
  advance(durationMs: number): void {
    const endMs = this.#monotonicMs + durationMs;
    for (let next = this.#nextDue(endMs); next !== null; next = this.#nextDue(endMs)) {
      this.#moveTo(Math.max(this.#monotonicMs, next.dueMs));
      if (next.intervalMs === null) this.#timers.delete(next);
      else next.dueMs += next.intervalMs;
      next.run();
    }
    this.#moveTo(durationMs < 0 ? endMs : Math.max(this.#monotonicMs, endMs));
  }

  /** Sets the wall clock alone, as an operator or NTP does; no timer fires. */
  jump(toMs: number): void {
    this.#wallMs = toMs;
  }

  #moveTo(monotonic: number): void {
    this.#wallMs += monotonic - this.#monotonicMs;
    this.#monotonicMs = monotonic;
  }

  #nextDue(endMs: number): ManualTimer | null {
    let next: ManualTimer | null = null;
    for (const timer of this.#timers) {
      if (timer.dueMs <= endMs && (next === null || timer.dueMs < next.dueMs)) next = timer;
    }
    return next;
  }

  #set(delayMs: number, intervalMs: number | null, run: () => void): Timer {
    const cancel = (): void => {
      this.#timers.delete(timer);
    };
    const timer: ManualTimer = {
      dueMs: this.#monotonicMs + delayMs,
      intervalMs,
      run,
      cancel,
      [Symbol.dispose]: cancel,
    };
    this.#timers.add(timer);
    return timer;
  }
}
