import type { Clock, MonotonicMs, Timer, Timers } from "./clock.ts";

/** Resolves after `delayMs`, or as soon as `signal` is aborted. Keeps the process alive. Never rejects. */
export function sleep(timers: Pick<Timers, "after">, delayMs: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted === true) return resolve();
    const wake = (): void => {
      timer.cancel();
      signal?.removeEventListener("abort", wake);
      resolve();
    };
    const timer = timers.after(delayMs, wake, { keepsAlive: true });
    signal?.addEventListener("abort", wake, { once: true });
  });
}

/** Whether a promise was settled in time; its value is the promise's own. */
export type Timed<T> = { readonly ok: true; readonly value: T } | { readonly ok: false };

/**
 * Waits for `work`, at most `limitMs`. A late outcome is ignored, a late rejection as well; the work itself is not
 * stopped.
 *
 * @throws what `work` rejects with, when it rejects in time.
 */
export async function within<T>(
  timers: Pick<Timers, "after">,
  limitMs: number,
  work: PromiseLike<T>,
): Promise<Timed<T>> {
  const late = Promise.withResolvers<Timed<T>>();
  const timer = timers.after(limitMs, () => late.resolve({ ok: false }), { keepsAlive: true });
  const outcome = Promise.resolve(work).then((value): Timed<T> => ({ ok: true, value }));
  try {
    return await Promise.race([outcome, late.promise]);
  } finally {
    timer.cancel();
  }
}

/** Work of which at most one run is under way. Callers that come meanwhile join that run and get its outcome. */
export class SingleFlight<T> {
  readonly #work: () => Promise<T>;
  #running: Promise<T> | null = null;

  constructor(work: () => Promise<T>) {
    this.#work = work;
  }

  /** The run under way; null when there is none. */
  get running(): Promise<T> | null {
    return this.#running;
  }

  /** Joins the run under way, or starts one. Rejects as the work does. */
  run(): Promise<T> {
    this.#running ??= this.#work().finally(() => {
      this.#running = null;
    });
    return this.#running;
  }
}

/**
 * Runs pieces of work one after the other, in the order in which they were handed in. A failure stops none after it.
 */
export class Serial {
  #last: Promise<unknown> = Promise.resolve();
  #pending = 0;

  /** Pieces that wait or run; callers that must bound the queue ask here before they hand in more. */
  get pending(): number {
    return this.#pending;
  }

  /** Starts `work` when all that was handed in before has settled. Resolves and rejects as the work does. */
  run<T>(work: () => Promise<T> | T): Promise<T> {
    this.#pending += 1;
    const outcome = this.#last.then(work).finally(() => {
      this.#pending -= 1;
    });
    this.#last = outcome.catch(() => undefined);
    return outcome;
  }

  /** Resolves when all that was handed in so far has settled. */
  async idle(): Promise<void> {
    await this.#last;
  }
}

export interface BackgroundTaskOptions {
  /**
   * Runs by itself at this interval; without it, only when asked. An interval that ends during a run joins that run.
   */
  readonly everyMs?: number;
  /** How long the end waits for runs. */
  readonly closeMsMax?: number;
}

export interface BackgroundTaskDependencies {
  readonly clock: Pick<Timers, "after" | "every">;
  readonly work: () => Promise<unknown> | unknown;
  /** Receives what a run throws or rejects with; no caller does. */
  readonly onError: (error: unknown) => void;
}

/**
 * Work in the background, one run at a time: at an interval, within a delay, or at once. Its failures reach `onError`.
 */
export class BackgroundTask implements AsyncDisposable {
  readonly #dependencies: BackgroundTaskDependencies;
  readonly #closeMsMax: number;
  readonly #flight: SingleFlight<void>;
  readonly #interval: Timer | null;
  #due: Timer | null = null;
  #isClosed = false;

  constructor(options: BackgroundTaskOptions, dependencies: BackgroundTaskDependencies) {
    this.#dependencies = dependencies;
    this.#closeMsMax = options.closeMsMax ?? 5_000;
    this.#flight = new SingleFlight(() => this.#work());
    this.#interval =
      options.everyMs === undefined ? null : dependencies.clock.every(options.everyMs, () => void this.run());
  }

  /** Whether a run was asked for by `runWithin` that has not begun. */
  get isDue(): boolean {
    return this.#due !== null;
  }

  /** Joins the run under way, or starts one. Never rejects. */
  run(): Promise<void> {
    return this.#flight.run();
  }

  /**
   * A run begins at the latest in `delayMs`; one that was asked for earlier keeps its time. It begins after a run that
   * is under way then, which may have read its input already.
   */
  runWithin(delayMs: number): void {
    if (this.#isClosed) return;
    this.#due ??= this.#dependencies.clock.after(delayMs, () => {
      this.#due = null;
      void (this.#flight.running ?? Promise.resolve()).then(() => this.run());
    });
  }

  async #work(): Promise<void> {
    try {
      await this.#dependencies.work();
    } catch (error) {
      this.#dependencies.onError(error);
    }
  }

  /** Ends with a last run, after one under way, and waits for both at most `closeMsMax`. Never rejects. */
  async finish(): Promise<void> {
    this.#close();
    const last = (this.#flight.running ?? Promise.resolve()).then(() => this.run());
    const { ok } = await within(this.#dependencies.clock, this.#closeMsMax, last);
    if (!ok) this.#dependencies.onError(new Error(`The last run did not end within ${this.#closeMsMax} ms.`));
  }

  #close(): void {
    this.#isClosed = true;
    this.#interval?.cancel();
    this.#due?.cancel();
    this.#due = null;
  }

  /** Starts no further run by itself; waits for one under way, at most `closeMsMax`. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#close();
    const { running } = this.#flight;
    if (running !== null) await within(this.#dependencies.clock, this.#closeMsMax, running);
  }
}

/**
 * Runs work that is requested often at most every `everyMs`: at once after a quiet period, else when that time has
 * passed since the last run began. Requests in between are one.
 */
export class Debounce {
  readonly #everyMs: number;
  readonly #dependencies: { readonly clock: Pick<Clock, "monotonic" | "after">; readonly work: () => void };
  #beganMs = Number.NEGATIVE_INFINITY as MonotonicMs;
  #isDue = false;

  constructor(
    options: { readonly everyMs: number },
    dependencies: { readonly clock: Pick<Clock, "monotonic" | "after">; readonly work: () => void },
  ) {
    this.#everyMs = options.everyMs;
    this.#dependencies = dependencies;
  }

  request(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    const { clock } = this.#dependencies;
    const waitMs = this.#beganMs + this.#everyMs - clock.monotonic();
    if (waitMs <= 0) queueMicrotask(() => this.#run());
    else clock.after(waitMs, () => this.#run(), { keepsAlive: true });
  }

  #run(): void {
    this.#isDue = false;
    this.#beganMs = this.#dependencies.clock.monotonic();
    this.#dependencies.work();
  }
}
