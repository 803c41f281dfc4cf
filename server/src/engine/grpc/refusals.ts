import type { Clock } from "@sluice/lib";

/** Refusals that a searcher is reported at once, and how many a second after those. */
const atOnce = 20;
const perSecond = 100;
/** A refusal waits no longer than this: the bucket has a token again by then. */
const heldMsMax = 1_000;
/** Refusals of everybody that wait at a time; one more is reported at once. */
const heldMax = 8_192;
/** Searchers that are remembered; those whose refusals are furthest back go first. */
const searchersMax = 4_096;

export interface RefusalsDependencies {
  readonly clock: Pick<Clock, "monotonic" | "after">;
  /** For tests; by default on the clock. */
  readonly sleep?: (ms: number) => Promise<void>;
}

/**
 * Paces what is refused because a searcher's bucket is empty. A refusal costs as much framing as an answer, so a flood
 * that is refused as fast as it comes is served, after all: at 2,000 calls a second it took a third of a core from
 * everybody. Sent at this pace, a flood fills its own connection's streams (256 at a time) or its stream's window, and
 * waits there, with its sender. A searcher that exceeds its rate now and then receives its refusal at once.
 */
export class Refusals {
  readonly #clock: RefusalsDependencies["clock"];
  readonly #sleep: (ms: number) => Promise<void>;
  /** When the last of each searcher's refusals is due, in the order of their refusals. */
  readonly #due = new Map<string, number>();
  #held = 0;

  constructor({ clock, sleep }: RefusalsDependencies) {
    this.#clock = clock;
    this.#sleep = sleep ?? ((ms) => new Promise((resolve) => void clock.after(ms, resolve)));
  }

  /** Resolves when one more refusal of this searcher may be reported: null where that is at once. */
  pace(searcherId: string): Promise<void> | null {
    const waitMs = this.#waitMs(searcherId);
    if (waitMs <= 0 || this.#held >= heldMax) return null;
    this.#held += 1;
    return this.#sleep(Math.min(waitMs, heldMsMax)).finally(() => {
      this.#held -= 1;
    });
  }

  #waitMs(searcherId: string): number {
    const nowMs = this.#clock.monotonic();
    const stepMs = 1_000 / perSecond;
    const before = this.#due.get(searcherId) ?? Number.NEGATIVE_INFINITY;
    const due = Math.min(Math.max(before, nowMs - atOnce * stepMs) + stepMs, nowMs + heldMsMax);
    this.#due.delete(searcherId);
    this.#due.set(searcherId, due);
    const [oldest] = this.#due.keys();
    if (this.#due.size > searchersMax && oldest !== undefined) this.#due.delete(oldest);
    return due - nowMs;
  }
}
