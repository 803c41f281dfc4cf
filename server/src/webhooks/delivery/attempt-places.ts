/**
 * Attempts that one process has under way. Endpoints that failed last may have half of the places at most, so that
 * many that hang leave the others theirs.
 */
export class AttemptPlaces {
  readonly #max: number;
  #taken = 0;
  #suspect = 0;
  readonly #waiting = new Set<() => void>();

  constructor(options: { readonly max: number }) {
    this.#max = options.max;
  }

  get taken(): number {
    return this.#taken;
  }

  /** The places that are free for an endpoint of this kind; `wake` is called once there may be one again. */
  take(isSuspect: boolean, wake: () => void): boolean {
    if (this.#taken >= this.#max || (isSuspect && this.#suspect >= this.#max / 2)) {
      this.#waiting.add(wake);
      return false;
    }
    this.#taken += 1;
    if (isSuspect) this.#suspect += 1;
    return true;
  }

  /** `isSuspect` as it was when the place was taken. */
  give(isSuspect: boolean): void {
    this.#taken -= 1;
    if (isSuspect) this.#suspect -= 1;
    if (this.#waiting.size === 0) return;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }

  /** It waits no more. */
  forget(wake: () => void): void {
    this.#waiting.delete(wake);
  }
}
