/** A key in use, as the collector needs it. */
export interface UsedKey {
  readonly keyId: string;
  /** Unix milliseconds of the last use. */
  usedAtMs: number;
  /** True while the use waits to be written. */
  isTouched: boolean;
}

/** Keys written in one batch; the store takes at most this many at once. */
const batchMax = 10_000;
/** Keys that may wait to be written, while the store does not answer, before uses are no longer noted. */
const waitingMax = 100_000;

/**
 * Collects when keys were last used and writes it in batches: one write a key and interval, however busy the key. A time
 * that is lost in a crash is at most one interval old, which is what a last-used column is good for.
 */
export class LastUsed {
  readonly #write: (times: Map<string, number>) => Promise<void>;
  #waiting = new Set<UsedKey>();
  #flight: Promise<void> | null = null;

  constructor(write: (times: Map<string, number>) => Promise<void>) {
    this.#write = write;
  }

  note(key: UsedKey, nowMs: number): void {
    key.usedAtMs = nowMs;
    if (key.isTouched || this.#waiting.size >= waitingMax) return;
    key.isTouched = true;
    this.#waiting.add(key);
  }

  /** Writes what waits, at most one batch; a batch that fails waits for the next flush. Rejects as the store does. */
  flush(): Promise<void> {
    this.#flight ??= this.#writeBatch().finally(() => {
      this.#flight = null;
    });
    return this.#flight;
  }

  /** Writes all that waits; gives up at the first batch that fails. */
  async drain(): Promise<void> {
    if (this.#flight !== null) await this.#flight;
    while (this.#waiting.size > 0) await this.flush();
  }

  async #writeBatch(): Promise<void> {
    if (this.#waiting.size === 0) return;
    const batch = [...this.#waiting.values().take(batchMax)];
    const times = new Map<string, number>();
    for (const key of batch) {
      this.#waiting.delete(key);
      key.isTouched = false;
      times.set(key.keyId, key.usedAtMs);
    }
    try {
      await this.#write(times);
    } catch (error) {
      for (const key of batch) this.note(key, key.usedAtMs);
      throw error;
    }
  }
}
