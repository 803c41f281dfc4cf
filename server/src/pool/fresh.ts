import type { Clock } from "@sluice/lib";

/** How old a value may be, in milliseconds: served without a word, and served while a newer one is read. */
export interface Freshness {
  readonly freshMs: number;
  readonly staleMs: number;
}

export interface FreshDependencies<T> {
  readonly clock: Pick<Clock, "monotonic">;
  readonly read: () => Promise<T>;
  /** A reading failed while an older value is still served. */
  readonly failed: (error: unknown) => void;
}

/**
 * A value that is read anew when it is asked for and has become old. One reading is under way at a time, whoever asks;
 * who asks waits for it only where no value is young enough to be served.
 */
export class Fresh<T> {
  readonly #freshness: Freshness;
  readonly #dependencies: FreshDependencies<T>;
  #held: { readonly value: T; readonly atMs: number } | null = null;
  #reading: Promise<T> | null = null;

  constructor(freshness: Freshness, dependencies: FreshDependencies<T>) {
    this.#freshness = freshness;
    this.#dependencies = dependencies;
  }

  /** Rejects with what the reading failed with, where there is no value to serve. */
  get(): T | Promise<T> {
    const held = this.#held;
    if (held === null) return this.#read();
    const ageMs = this.#dependencies.clock.monotonic() - held.atMs;
    if (ageMs <= this.#freshness.freshMs) return held.value;
    if (ageMs > this.#freshness.staleMs) return this.#read();
    this.#read().catch(this.#dependencies.failed);
    return held.value;
  }

  /** Reads now, or joins the reading under way. */
  read(): Promise<T> {
    return this.#read();
  }

  #read(): Promise<T> {
    this.#reading ??= this.#readOnce().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  async #readOnce(): Promise<T> {
    const atMs = this.#dependencies.clock.monotonic();
    const value = await this.#dependencies.read();
    this.#held = { value, atMs };
    return value;
  }
}
