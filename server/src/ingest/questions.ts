import { BoundedMap, backoffDelayMs, type Clock, type Random } from "@sluice/lib";
import type { Slot } from "@sluice/wire/identifiers";
import type { BlockSource, FetchedBlock, FetchedDigest } from "./source.ts";

export type QuestionKind = "block" | "digest" | "final" | "slots";

/** One question to one node about a slot, or about the range that begins there. */
export interface Question {
  readonly kind: QuestionKind;
  readonly slot: Slot;
  readonly source: BlockSource;
}

export interface QuestionsDependencies {
  readonly clock: Pick<Clock, "monotonic">;
  readonly random: Random;
  readonly onAnswer: (question: Question, outcome: "present" | "absent" | "unavailable") => void;
}

/** Questions under way at a time, in all and to one node. */
const inFlightMax = 32;
const perNodeMax = 12;
/** Questions that were answered with nothing and are not repeated at once. */
const restsMax = 8_192;
const backoff = { baseMs: 300, maxMs: 5_000 } as const;

const keyOf = ({ kind, slot, source }: Question): string => `${kind} ${slot} ${source.node}`;

/** Asks nodes, each the same thing once at a time and later each time that it did not help. */
export class Questions implements Disposable {
  readonly #dependencies: QuestionsDependencies;
  readonly #inFlight = new Map<string, string>();
  readonly #rests = new BoundedMap<string, { readonly attempts: number; readonly untilMs: number }>({ max: restsMax });
  readonly #ended = new AbortController();

  constructor(dependencies: QuestionsDependencies) {
    this.#dependencies = dependencies;
  }

  get count(): number {
    return this.#inFlight.size;
  }

  get signal(): AbortSignal {
    return this.#ended.signal;
  }

  isAsked(question: Question): boolean {
    return this.#inFlight.has(keyOf(question));
  }

  /** Whether the question may be asked now. */
  isFree(question: Question): boolean {
    const key = keyOf(question);
    if (this.#inFlight.size >= inFlightMax || this.#inFlight.has(key)) return false;
    const rest = this.#rests.get(key);
    if (rest !== undefined && rest.untilMs > this.#dependencies.clock.monotonic()) return false;
    let ofNode = 0;
    for (const node of this.#inFlight.values()) if (node === question.source.node) ofNode += 1;
    return ofNode < perNodeMax;
  }

  /** The answer; null when ingest has ended meanwhile. What does not help is asked again later. */
  async ask<T extends FetchedBlock | FetchedDigest>(question: Question, fetch: Promise<T>): Promise<T | null> {
    const key = keyOf(question);
    this.#inFlight.set(key, question.source.node);
    const answer = await fetch.finally(() => this.#inFlight.delete(key));
    if (this.#ended.signal.aborted) return null;
    this.#dependencies.onAnswer(question, answer.kind);
    this.#rest(key, answer.kind === "present");
    return answer;
  }

  async list(question: Question, fetch: Promise<readonly Slot[] | null>): Promise<readonly Slot[] | null> {
    const key = keyOf(question);
    this.#inFlight.set(key, question.source.node);
    const slots = await fetch.finally(() => this.#inFlight.delete(key));
    if (this.#ended.signal.aborted) return null;
    this.#dependencies.onAnswer(question, slots === null ? "unavailable" : "present");
    this.#rest(key, false);
    return slots;
  }

  #rest(key: string, hasHelped: boolean): void {
    const { clock, random } = this.#dependencies;
    const attempts = hasHelped ? 0 : (this.#rests.get(key)?.attempts ?? 0) + 1;
    // What helped may be asked again, since the chain may have changed; only not at once.
    const delayMs = hasHelped ? backoff.maxMs : backoffDelayMs(attempts - 1, backoff, random);
    this.#rests.set(key, { attempts, untilMs: clock.monotonic() + delayMs });
  }

  [Symbol.dispose](): void {
    this.#ended.abort();
  }
}
