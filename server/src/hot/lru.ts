/**
 * A map that forgets what was used longest ago when it holds too many entries or too much weight. A Map keeps the order
 * of insertion, so taking an entry out and putting it back makes it the newest.
 */
export class LruMap<V> {
  readonly #entries = new Map<string, { value: V; weight: number }>();
  readonly #bounds: { readonly entriesMax: number; readonly weightMax: number };
  #weight = 0;

  constructor(bounds: { entriesMax: number; weightMax?: number }) {
    this.#bounds = { entriesMax: bounds.entriesMax, weightMax: bounds.weightMax ?? Number.MAX_SAFE_INTEGER };
  }

  get size(): number {
    return this.#entries.size;
  }

  get weight(): number {
    return this.#weight;
  }

  /** Makes the entry the newest. */
  get(key: string): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
    return entry.value;
  }

  /** An entry that alone is heavier than everything may be is not kept, and neither is the one it was to replace. */
  set(key: string, value: V, weight = 0): void {
    this.delete(key);
    if (weight > this.#bounds.weightMax) return;
    this.#entries.set(key, { value, weight });
    this.#weight += weight;
    for (const oldest of this.#entries.keys()) {
      if (this.#entries.size <= this.#bounds.entriesMax && this.#weight <= this.#bounds.weightMax) return;
      this.delete(oldest);
    }
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#weight -= entry.weight;
    this.#entries.delete(key);
  }
}
