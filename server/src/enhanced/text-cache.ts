import { BoundedMap, type Clock } from "@sluice/lib";

export interface TextCacheOptions {
  readonly lifetimeMs: number;
  /** Characters of all texts, of which a byte or two each is memory. */
  readonly charactersMax: number;
  readonly entriesMax: number;
}

interface Kept {
  readonly text: string;
  /** Monotonic. */
  readonly untilMs: number;
}

/** Texts that were answered with, for a stated time and within a bound; the least recently used goes first. */
export class TextCache {
  readonly #options: TextCacheOptions;
  readonly #clock: Pick<Clock, "monotonic">;
  readonly #entries: BoundedMap<string, Kept>;
  #characters = 0;

  constructor(options: TextCacheOptions, { clock }: { readonly clock: Pick<Clock, "monotonic"> }) {
    this.#options = options;
    this.#clock = clock;
    this.#entries = new BoundedMap({
      max: options.entriesMax,
      evicts: "least-recently-used",
      onEvict: (_key, { text }) => {
        this.#characters -= text.length;
      },
    });
  }

  get characters(): number {
    return this.#characters;
  }

  get(key: string): string | null {
    const kept = this.#entries.get(key);
    if (kept === undefined) return null;
    if (this.#clock.monotonic() < kept.untilMs) return kept.text;
    this.#drop(key, kept);
    return null;
  }

  /** Keeps a text, unless it is larger than an eighth of the bound: it would push out many others. */
  keep(key: string, text: string): void {
    const { charactersMax, lifetimeMs } = this.#options;
    if (text.length > charactersMax / 8) return;
    const before = this.#entries.get(key);
    if (before !== undefined) this.#drop(key, before);
    while (this.#entries.size > 0 && this.#characters + text.length > charactersMax) this.#entries.evict();
    this.#entries.set(key, { text, untilMs: this.#clock.monotonic() + lifetimeMs });
    this.#characters += text.length;
  }

  #drop(key: string, { text }: Kept): void {
    this.#entries.delete(key);
    this.#characters -= text.length;
  }
}
