/** Works that run together at most, and that may wait for it; more are refused. */
const TOGETHER_MAX = 64;
const TOGETHER_WAITING_MAX = 10_000;

/**
 * Who may go next: works that run together with others, and works that run alone. One that wants to be alone goes before
 * all that come after it, and waits for those that run. Conditions are looked at whenever `next` is called.
 */
export class Turns {
  readonly #alone: { readonly ready: () => boolean; readonly start: () => void }[] = [];
  readonly #waiting: (() => void)[] = [];
  #watched: { readonly condition: () => boolean; readonly met: () => void }[] = [];
  #isAlone = false;
  #together = 0;

  /** Whether something runs alone or waits for it. */
  get isAloneWanted(): boolean {
    return this.#isAlone || this.#alone.length > 0;
  }

  /** Runs work when nothing runs together and `ready` holds; `after` is called when it is over. */
  async alone<T>(ready: () => boolean, work: () => Promise<T>, after: () => void): Promise<T> {
    const turn = Promise.withResolvers<void>();
    this.#alone.push({ ready, start: turn.resolve });
    this.next();
    await turn.promise;
    try {
      return await work();
    } finally {
      this.#isAlone = false;
      this.next();
      after();
    }
  }

  /** Runs work beside others of its kind. Throws when too many wait. */
  async together<T>(work: () => Promise<T>): Promise<T> {
    if (this.#waiting.length >= TOGETHER_WAITING_MAX) throw new Error("too many simulations wait");
    const turn = Promise.withResolvers<void>();
    this.#waiting.push(turn.resolve);
    this.next();
    await turn.promise;
    try {
      return await work();
    } finally {
      this.#together -= 1;
      this.next();
    }
  }

  /** Resolves when a condition holds: at once, or at a call of `next`. */
  until(condition: () => boolean): Promise<void> {
    if (condition()) return Promise.resolve();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#watched.push({ condition, met: resolve });
    return promise;
  }

  #tellWatched(): void {
    this.#watched = this.#watched.filter(({ condition, met }) => {
      if (!condition()) return true;
      met();
      return false;
    });
  }

  /** Something changed: whoever may go now goes. */
  next(): void {
    if (this.#watched.length > 0) this.#tellWatched();
    const first = this.#alone[0];
    if (first !== undefined && !this.#isAlone && this.#together === 0 && first.ready()) {
      this.#alone.shift();
      this.#isAlone = true;
      first.start();
    }
    while (!this.isAloneWanted && this.#together < TOGETHER_MAX) {
      const start = this.#waiting.shift();
      if (start === undefined) return;
      this.#together += 1;
      start();
    }
  }
}
