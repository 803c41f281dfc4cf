/** Called with the arguments of each event. */
export type Listener<Arguments extends readonly unknown[]> = (...event: Arguments) => void;

/** Listeners of one event, called in the order in which they were added. One that throws does not stop the others. */
export class Emitter<Arguments extends readonly unknown[]> {
  readonly #onError: (error: unknown) => void;
  readonly #listeners = new Set<Listener<Arguments>>();

  /** `onError` receives what a listener throws. */
  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  get size(): number {
    return this.#listeners.size;
  }

  /** Calls the listener at each event until the result is disposed. A listener that is added twice is called twice. */
  add(listener: Listener<Arguments>): Disposable {
    const entry: Listener<Arguments> = (...event) => listener(...event);
    this.#listeners.add(entry);
    return { [Symbol.dispose]: () => void this.#listeners.delete(entry) };
  }

  emit(...event: Arguments): void {
    for (const listener of this.#listeners) {
      try {
        listener(...event);
      } catch (error) {
        this.#onError(error);
      }
    }
  }
}

/**
 * Listeners by key, such as a searcher's id: each is called for the events of its key. A key without listeners takes no
 * memory.
 */
export class KeyedEmitter<Key, Arguments extends readonly unknown[]> {
  readonly #onError: (error: unknown) => void;
  readonly #emitters = new Map<Key, Emitter<Arguments>>();

  /** `onError` receives what a listener throws. */
  constructor(onError: (error: unknown) => void) {
    this.#onError = onError;
  }

  /** Calls the listener at each event of the key until the result is disposed. */
  add(key: Key, listener: Listener<Arguments>): Disposable {
    const emitter = this.#emitters.get(key) ?? new Emitter<Arguments>(this.#onError);
    this.#emitters.set(key, emitter);
    const entry = emitter.add(listener);
    return {
      [Symbol.dispose]: () => {
        entry[Symbol.dispose]();
        if (emitter.size === 0 && this.#emitters.get(key) === emitter) this.#emitters.delete(key);
      },
    };
  }

  emit(key: Key, ...event: Arguments): void {
    this.#emitters.get(key)?.emit(...event);
  }

  clear(): void {
    this.#emitters.clear();
  }
}
