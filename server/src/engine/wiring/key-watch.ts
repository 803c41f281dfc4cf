export interface KeyWatchDependencies {
  /** Ends the streams of those whose keys open the door no longer. */
  readonly recheck: () => Promise<void>;
  readonly heldUp: (what: string, fault: unknown) => void;
}

/** How long a stream may outlive its key. */
const everyMs = 10_000;

/** A key that expires changes nothing that anybody tells of, so open streams are looked at in any case. */
export class KeyWatch implements Disposable {
  readonly #timer: ReturnType<typeof setInterval>;

  constructor({ recheck, heldUp }: KeyWatchDependencies, intervalMs = everyMs) {
    const look = (): void => void recheck().catch((fault: unknown) => heldUp("keys of open streams", fault));
    this.#timer = setInterval(look, intervalMs);
    this.#timer.unref();
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }
}
