/**
 * Attempts that one process has under way. Endpoints that failed last may have half of the places at most, so that
 * many that hang leave the others theirs.
 */
export class AttemptPlaces {
  readonly #max: number;
  #taken = 0;
  #suspect = 0;
  /** In the order in which they came; whoever is woken and finds no place comes again. */
  readonly #waiting = { sound: new Set<() => void>(), suspect: new Set<() => void>() };

  constructor(options: { readonly max: number }) {
    this.#max = options.max;
  }

  get taken(): number {
    return this.#taken;
  }

  /** A place for an endpoint of this kind; where there is none `wake` is called once there may be one. */
  take(isSuspect: boolean, wake: () => void): boolean {
    if (this.#isFull(isSuspect)) {
      (isSuspect ? this.#waiting.suspect : this.#waiting.sound).add(wake);
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
    const { sound, suspect } = this.#waiting;
    // Each is woken once at most, whether it still needs a place or not.
    for (let left = sound.size; left > 0 && !this.#isFull(false); left -= 1) wakeFirst(sound);
    for (let left = suspect.size; left > 0 && !this.#isFull(true); left -= 1) wakeFirst(suspect);
  }

  /** It waits no more. */
  forget(wake: () => void): void {
    this.#waiting.sound.delete(wake);
    this.#waiting.suspect.delete(wake);
  }

  #isFull(isSuspect: boolean): boolean {
    return this.#taken >= this.#max || (isSuspect && this.#suspect >= this.#max / 2);
  }
}

function wakeFirst(waiting: Set<() => void>): void {
  for (const wake of waiting) {
    waiting.delete(wake);
    wake();
    return;
  }
}
