/**
 * Lets work that is asked for often run now and then: at once after a quiet moment, else when `everyMs` have gone by since it
 * last began, so that what is asked meanwhile is done together. Requests of one turn are one.
 */
export class Paced {
  readonly #everyMs: number;
  readonly #work: () => void;
  readonly #nowMs: () => number;
  #beganMs = Number.NEGATIVE_INFINITY;
  #isDue = false;

  /** `nowMs` is monotonic. */
  constructor(everyMs: number, dependencies: { readonly work: () => void; readonly nowMs: () => number }) {
    this.#everyMs = everyMs;
    this.#work = dependencies.work;
    this.#nowMs = dependencies.nowMs;
  }

  ask(): void {
    if (this.#isDue) return;
    this.#isDue = true;
    const waitMs = this.#beganMs + this.#everyMs - this.#nowMs();
    if (waitMs <= 0) queueMicrotask(() => this.#run());
    else setTimeout(() => this.#run(), waitMs);
  }

  #run(): void {
    this.#isDue = false;
    this.#beganMs = this.#nowMs();
    this.#work();
  }
}
