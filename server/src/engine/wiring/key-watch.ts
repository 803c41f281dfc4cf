export interface KeyWatchDependencies {
  /** Ends the streams of those whose keys open the door no longer. */
  readonly recheck: () => Promise<void>;
  readonly retryableError: (what: string, error: unknown) => void;
}

/** How long a stream may outlive its key. */
const everyMs = 10_000;

/** A key that expires changes nothing that anybody tells of, so open streams are looked at in any case. */
export class KeyWatch implements Disposable {
  readonly #timer: ReturnType<typeof setInterval>;

  constructor({ recheck, retryableError }: KeyWatchDependencies, intervalMs = everyMs) {
    const look = (): void => void recheck().catch((error: unknown) => retryableError("keys of open streams", error));
    this.#timer = setInterval(look, intervalMs);
    this.#timer.unref();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
