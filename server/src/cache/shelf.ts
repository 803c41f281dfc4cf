import type { AdmittingStore } from "./admitting-store.ts";
import { ByteLru, type Sized } from "./byte-lru.ts";

/** An answer that may be kept: as history, or until the next slot. */
export interface Kept<T> {
  readonly value: T;
  readonly until: "final" | "slot";
}

export interface ShelfOptions {
  readonly finalBytesMax: number;
  readonly slotBytesMax: number;
  readonly finalLifetimeMs: number;
  readonly slotLifetimeMs: number;
}

export interface ShelfDependencies {
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** False while nobody tells of new slots; nothing is kept until a slot that may never be announced. */
  readonly isLive: () => boolean;
}

/**
 * The answers of one network at one commitment. A slot notice empties the slot part at once by replacing its map, so the
 * notice costs the same for ten entries as for a million, and a read needs no comparison of slots.
 */
export class Shelf<T extends Sized, Outcome> {
  readonly #options: ShelfOptions;
  readonly #dependencies: ShelfDependencies;
  readonly #final: AdmittingStore<T>;
  readonly #slot: ByteLru<T>;
  /** The calls that may be joined: those of this generation. */
  #flights = new Map<string, Promise<Outcome>>();
  #generation = 0;

  constructor(options: ShelfOptions, dependencies: ShelfDependencies, final: AdmittingStore<T>) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#final = final;
    this.#slot = new ByteLru({ bytesMax: options.slotBytesMax });
  }

  /** The kept answer to `key`, or undefined. `nowMs` is monotonic; the caller has read the clock already. */
  get(key: string, nowMs: number): T | undefined {
    const fresh = this.#slot.get(key, nowMs);
    if (fresh !== undefined) return fresh;
    return this.#final.get(key, nowMs);
  }

  /**
   * The call for `key` that is under way, or undefined; whoever joins it shares its outcome. A call from before the last
   * slot notice is not given: who asks now may know of that slot, and the node may have read its state before it.
   */
  underWay(key: string): Promise<Outcome> | undefined {
    return this.#flights.get(key);
  }

  /**
   * Runs `load` for `key` and lets others join until it settles; `kept` says what of the outcome stays. The call belongs
   * to nobody: a caller that goes away cancels nothing. An answer that was asked for before a slot notice and came after
   * it is handed out but not kept, because nobody knows on which side of the notice the node read its state.
   */
  load(key: string, load: () => Promise<Outcome>, kept: (outcome: Outcome) => Kept<T> | null): Promise<Outcome> {
    const generation = this.#generation;
    const flights = this.#flights;
    const flight = load().then(
      (outcome) => {
        flights.delete(key);
        const keeping = kept(outcome);
        if (keeping !== null) this.#keep(key, keeping, generation);
        return outcome;
      },
      (fault: unknown) => {
        flights.delete(key);
        throw fault;
      },
    );
    flights.set(key, flight);
    return flight;
  }

  /** The head of this commitment has moved: everything that moves with it is gone. */
  slotMoved(): void {
    this.#generation += 1;
    this.#flights = new Map();
    this.#slot.clear();
  }

  get slotEntries(): number {
    return this.#slot.size;
  }

  #keep(key: string, kept: Kept<T>, generation: number): void {
    const nowMs = this.#dependencies.now();
    if (kept.until === "final") this.#final.set(key, kept.value, nowMs + this.#options.finalLifetimeMs);
    else if (generation === this.#generation && this.#dependencies.isLive()) {
      this.#slot.set(key, kept.value, nowMs + this.#options.slotLifetimeMs);
    }
  }
}
