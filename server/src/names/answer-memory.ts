import type { NameOutcome } from "./name.ts";

/** Found names are kept for 10 s, absent ones for 2 s, failures never (decisions: resolver). */
const keptMs = { resolved: 10_000, absent: 2_000 } as const;

interface Kept {
  readonly outcome: NameOutcome;
  readonly until: number;
}

/**
 * Answers by canonical name. Two shelves, so that a flood of names without an owner cannot evict names that some account
 * asks for; each forgets its oldest entries when it is full.
 */
export class AnswerMemory {
  readonly #entriesMax: number;
  readonly #now: () => number;
  readonly #found = new Map<string, Kept>();
  readonly #absent = new Map<string, Kept>();

  constructor(options: { readonly entriesMax: number }, dependencies: { readonly now: () => number }) {
    this.#entriesMax = options.entriesMax;
    this.#now = dependencies.now;
  }

  get(key: string): NameOutcome | undefined {
    return this.#fresh(this.#found, key) ?? this.#fresh(this.#absent, key);
  }

  /** Keeps an answer as of `readAt`, the time before the node was asked, so that no answer is older than promised. */
  keep(key: string, outcome: NameOutcome, readAt: number): void {
    this.#found.delete(key);
    this.#absent.delete(key);
    if (outcome.kind !== "resolved" && outcome.kind !== "absent") return;
    const shelf = outcome.kind === "resolved" ? this.#found : this.#absent;
    shelf.set(key, { outcome, until: readAt + keptMs[outcome.kind] });
    for (const oldest of shelf.keys()) {
      if (shelf.size <= this.#entriesMax) break;
      shelf.delete(oldest);
    }
  }

  get size(): number {
    return this.#found.size + this.#absent.size;
  }

  #fresh(shelf: Map<string, Kept>, key: string): NameOutcome | undefined {
    const kept = shelf.get(key);
    if (kept === undefined) return undefined;
    if (kept.until > this.#now()) return kept.outcome;
    shelf.delete(key);
    return undefined;
  }
}
