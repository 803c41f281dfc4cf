import type { Clock, Timer } from "@sluice/lib";

export interface OverloadOptions {
  /** Requests that wait for their answer at a time. */
  readonly inFlightMax: number;
  /** How long one turn of the event loop may have lasted when a request is begun. */
  readonly turnMsMax: number;
}

/**
 * Room for the goal of 10,000 calls alike in flight; each holds its body, 256 KiB at most, so that this bounds memory
 * before anything else. A request that is begun after a turn of five seconds has waited as long already; 2,000 new
 * connections at once make one of more than a second on a busy machine, which is no reason to refuse a request.
 */
export const overloadDefaults: OverloadOptions = { inFlightMax: 16_384, turnMsMax: 5_000 };

/** How often the beginning of a turn is noted; at most one note is made in each. */
const noteMs = 50;

/**
 * Whether the gateway can begin another request. Up to its bounds callers wait: they hold their connection, and the
 * kernel holds back the rest, which costs nothing, while a refusal costs a third of an answer. Measured with ten times
 * the peak offered over 2,000 connections (bench/overload): good answers at 98 to 107% of the peak without one refusal.
 * Beyond the bounds callers give up before they are answered, and all work is in vain; refused early, they come back
 * later.
 */
export class Overload implements Disposable {
  readonly #options: OverloadOptions;
  readonly #clock: Pick<Clock, "monotonic" | "every">;
  readonly #inFlight: () => number;
  readonly #timer: Timer;
  #turnedAtMs: number;

  constructor(
    options: OverloadOptions,
    dependencies: { readonly clock: Pick<Clock, "monotonic" | "every">; readonly inFlight: () => number },
  ) {
    this.#options = options;
    this.#clock = dependencies.clock;
    this.#inFlight = dependencies.inFlight;
    this.#turnedAtMs = this.#clock.monotonic();
    this.#timer = this.#clock.every(noteMs, () => this.turned());
  }

  /** A turn of the event loop began; its timer runs once in each. */
  turned(): void {
    this.#turnedAtMs = this.#clock.monotonic();
  }

  admits(nowMs: number): boolean {
    return nowMs - this.#turnedAtMs <= this.#options.turnMsMax && this.#inFlight() <= this.#options.inFlightMax;
  }

  [Symbol.dispose](): void {
    this.#timer.cancel();
  }
}
