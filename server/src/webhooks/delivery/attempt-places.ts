import type { EndpointStanding } from "./endpoint-pace.ts";

/** In the order in which those who wait are woken. */
const standings = ["sound", "unknown", "suspect"] as const;

/**
 * Attempts that one process has under way. Endpoints that fail or are slow may have half of the places at most, and a
 * quarter is for endpoints alone that are known to answer soon: so many that hang or linger leave the others theirs.
 */
export class AttemptPlaces {
  readonly #max: number;
  readonly #taken: Record<EndpointStanding, number> = { sound: 0, unknown: 0, suspect: 0 };
  /** In the order in which they came; whoever is woken and finds no place comes again. */
  readonly #waiting: Readonly<Record<EndpointStanding, Set<() => void>>> = {
    sound: new Set(),
    unknown: new Set(),
    suspect: new Set(),
  };

  constructor(options: { readonly max: number }) {
    this.#max = options.max;
  }

  get taken(): number {
    const { sound, unknown, suspect } = this.#taken;
    return sound + unknown + suspect;
  }

  /** A place for an endpoint of this standing; where there is none `wake` is called once there may be one. */
  take(standing: EndpointStanding, wake: () => void): boolean {
    if (this.#isFull(standing)) {
      this.#waiting[standing].add(wake);
      return false;
    }
    this.#taken[standing] += 1;
    return true;
  }

  /** `standing` as it was when the place was taken. */
  give(standing: EndpointStanding): void {
    this.#taken[standing] -= 1;
    for (const each of standings) {
      const waiting = this.#waiting[each];
      // Each is woken once at most, whether it still needs a place or not.
      for (let left = waiting.size; left > 0 && !this.#isFull(each); left -= 1) wakeFirst(waiting);
    }
  }

  /** It waits no more. */
  forget(wake: () => void): void {
    for (const standing of standings) this.#waiting[standing].delete(wake);
  }

  #isFull(standing: EndpointStanding): boolean {
    const { unknown, suspect } = this.#taken;
    if (this.taken >= this.#max) return true;
    if (standing === "sound") return false;
    return unknown + suspect >= this.#max * 0.75 || (standing === "suspect" && suspect >= this.#max / 2);
  }
}

function wakeFirst(waiting: Set<() => void>): void {
  for (const wake of waiting) {
    waiting.delete(wake);
    wake();
    return;
  }
}
