import { ByteLru, type Sized } from "./byte-lru.ts";

/** What is to become of an answer: kept as history, kept until the next slot, or handed out only to those who wait. */
export type Keeping = "final" | "slot" | "nothing";

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
export class Shelf<T extends Sized> {
  readonly #options: ShelfOptions;
  readonly #dependencies: ShelfDependencies;
  readonly #final: ByteLru<T>;
  readonly #slot: ByteLru<T>;
  readonly #flights = new Map<string, Promise<T>>();
  #generation = 0;

  constructor(options: ShelfOptions, dependencies: ShelfDependencies, final: ByteLru<T>) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#final = final;
    this.#slot = new ByteLru({ bytesMax: options.slotBytesMax });
  }

  /** The kept answer to `key`, or undefined. `nowMs` is monotonic; the caller has read the clock already. */
  get(key: string, nowMs: number): T | undefined {
    const fresh = this.#slot.get(key, nowMs);
    if (fresh !== undefined) return fresh;
    const settled = this.#final.get(key, nowMs);
    if (settled !== undefined) this.#final.touch(key);
    return settled;
  }

  /** The call for `key` that is under way, or undefined; whoever joins it shares its outcome. */
  underWay(key: string): Promise<T> | undefined {
    return this.#flights.get(key);
  }

  /**
   * Runs `load` for `key` and lets others join until it settles. The call belongs to nobody: a caller that goes away
   * cancels nothing. An answer that was asked for before a slot notice and came after it is handed out but not kept,
   * because nobody knows on which side of the notice the node read its state.
   */
  load(key: string, load: () => Promise<T>, keeping: (value: T) => Keeping): Promise<T> {
    const generation = this.#generation;
    const flight = load().then(
      (value) => {
        this.#flights.delete(key);
        this.#keep(key, value, keeping(value), generation);
        return value;
      },
      (fault: unknown) => {
        this.#flights.delete(key);
        throw fault;
      },
    );
    this.#flights.set(key, flight);
    return flight;
  }

  /** The head of this commitment has moved: everything that moves with it is gone. */
  slotMoved(): void {
    this.#generation += 1;
    this.#slot.clear();
  }

  get slotEntries(): number {
    return this.#slot.size;
  }

  #keep(key: string, value: T, keeping: Keeping, generation: number): void {
    const nowMs = this.#dependencies.now();
    if (keeping === "final") this.#final.set(key, value, nowMs + this.#options.finalLifetimeMs);
    if (keeping !== "slot" || generation !== this.#generation || !this.#dependencies.isLive()) return;
    this.#slot.set(key, value, nowMs + this.#options.slotLifetimeMs);
  }
}
