import { type Clock, type MonotonicMs, within } from "@sluice/lib";

/** How old a value may be, in milliseconds: while newer ones can be read, and while they cannot. */
export interface Freshness {
  readonly freshMs: number;
  readonly staleMs: number;
}

export interface FreshDependencies<T> {
  readonly clock: Pick<Clock, "monotonic" | "after">;
  readonly read: () => Promise<T>;
  /** A reading failed while an older value is still served. */
  readonly failed: (error: unknown) => void;
}

/** From this part of its time on a value is read anew while it is served, so that who asks often never waits. */
const readAheadShare = 0.75;
/** How long who asks waits for a newer value where an older one may be served; nodes take some hundred milliseconds. */
const waitMsMax = 1_000;
/** After a failure the older value is served without another attempt for so long. */
const retryMs = 1_000;

/**
 * A value that is read anew when it is asked for and has become old. One reading is under way at a time, whoever asks.
 * What is served is at most `freshMs` old, unless a reading fails or does not end in time: then it is the last one, for
 * `staleMs` at most.
 */
export class Fresh<T> {
  readonly #freshness: Freshness;
  readonly #dependencies: FreshDependencies<T>;
  #held: { readonly value: T; readonly atMs: MonotonicMs } | null = null;
  #reading: { readonly value: Promise<T>; readonly atMs: MonotonicMs } | null = null;
  #failedAtMs: MonotonicMs | null = null;

  constructor(freshness: Freshness, dependencies: FreshDependencies<T>) {
    this.#freshness = freshness;
    this.#dependencies = dependencies;
  }

  /** Rejects with what the reading failed with, where there is no value to serve. */
  get(): T | Promise<T> {
    const held = this.#held;
    if (held === null) return this.#read();
    const { freshMs, staleMs } = this.#freshness;
    const ageMs = this.#dependencies.clock.monotonic() - held.atMs;
    if (ageMs > staleMs) return this.#read();
    if (ageMs > freshMs) return this.#newerOr(held.value);
    if (ageMs > freshMs * readAheadShare && !this.#hasJustFailed()) void this.#newer();
    return held.value;
  }

  /** Reads now, or joins the reading under way. */
  read(): Promise<T> {
    return this.#read();
  }

  /** A reading that has not begun before it was asked for. */
  async readAnew(): Promise<T> {
    await this.#reading?.value.catch(() => undefined);
    return await this.#read();
  }

  #hasJustFailed(): boolean {
    return this.#failedAtMs !== null && this.#dependencies.clock.monotonic() - this.#failedAtMs < retryMs;
  }

  /** The next reading, or an older value where it fails or takes too long. */
  #newerOr(older: T): T | Promise<T> {
    const { clock } = this.#dependencies;
    if (this.#hasJustFailed()) return older;
    const newer = this.#newer();
    const leftMs = waitMsMax - (clock.monotonic() - (this.#reading?.atMs ?? clock.monotonic()));
    if (leftMs <= 0) return older;
    return within(clock, leftMs, newer).then((read) => (read.ok && read.value !== null ? read.value.value : older));
  }

  /** The next reading; null where it fails, which is told once. */
  #newer(): Promise<{ readonly value: T } | null> {
    const isFirst = this.#reading === null;
    return this.#read().then(
      (value) => ({ value }),
      (error: unknown) => {
        if (isFirst) this.#dependencies.failed(error);
        return null;
      },
    );
  }

  #read(): Promise<T> {
    this.#reading ??= {
      atMs: this.#dependencies.clock.monotonic(),
      value: this.#readOnce().finally(() => {
        this.#reading = null;
      }),
    };
    return this.#reading.value;
  }

  async #readOnce(): Promise<T> {
    const atMs = this.#dependencies.clock.monotonic();
    try {
      const value = await this.#dependencies.read();
      this.#held = { value, atMs };
      this.#failedAtMs = null;
      return value;
    } catch (error) {
      this.#failedAtMs = this.#dependencies.clock.monotonic();
      throw error;
    }
  }
}
