import { backoffDelayMs, type Random } from "@sluice/lib";
import type { EngineChain } from "../model/ports.ts";
import type { Tracker } from "./tracker.ts";

/** A step that failed is tried again after about so long, twice as long each time. */
const retry = { baseMs: 100, maxMs: 5_000 } as const;
/** A step is made so often even without a notice, since bundles also end by time. */
const quietMs = 1_000;

export interface TrackerPaceEvents {
  /** A step failed; it is tried again. `failures` in a row, this one included. */
  stepFailed(error: unknown, failures: number): void;
}

/** Makes the tracker's steps, one at a time: at each notice of a slot, and again soon when one failed. */
export class TrackerPace implements AsyncDisposable {
  readonly #tracker: Tracker;
  readonly #random: Random;
  readonly #events: TrackerPaceEvents;
  readonly #following: Disposable;
  #timer: ReturnType<typeof setTimeout> | null = null;
  #stepping: Promise<void> | null = null;
  /** Something was noticed while a step was under way, or steps hold back after a failure. */
  #isNoticed = false;
  #failures = 0;
  #isClosed = false;

  constructor(
    tracker: Tracker,
    dependencies: { readonly chain: EngineChain; readonly random: Random; readonly events: TrackerPaceEvents },
  ) {
    this.#tracker = tracker;
    this.#random = dependencies.random;
    this.#events = dependencies.events;
    this.#following = dependencies.chain.onSlot((commitment) => {
      if (commitment !== "processed") this.#notice();
    });
    this.#notice();
  }

  #notice(): void {
    if (this.#stepping !== null || this.#failures > 0) this.#isNoticed = true;
    else this.#step();
  }

  #step(): void {
    if (this.#isClosed) return;
    if (this.#timer !== null) clearTimeout(this.#timer);
    this.#timer = null;
    this.#isNoticed = false;
    this.#stepping = this.#tracker.step().then(
      (isMore) => {
        this.#failures = 0;
        this.#next(isMore || this.#isNoticed ? 0 : quietMs);
      },
      (error: unknown) => {
        this.#failures += 1;
        this.#events.stepFailed(error, this.#failures);
        this.#next(backoffDelayMs(this.#failures - 1, retry, this.#random));
      },
    );
  }

  #next(delayMs: number): void {
    this.#stepping = null;
    if (!this.#isClosed) this.#timer = setTimeout(() => this.#step(), delayMs);
  }

  /** Waits for the step that is under way; none is begun any more. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#following[Symbol.dispose]();
    if (this.#timer !== null) clearTimeout(this.#timer);
    await this.#stepping;
  }
}
