import { type Clock, within } from "@sluice/lib";
import type { CacheEvents } from "./events.ts";

/** The part of hot that is used. */
interface SharedAnswersStore {
  get(key: string): Promise<Uint8Array | null>;
  set(key: string, bytes: Uint8Array, ttlMs: number): Promise<void>;
}

export interface SharedAnswersOptions {
  /** What this process may have in the shared store at a time, by its own writes; 256 MiB when absent. */
  readonly bytesMax?: number;
  /** How long an answer stays there; 5 minutes when absent, as in memory. */
  readonly lifetimeMs?: number;
  /** How long a call waits for a look-up; 4 ms when absent. */
  readonly waitMs?: number;
}

export interface SharedAnswersDependencies {
  readonly clock: Pick<Clock, "monotonic" | "after">;
  readonly store: SharedAnswersStore;
  readonly events: Pick<CacheEvents, "sharedAnswer">;
}

const defaults = { bytesMax: 256 * 1024 * 1024, lifetimeMs: 300_000, waitMs: 4 };
/** A larger answer costs more to move than to request, and delays the others on the connection. */
const valueBytesMax = 1024 * 1024;
const writesMax = 64;
/** Look-ups in a row that failed or were late before no call waits any more; then one attempt after each pause. */
const failuresMax = 3;
const pauseMs = { first: 1_000, longest: 30_000 };

/**
 * History that another process has requested before. A look-up takes a few milliseconds at most; after three look-ups
 * that failed or were late no call waits for the store, which is then tried from time to time beside the calls. Writes
 * are not awaited, and their bytes within one lifetime are bounded.
 */
export class SharedAnswers {
  readonly #options: Required<SharedAnswersOptions>;
  readonly #dependencies: SharedAnswersDependencies;
  #failures = 0;
  #pauseMs = pauseMs.first;
  /** When the store is tried again; null while calls wait for it. */
  #pausedUntilMs: number | null = null;
  #isTrying = false;
  #writes = 0;
  #bytesLeft: number;
  #bytesAtMs: number;

  constructor(options: SharedAnswersOptions, dependencies: SharedAnswersDependencies) {
    this.#options = { ...defaults, ...options };
    this.#dependencies = dependencies;
    this.#bytesLeft = this.#options.bytesMax;
    this.#bytesAtMs = dependencies.clock.monotonic();
  }

  /** The bytes kept under `key`, or null. Never rejects. */
  async find(key: string): Promise<Uint8Array | null> {
    const { clock, events } = this.#dependencies;
    if (this.#pausedUntilMs !== null) {
      events.sharedAnswer("paused");
      if (clock.monotonic() >= this.#pausedUntilMs && !this.#isTrying) void this.#try(key);
      return null;
    }
    const found = await this.#ask(key);
    if (found === "late" || found === "failed") {
      this.#failures += 1;
      // Of look-ups at one time, those after the one that began the pause do not make it longer.
      if (this.#failures === failuresMax) this.#pause();
      events.sharedAnswer(found);
      return null;
    }
    this.#resume();
    events.sharedAnswer(found === null ? "miss" : "hit");
    return found;
  }

  keep(key: string, bytes: Uint8Array): void {
    const { store, events } = this.#dependencies;
    if (bytes.byteLength > valueBytesMax || this.#pausedUntilMs !== null) return;
    if (this.#writes >= writesMax || !this.#spend(bytes.byteLength)) {
      events.sharedAnswer("over-budget");
      return;
    }
    this.#writes += 1;
    store.set(key, bytes, this.#options.lifetimeMs).then(
      () => {
        this.#writes -= 1;
        events.sharedAnswer("kept");
      },
      () => {
        this.#writes -= 1;
      },
    );
  }

  async #try(key: string): Promise<void> {
    this.#isTrying = true;
    const found = await this.#ask(key);
    this.#isTrying = false;
    if (found === "late" || found === "failed") this.#pause();
    else this.#resume();
  }

  #pause(): void {
    this.#pausedUntilMs = this.#dependencies.clock.monotonic() + this.#pauseMs;
    this.#pauseMs = Math.min(this.#pauseMs * 2, pauseMs.longest);
  }

  #resume(): void {
    this.#failures = 0;
    this.#pausedUntilMs = null;
    this.#pauseMs = pauseMs.first;
  }

  async #ask(key: string): Promise<Uint8Array | null | "late" | "failed"> {
    const { clock, store } = this.#dependencies;
    try {
      const timed = await within(clock, this.#options.waitMs, store.get(key));
      return timed.ok ? timed.value : "late";
    } catch {
      return "failed";
    }
  }

  /** The budget refills evenly over a lifetime, as earlier writes expire. */
  #spend(bytes: number): boolean {
    const { bytesMax, lifetimeMs } = this.#options;
    const nowMs = this.#dependencies.clock.monotonic();
    const back = ((nowMs - this.#bytesAtMs) * bytesMax) / lifetimeMs;
    this.#bytesLeft = Math.min(bytesMax, this.#bytesLeft + back);
    this.#bytesAtMs = nowMs;
    if (this.#bytesLeft < bytes) return false;
    this.#bytesLeft -= bytes;
    return true;
  }
}
