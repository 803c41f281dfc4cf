/**
 * What was computed for a key, up to a bound; the oldest go first. For values that never change, such as addresses that
 * follow from a name: popular names are asked for again every 10 s, and deriving one costs as much as the call for it.
 */
export class Remembered<V> {
  readonly #max: number;
  readonly #values = new Map<string, V>();

  constructor(options: { readonly max: number }) {
    this.#max = options.max;
  }

  get(key: string, make: () => V): V {
    const known = this.#values.get(key);
    if (known !== undefined) return known;
    const made = make();
    this.#values.set(key, made);
    for (const oldest of this.#values.keys()) {
      if (this.#values.size <= this.#max) break;
      this.#values.delete(oldest);
    }
    return made;
  }

  get size(): number {
    return this.#values.size;
  }
}
