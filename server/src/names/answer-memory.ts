import { BoundedMap } from "@sluice/lib";
import type { NameOutcome } from "./name.ts";

/** Found names are kept for 10 s, absent ones for 2 s, failures never (decisions: resolver). */
const keptMs = { resolved: 10_000, absent: 2_000 } as const;

interface Kept {
  readonly outcome: NameOutcome;
  readonly until: number;
}

/**
 * Answers by canonical name. Found and absent names are stored apart, so that a flood of absent names does not evict
 * found ones; each part evicts its oldest entries when it is full.
 */
export class AnswerMemory {
  readonly #now: () => number;
  readonly #found: BoundedMap<string, Kept>;
  readonly #absent: BoundedMap<string, Kept>;

  constructor(options: { readonly entriesMax: number }, dependencies: { readonly now: () => number }) {
    this.#found = new BoundedMap({ max: options.entriesMax });
    this.#absent = new BoundedMap({ max: options.entriesMax });
    this.#now = dependencies.now;
  }

  get(key: string): NameOutcome | undefined {
    return this.#fresh(this.#found, key) ?? this.#fresh(this.#absent, key);
  }

  /** Stores an answer as of `readAt`, the time before the node was asked, so that no answer is older than promised. */
  keep(key: string, outcome: NameOutcome, readAt: number): void {
    this.#found.delete(key);
    this.#absent.delete(key);
    if (outcome.kind !== "resolved" && outcome.kind !== "absent") return;
    const answers = outcome.kind === "resolved" ? this.#found : this.#absent;
    answers.set(key, { outcome, until: readAt + keptMs[outcome.kind] });
  }

  get size(): number {
    return this.#found.size + this.#absent.size;
  }

  #fresh(answers: BoundedMap<string, Kept>, key: string): NameOutcome | undefined {
    const kept = answers.get(key);
    if (kept === undefined) return undefined;
    if (kept.until > this.#now()) return kept.outcome;
    answers.delete(key);
    return undefined;
  }
}
