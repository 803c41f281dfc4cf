import { BoundedMap, invariant } from "@sluice/lib";

interface Entry<V> {
  readonly value: V;
  readonly weight: number;
}

/** A map that evicts the least recently used entries when it has too many, or when they weigh too much together. */
export class LruMap<V> {
  readonly #entries: BoundedMap<string, Entry<V>>;
  readonly #weightMax: number;
  #weight = 0;

  constructor(bounds: { entriesMax: number; weightMax?: number }) {
    this.#weightMax = bounds.weightMax ?? Number.MAX_SAFE_INTEGER;
    this.#entries = new BoundedMap<string, Entry<V>>({
      max: bounds.entriesMax,
      evicts: "least-recently-used",
      onEvict: (_key, { weight }) => this.#removed(weight),
    });
  }

  get size(): number {
    return this.#entries.size;
  }

  get weight(): number {
    return this.#weight;
  }

  /** Makes the entry the newest. */
  get(key: string): V | undefined {
    return this.#entries.get(key)?.value;
  }

  /** An entry that alone weighs more than the bound is not stored, and the one that it was to replace is removed. */
  set(key: string, value: V, weight = 0): void {
    this.delete(key);
    if (weight > this.#weightMax) return;
    this.#entries.set(key, { value, weight });
    this.#weight += weight;
    while (this.#weight > this.#weightMax) this.#entries.evict();
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#removed(entry.weight);
  }

  #removed(weight: number): void {
    this.#weight -= weight;
    invariant(this.#weight >= 0, "the weight of a map is that of its entries");
  }
}
