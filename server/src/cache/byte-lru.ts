/** What the cache keeps: anything that knows its own size. */
export interface Sized {
  readonly sizeBytes: number;
}

interface Entry<T> {
  readonly value: T;
  readonly expiresAtMs: number;
  readonly bytes: number;
}

/** An entry's key, map slot and object beside the answer itself; measured at about this on Bun 1.4. */
const entryOverheadBytes = 256;

/**
 * Values by key within a bound in bytes: the least recently used go first. A value larger than an eighth of the bound is
 * not kept, since it would drive out everything else. Expiry is looked at when an entry is asked for.
 */
export class ByteLru<T extends Sized> {
  readonly #bytesMax: number;
  #entries = new Map<string, Entry<T>>();
  #bytes = 0;

  constructor(options: { bytesMax: number }) {
    this.#bytesMax = options.bytesMax;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(key: string, nowMs: number): T | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    if (entry.expiresAtMs <= nowMs) {
      this.#remove(key, entry);
      return undefined;
    }
    return entry.value;
  }

  /** Moves an entry to the young end; apart from `get` because it costs as much again and few reads need it. */
  touch(key: string): void {
    const entry = this.#entries.get(key);
    if (entry === undefined) return;
    this.#entries.delete(key);
    this.#entries.set(key, entry);
  }

  set(key: string, value: T, expiresAtMs: number): void {
    const bytes = value.sizeBytes + key.length * 2 + entryOverheadBytes;
    const present = this.#entries.get(key);
    if (present !== undefined) this.#remove(key, present);
    if (bytes > this.#bytesMax / 8) return;
    this.#entries.set(key, { value, expiresAtMs, bytes });
    this.#bytes += bytes;
    for (const [oldest, entry] of this.#entries) {
      if (this.#bytes <= this.#bytesMax) break;
      this.#remove(oldest, entry);
    }
  }

  clear(): void {
    this.#entries = new Map();
    this.#bytes = 0;
  }

  #remove(key: string, entry: Entry<T>): void {
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
  }
}
