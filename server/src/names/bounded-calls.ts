import { BoundedQueue } from "@sluice/lib";

/**
 * Lets so many calls run at once and so many more wait, each of them no longer than `waitMsMax`; the rest are refused.
 * Refused and overdue calls give null, as a node that does not answer does.
 */
export class BoundedCalls {
  readonly #options: { readonly runningMax: number; readonly waitMsMax: number };
  readonly #now: () => number;
  readonly #waiting: BoundedQueue<(turn: boolean) => void>;
  #running = 0;

  constructor(
    options: { readonly runningMax: number; readonly waitingMax: number; readonly waitMsMax: number },
    dependencies: { readonly now: () => number },
  ) {
    this.#options = options;
    this.#now = dependencies.now;
    this.#waiting = new BoundedQueue({ max: options.waitingMax });
  }

  async run<T>(call: () => Promise<T | null>): Promise<T | null> {
    if (this.#running >= this.#options.runningMax) {
      const turn = Promise.withResolvers<boolean>();
      const since = this.#now();
      if (!this.#waiting.push((mayRun) => turn.resolve(mayRun && this.#now() - since <= this.#options.waitMsMax))) {
        return null;
      }
      if (!(await turn.promise)) {
        this.#passOn();
        return null;
      }
    } else this.#running++;
    try {
      return await call();
    } finally {
      this.#passOn();
    }
  }

  /** The place of a call that ended goes to the one that waits longest, or is free. */
  #passOn(): void {
    const [next] = this.#waiting.take(1);
    if (next === undefined) this.#running--;
    else next(true);
  }
}
