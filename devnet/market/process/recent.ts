/** A map of at most `max` entries that forgets what was not asked for longest. */
export class Recent<Value> {
  readonly #max: number;
  readonly #entries = new Map<number, Value>();

  constructor(max: number) {
    this.#max = max;
  }

  get(key: number, make: () => Value): Value {
    const known = this.#entries.get(key);
    if (known !== undefined) {
      this.#entries.delete(key);
      this.#entries.set(key, known);
      return known;
    }
    const made = make();
    this.#entries.set(key, made);
    if (this.#entries.size > this.#max) {
      const [oldest] = this.#entries.keys();
      if (oldest !== undefined) this.#entries.delete(oldest);
    }
    return made;
  }

  get size(): number {
    return this.#entries.size;
  }
}
