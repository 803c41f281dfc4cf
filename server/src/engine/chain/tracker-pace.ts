import { backoffDelayMs, type Random, type Timer, type Timers } from "@sluice/lib";
import type { EngineChain } from "../model/chain-port.ts";
import type { FlowReader } from "./flow-reader.ts";
import type { Tracker } from "./tracker.ts";

/** A step that failed is tried again after about so long, twice as long each time. */
const retry = { baseMs: 100, maxMs: 5_000 } as const;
/** A step is made so often even without a notice, since bundles also end by time. */
const quietMs = 1_000;

export interface TrackerPaceDependencies {
  readonly chain: Pick<EngineChain, "onSlot">;
  readonly flow: Pick<FlowReader, "onTold"> | null;
  readonly clock: Timers;
  readonly random: Random;
  readonly events: TrackerPaceEvents;
}

export interface TrackerPaceEvents {
  /** A step failed; it is tried again. `failures` in a row, this one included. */
  stepFailed(error: unknown, failures: number): void;
}

/** Runs the tracker's steps, one at a time: at each notice of a slot or told block, and again soon after one failed. */
export class TrackerPace implements AsyncDisposable {
  readonly #tracker: Tracker;
  readonly #dependencies: TrackerPaceDependencies;
  readonly #following: Disposable;
  #timer: Timer | null = null;
  #stepping: Promise<void> | null = null;
  /** A notice came while a step was under way, or while steps wait after a failure. */
  #isNoticed = false;
  #failures = 0;
  #isClosed = false;

  constructor(tracker: Tracker, dependencies: TrackerPaceDependencies) {
    this.#tracker = tracker;
    this.#dependencies = dependencies;
    this.#following = dependencies.chain.onSlot((commitment) => {
      if (commitment !== "processed") this.#notice();
    });
    dependencies.flow?.onTold(() => this.#notice());
    this.#notice();
  }

  #notice(): void {
    if (this.#stepping !== null || this.#failures > 0) this.#isNoticed = true;
    else this.#step();
  }

  #step(): void {
    if (this.#isClosed) return;
    this.#timer?.cancel();
    this.#timer = null;
    this.#isNoticed = false;
    this.#stepping = this.#tracker.step().then(
      (isMore) => {
        this.#failures = 0;
        this.#next(isMore || this.#isNoticed ? 0 : quietMs);
      },
      (error: unknown) => {
        const { events, random } = this.#dependencies;
        this.#failures += 1;
        events.stepFailed(error, this.#failures);
        this.#next(backoffDelayMs(this.#failures - 1, retry, random));
      },
    );
  }

  #next(delayMs: number): void {
    this.#stepping = null;
    if (this.#isClosed) return;
    this.#timer = this.#dependencies.clock.after(delayMs, () => this.#step(), { keepsAlive: true });
  }

  /** Awaits the step under way; no other begins. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#following[Symbol.dispose]();
    this.#timer?.cancel();
    await this.#stepping;
  }
}
