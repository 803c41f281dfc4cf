import { BoundedQueue } from "../lib/index.ts";

/**
 * Lets at most `width` calls through at a time and lets at most `waiting` wait for their turn; more is refused. Without
 * it a runtime opens a connection for each call in flight (400 parallel calls opened 317).
 */
export class Gate {
  readonly #width: number;
  readonly #queue: BoundedQueue<() => void>;
  #inside = 0;

  constructor(options: { width: number; waiting: number }) {
    this.#width = options.width;
    this.#queue = new BoundedQueue({ max: options.waiting });
  }

  get inFlight(): number {
    return this.#inside + this.#queue.length;
  }

  /** True when the caller may go at once, a promise when it has to wait, false when too many wait already. */
  enter(): true | false | Promise<void> {
    if (this.#inside < this.#width) {
      this.#inside += 1;
      return true;
    }
    let admit: () => void = () => {};
    const turn = new Promise<void>((resolve) => {
      admit = resolve;
    });
    return this.#queue.push(admit) ? turn : false;
  }

  /** Gives the place to the one who waits longest. */
  leave(): void {
    const next = this.#queue.take(1)[0];
    if (next === undefined) this.#inside -= 1;
    else next();
  }
}
